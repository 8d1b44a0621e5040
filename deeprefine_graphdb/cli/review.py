"""``review``: what the graph and the sources say about proposed actions."""

from __future__ import annotations

from pathlib import Path

import click

from deeprefine_graphdb.cli.common import check_source, wait_option
from deeprefine_graphdb.cli.options import Options, common_options, pass_options
from deeprefine_graphdb.cli.output import emit, note, width


@click.command("review")
@click.argument("proposal", required=False)
@click.option(
    "--refinement-file", type=click.Path(path_type=Path), metavar="FILE", help="Actions to review instead."
)
@click.option(
    "--trace-file", type=click.Path(path_type=Path), metavar="FILE", help="The trace that they come from."
)
@wait_option
@common_options
@pass_options
def command(
    options: Options, proposal: str | None, refinement_file: Path | None, trace_file: Path | None
) -> None:
    """Label each action of PROPOSAL: HIGH, MEDIUM or LOW, with what speaks for it and against it.

    The graph and the sources are read as they are now; nothing is changed. With a trace, the review is also written
    beside it as proposed_refinement_review_<id>.md and .json.
    """
    from deeprefine_graphdb.project.proposals import proposal_of_files, stored, write_reviewed
    from deeprefine_graphdb.review.render import as_lines, as_record

    check_source(proposal, refinement_file, trace_file)
    base = options.base()
    if refinement_file is not None:
        reviewed = proposal_of_files(base, refinement_file, trace_file, check=trace_file is not None)
    else:
        reviewed = stored(base, proposal or "")
    body = reviewed.proposal
    if body.query_id:
        readable = write_reviewed(base, reviewed, refinement_file is None)
        note(options, f"Wrote {base.project.shown(readable)}.")
    record = as_record(reviewed.review, proposal_id=body.id, query_id=body.query_id, query=body.question)
    emit(options, record, lambda: "\n".join(as_lines(reviewed.review, width())))
