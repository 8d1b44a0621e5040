"""``search``: the edges that a text is about."""

from __future__ import annotations

import click

from deeprefine_graphdb.cli.common import wait_option
from deeprefine_graphdb.cli.options import Options, common_options, pass_options
from deeprefine_graphdb.cli.output import emit, note, table


@click.command("search")
@click.argument("text")
@click.option("--limit", type=click.IntRange(1, 1000), default=10, show_default=True, help="How many edges.")
@wait_option
@common_options
@pass_options
def command(options: Options, text: str, limit: int) -> None:
    """Give the edges most similar to TEXT, as the first step of `refine` finds them."""
    from deeprefine_graphdb.project.search import search

    found = search(options.base(), options.settings().embedding(), text, limit)
    note(options, f"{found.evidence}.")
    rows = ((t.subject, t.relation, t.object) for t in found.triples)
    emit(options, found, lambda: table(("subject", "relation", "object"), rows))
