"""``reject``: a proposal that is not wanted."""

from __future__ import annotations

import click

from deeprefine_graphdb.cli.common import person, wait_option
from deeprefine_graphdb.cli.options import Options, common_options, pass_options
from deeprefine_graphdb.cli.output import emit


@click.command("reject")
@click.argument("proposal")
@click.option("--reason", default="", metavar="TEXT", help="Why; it is kept in the log.")
@wait_option
@common_options
@pass_options
def command(options: Options, proposal: str, reason: str) -> None:
    """Record that PROPOSAL is not wanted; its question counts as refined then."""
    from deeprefine_graphdb.project.apply import reject_proposal

    base = options.base()
    _, body = base.log().proposal(proposal)
    reject_proposal(base, body, by=person(), note=reason)
    entry, _ = base.log().proposal(body.id)
    emit(options, entry, f"Rejected proposal {entry.id}.")
