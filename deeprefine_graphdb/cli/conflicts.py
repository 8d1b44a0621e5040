"""``conflicts``: what is suspended, and why."""

from __future__ import annotations

from typing import TYPE_CHECKING

import click

from deeprefine_graphdb.cli.options import Options, common_options, pass_options
from deeprefine_graphdb.cli.output import emit, note

if TYPE_CHECKING:
    from collections.abc import Iterator

    from deeprefine_graphdb.project.conflicts import ConflictEntry


@click.command("conflicts")
@click.option("--all", "everything", is_flag=True, help="Those that are over as well.")
@common_options
@pass_options
def command(options: Options, everything: bool) -> None:
    """List the actions that do not apply to the present graph.json, and the commands that go on.

    The refinement of such an action is suspended, all of it, and tried again at every sync.
    """
    from deeprefine_graphdb.project.conflicts import conflicts

    found = conflicts(options.base(), everything=everything)
    if not found:
        note(options, "There is no conflict.")
    emit(options, found, lambda: "\n\n".join("\n".join(_lines(entry)) for entry in found))


def _lines(entry: ConflictEntry) -> Iterator[str]:
    over = f"  (over: {entry.resolved})" if entry.resolved else ""
    yield f"{entry.id}  {entry.kind}{over}"
    yield f"  action {entry.action}: {entry.what}"
    yield f"  {entry.detail or entry.meaning}"
    yield from (f"    {line}" for line in entry.commands)
