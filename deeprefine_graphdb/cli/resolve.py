"""``resolve``: a person's word on a conflict."""

from __future__ import annotations

from typing import TYPE_CHECKING

import click

from deeprefine_graphdb.cli.became import became_lines
from deeprefine_graphdb.cli.common import person, wait_option
from deeprefine_graphdb.cli.options import Options, common_options, pass_options
from deeprefine_graphdb.cli.output import emit, note

if TYPE_CHECKING:
    from deeprefine_graphdb.project.conflicts import Keep


@click.command("resolve")
@click.argument("conflict")
@click.option(
    "--keep",
    type=click.Choice(["ours", "theirs", "drop"]),
    required=True,
    help="ours: carry the action out all the same; theirs: leave it out while the file is as it is; "
    "drop: leave it out for good.",
)
@click.option("--as", "choice", metavar="ID", help="Which entity or edge is meant, where several could be.")
@click.option("--note", "remark", default="", help="Why, for the record.")
@wait_option
@common_options
@pass_options
def command(options: Options, conflict: str, keep: Keep, choice: str | None, remark: str) -> None:
    """Say what is to become of the action in CONFLICT, as `conflicts` lists it.

    What is said holds for as long as what it is about keeps its text in graph.json.
    """
    from deeprefine_graphdb.project.conflicts import resolve_conflict

    report = resolve_conflict(options.base(), conflict, keep, by=person(), choice=choice, note=remark)
    lines = [f"Resolved {report.conflict}: {keep}.", *became_lines(report.became)]
    emit(options, report, "\n".join(lines))
    if report.suspended:
        note(options, f"Still in conflict: {', '.join(report.suspended)}; see `deeprefine-db conflicts`.")
