"""``log``: the refinements."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import click

from deeprefine_graphdb.cli.options import Options, common_options, pass_options
from deeprefine_graphdb.cli.output import emit, note, table

if TYPE_CHECKING:
    from deeprefine_graphdb.provenance.entries import RefinementEntry


@click.command("log")
@click.option("--limit", "-n", type=click.IntRange(min=1), help="Only the latest so many.")
@common_options
@pass_options
def command(options: Options, limit: int | None) -> None:
    """List the refinements, the latest first."""
    entries = sorted(options.base().log().refinements(), key=lambda entry: entry.ts)[::-1][:limit]
    if not entries:
        note(
            options, "No refinement has been applied yet. Ask a question with `deeprefine-db refine --query`."
        )
    headers = ("id", "when", "state", "actions", "by", "question")
    emit(options, entries, lambda: table(headers, map(_shown, entries)))


def _shown(entry: RefinementEntry) -> tuple[Any, ...]:
    return entry.id, entry.ts[:19], entry.state, len(entry.actions), entry.by, entry.question
