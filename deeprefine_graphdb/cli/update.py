"""``update``: graphify on the base, then sync and export."""

from __future__ import annotations

from typing import TYPE_CHECKING

import click

from deeprefine_graphdb.cli.options import Options, common_options, pass_options
from deeprefine_graphdb.cli.output import emit, note
from deeprefine_graphdb.cli.sync import sync_lines

if TYPE_CHECKING:
    from collections.abc import Iterator

    from deeprefine_graphdb.project.update import UpdateReport


@click.command("update", context_settings={"ignore_unknown_options": True, "allow_interspersed_args": False})
@click.argument("arguments", nargs=-1, type=click.UNPROCESSED, metavar="[GRAPHIFY'S ARGUMENTS]...")
@common_options
@pass_options
def command(options: Options, arguments: tuple[str, ...]) -> None:
    """Run `graphify update` on the graph without refinements, and carry these over to what it makes.

    The arguments are graphify's; `cluster-only`, `label`, `add` and `extract` may come first to run that command of
    it. This is the way of updating that loses nothing. When graphify fails, graph.json is as it was.
    """
    from deeprefine_graphdb.project.update import update

    report = update(
        options.base(), arguments, say=lambda text: note(options, text), quiet_stdout=options.as_json
    )
    emit(options, report, lambda: "\n".join(_lines(report)))
    if report.sync.suspended:
        note(options, f"In conflict: {', '.join(report.sync.suspended)}; see `deeprefine-db conflicts`.")


def _lines(report: UpdateReport) -> Iterator[str]:
    yield from sync_lines(report.sync)
    done = {"written": "Wrote", "unchanged": "Nothing to write in"}.get(report.export.outcome, "Checked")
    yield f"{done} {report.export.path}."
