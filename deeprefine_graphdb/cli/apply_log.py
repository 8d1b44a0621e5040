"""``apply-log``: the refinements of another log."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING

import click

from deeprefine_graphdb.cli.became import became_lines, noted_lines
from deeprefine_graphdb.cli.common import person, wait_option
from deeprefine_graphdb.cli.options import Options, common_options, pass_options
from deeprefine_graphdb.cli.output import counted, emit, note

if TYPE_CHECKING:
    from deeprefine_graphdb.project.exchange import ApplyLogReport


@click.command("apply-log")
@click.argument("file", type=click.Path(path_type=Path, dir_okay=False))
@click.option("--dry-run", is_flag=True, help="Only say what would happen, refinement by refinement.")
@wait_option
@common_options
@pass_options
def command(options: Options, file: Path, dry_run: bool) -> None:
    """Apply the refinements of FILE, which `export-log` wrote or which is another store's journal.

    They go behind those that are here, with their questions, traces and reviews. What does not apply here is suspended
    and named. Refinements that the log here has already are passed over. What refinements of that log left in the base
    here, as in a file that they were exported to, is taken out of it first.
    """
    from deeprefine_graphdb.project.exchange import apply_log

    report = apply_log(
        options.base(), file, by=person(), say=lambda text: note(options, text), dry_run=dry_run
    )
    emit(options, report, lambda: "\n".join(_lines(report)))
    if report.suspended:
        note(options, f"In conflict: {', '.join(report.suspended)}; see `deeprefine-db conflicts`.")


def _lines(report: ApplyLogReport) -> Iterator[str]:
    would = "Nothing was changed. This would be done: " if report.dry_run else ""
    taken = counted(len(report.refinements), "refinement")
    yield f"{would}Took in {taken}{': ' if report.refinements else ''}{', '.join(report.refinements)}."
    if report.taken_out:
        yield f"Took what that log had left in the base out of it first: {counted(report.taken_out, 'object')}."
    yield from became_lines(report.became)
    yield from noted_lines(report.notes, report.unconfirmed)
