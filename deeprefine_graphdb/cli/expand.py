"""``expand``: the edges around entities."""

from __future__ import annotations

import click

from deeprefine_graphdb.cli.common import wait_option
from deeprefine_graphdb.cli.options import Options, common_options, pass_options
from deeprefine_graphdb.cli.output import emit, note, table


@click.command("expand")
@click.argument("entity", nargs=-1, required=True)
@click.option("--hops", type=click.IntRange(1, 4), default=1, show_default=True, help="How far to go.")
@click.option("--limit", type=click.IntRange(1, 1000), default=20, show_default=True, help="How many edges.")
@click.option("--text", default="", metavar="TEXT", help="What to rank the edges by. Default: the names.")
@wait_option
@common_options
@pass_options
def command(options: Options, entity: tuple[str, ...], hops: int, limit: int, text: str) -> None:
    """Give the edges around each ENTITY in both directions, as a later step of `refine` finds them.

    An ENTITY is an id, a label, or file::label.
    """
    from deeprefine_graphdb.project.search import expand

    embedding = options.settings().embedding()
    found = expand(options.base(), embedding, entity, hops=hops, limit=limit, text=text)
    note(options, f"{found.evidence}.")
    rows = ((t.subject, t.relation, t.object) for t in found.triples)
    emit(options, found, lambda: table(("subject", "relation", "object"), rows))
