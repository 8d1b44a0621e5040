"""``sync``: graph.json into the store."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

import click

from deeprefine_graphdb.cli.became import became_lines, noted_lines
from deeprefine_graphdb.cli.common import wait_option
from deeprefine_graphdb.cli.options import Options, common_options, pass_options
from deeprefine_graphdb.cli.output import counted, emit, note, warn

if TYPE_CHECKING:
    from deeprefine_graphdb.project.sync import SyncReport

_DONE = {
    "loaded": "Loaded",
    "replaced": "Loaded anew",
    "rebased": "Loaded anew",
    "unchanged": "Nothing changed in",
}


@click.command("sync")
@click.option("--dry-run", is_flag=True, help="Only say what would happen, refinement by refinement.")
@wait_option
@common_options
@pass_options
def command(options: Options, dry_run: bool) -> None:
    """Read graph.json into the store, when it has changed since it was last read or written.

    The refinements are carried out again on what the file is without our own export. One that does not apply any more
    is suspended and named, never lost.
    """
    from deeprefine_graphdb.project.digests import DigestAhead

    ahead = DigestAhead(options.project().graph_json)
    from deeprefine_graphdb.project.sync import sync

    report = sync(options.base(), lambda text: note(options, text), dry_run=dry_run, ahead=ahead)
    for warning in report.warnings:
        warn(f"Warning: {warning}")
    emit(options, report, lambda: "\n".join(sync_lines(report)))
    if report.suspended:
        note(options, f"In conflict: {', '.join(report.suspended)}; see `deeprefine-db conflicts`.")


def sync_lines(report: SyncReport) -> Iterator[str]:
    """Tell what a sync did, in lines."""
    if report.dry_run and report.outcome != "unchanged":
        yield "Nothing was changed. This would be done:"
    yield f"{_DONE[report.outcome]} {report.path}: {report.nodes:,} nodes, {report.links:,} links."
    if report.outcome != "rebased":
        return
    whole = report.active - len(report.suspended)
    yield f"{whole:,} of {counted(report.active, 'refinement')} applied on it, {len(report.suspended):,} in conflict."
    yield from became_lines(report.became)
    for conflict in report.settled:
        yield f"Conflict {conflict.id} ({conflict.kind}) is over."
    yield from noted_lines(report.notes, report.unconfirmed)
