"""``review``: what the graph and the sources say about proposed actions."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import click

from deeprefine_graphdb.cli.common import check_source, setting_option, wait_option
from deeprefine_graphdb.cli.options import Options, common_options, pass_options
from deeprefine_graphdb.cli.output import Progress, emit, note, width

if TYPE_CHECKING:
    from deeprefine_graphdb.loop.budget import Budget
    from deeprefine_graphdb.project.proposals import Reviewed


@click.command("review")
@click.argument("proposal", required=False)
@click.option(
    "--refinement-file", type=click.Path(path_type=Path), metavar="FILE", help="Actions to review instead."
)
@click.option(
    "--trace-file", type=click.Path(path_type=Path), metavar="FILE", help="The trace that they come from."
)
@click.option(
    "--what-if", is_flag=True, help="Judge the question again as the proposal would leave the graph."
)
@click.option(
    "--max-calls",
    type=click.IntRange(min=1),
    metavar="N",
    help="With --what-if: stop after so many requests.",
)
@click.option(
    "--max-tokens", type=click.IntRange(min=1), metavar="N", help="With --what-if: stop after so many tokens."
)
@setting_option("--model", setting="model", metavar="NAME", help="Chat model. Default: gpt-4.1-mini.")
@wait_option
@common_options
@pass_options
def command(
    options: Options,
    proposal: str | None,
    refinement_file: Path | None,
    trace_file: Path | None,
    what_if: bool,
    max_calls: int | None,
    max_tokens: int | None,
) -> None:
    """Label each action of PROPOSAL: HIGH, MEDIUM or LOW, with what speaks for it and against it.

    The graph and the sources are read as they are now; nothing is changed. With a trace, the review is also written
    beside it as proposed_refinement_review_<id>.md and .json.

    With --what-if a model judges the question again, on the graph as the proposal would make it: at which hop it can be
    answered then, and what the first hop retrieves. Without it the last one that is known is shown.
    """
    from deeprefine_graphdb.loop.budget import Budget
    from deeprefine_graphdb.project.proposals import proposal_of_files, stored, write_reviewed
    from deeprefine_graphdb.review.render import as_lines, as_record

    check_source(proposal, refinement_file, trace_file)
    base = options.base()
    if refinement_file is not None:
        reviewed = proposal_of_files(base, refinement_file, trace_file, check=trace_file is not None)
    else:
        reviewed = stored(base, proposal or "")
    if what_if:
        reviewed = _asked(options, reviewed, Budget(max_calls, max_tokens))
    body = reviewed.proposal
    if body.query_id:
        readable = write_reviewed(base, reviewed, refinement_file is None)
        note(options, f"Wrote {base.project.shown(readable)}.")
    record = as_record(reviewed.review, proposal_id=body.id, query_id=body.query_id, query=body.question)
    emit(options, record, lambda: "\n".join(as_lines(reviewed.review, width())))


def _asked(options: Options, reviewed: Reviewed, budget: Budget) -> Reviewed:
    from deeprefine_graphdb.project.proposals import ask_what_if
    from deeprefine_graphdb.project.refine import chat_model
    from deeprefine_graphdb.project.search import make_retriever
    from deeprefine_graphdb.project.what_if import Asking

    base, settings = options.base(), options.settings()
    progress = Progress(options)
    retriever = make_retriever(
        base, settings.embedding(), lambda done, total: progress("Embedding", done, total)
    )

    def say(text: str) -> None:
        note(options, text)

    return ask_what_if(base, reviewed, Asking(retriever, chat_model(settings, say), budget), say)
