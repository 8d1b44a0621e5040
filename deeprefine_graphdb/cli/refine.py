"""``refine``: questions through the loop, proposals out of it."""

from __future__ import annotations

from typing import TYPE_CHECKING

import click

from deeprefine_graphdb.cli.common import Question, person, setting_option, wait_option
from deeprefine_graphdb.cli.options import Options, common_options, pass_options
from deeprefine_graphdb.cli.output import Progress, counted, emit, note, width
from deeprefine_graphdb.model.errors import UsageError

if TYPE_CHECKING:
    from collections.abc import Iterator

    from deeprefine_graphdb.project.refine import Refined

OUTCOMES = {
    "early_exit": "can be answered from the graph as it is; nothing to refine.",
    "proposed": "proposal {proposal_id} is saved and waits for a decision.",
    "applied": "proposal {proposal_id} is applied as refinement {refinement_id}.",
    "nothing": "the model proposed no action.",
    "waiting": "proposal {proposal_id} waits for a decision.",
    "failed": "failed.",
}


@click.command("refine")
@click.option(
    "--query",
    type=Question(),
    metavar="TEXT",
    help="The question. Default: all that are pending in the queue.",
)
@click.option(
    "--apply", "apply_", is_flag=True, help="Apply each proposal at once, unless something in it is LOW."
)
@click.option("--export", is_flag=True, help="With --apply: then write graph.json.")
@click.option(
    "--again", is_flag=True, help="Ask again although a proposal waits, or the question is refined."
)
@click.option("--rebuild-index", is_flag=True, help="Build the retrieval index anew first.")
@click.option(
    "--max-calls", type=click.IntRange(min=1), metavar="N", help="Stop after so many requests (exit 6)."
)
@click.option(
    "--max-tokens", type=click.IntRange(min=1), metavar="N", help="Stop after so many tokens (exit 6)."
)
@setting_option(
    "--what-if/--no-what-if",
    setting="what_if",
    default=None,
    help="Judge each question again as its proposal would leave the graph. Default: yes.",
)
@click.option(
    "--require-gain", is_flag=True, help="With --apply: apply only what helps, as its what-if finds."
)
@setting_option("--jobs", setting="jobs", type=click.IntRange(1, 64), metavar="N", help="Questions at once.")
@setting_option("--model", setting="model", metavar="NAME", help="Chat model. Default: gpt-4.1-mini.")
@wait_option
@common_options
@pass_options
def command(
    options: Options,
    query: str | None,
    apply_: bool,
    export: bool,
    again: bool,
    rebuild_index: bool,
    max_calls: int | None,
    max_tokens: int | None,
    require_gain: bool,
) -> None:
    """Ask a model whether questions can be answered from the graph and, where not, what to change.

    Each question ends with a saved proposal and its review; the graph is not changed unless --apply is given. The
    review has a what-if: the proposal is laid over the graph in memory, and the question is judged once more on that. A
    run that was cut short goes on at its first unanswered prompt.
    """
    from deeprefine_graphdb.loop.budget import Budget
    from deeprefine_graphdb.project.export import export as write_graph
    from deeprefine_graphdb.project.refine import RefineJob, chat_model, prepare, refine_one, refine_pending
    from deeprefine_graphdb.project.search import build_index, make_retriever

    if export and not apply_:
        raise UsageError("--export goes with --apply.")

    def say(text: str) -> None:
        note(options, text)

    base, settings = options.base(), options.settings()
    if require_gain and not (apply_ and settings.flag("what_if")):
        raise UsageError("--require-gain goes with --apply and a what-if.", "Add --apply --what-if.")
    embedding = settings.embedding()
    progress = Progress(options)

    def count(done: int, total: int) -> None:
        progress("Embedding", done, total)

    prepare(base, say)
    if rebuild_index:
        build_index(base, embedding, rebuild=True, progress=count)
        progress.done()
    job = RefineJob(
        retriever=make_retriever(base, embedding, count),
        model=chat_model(settings, say),
        budget=Budget(max_calls, max_tokens),
        jobs=int(settings.number("jobs")),
        again=again,
        apply_by=person() if apply_ else None,
        debug=options.debug,
        what_if=settings.flag("what_if"),
        require_gain=require_gain,
    )
    report = refine_one(base, query, job, say) if query is not None else refine_pending(base, job, say)
    emit(options, report, lambda: "\n\n".join("\n".join(_lines(each)) for each in report.questions))
    if apply_ and (export or settings.flag("auto_export")):
        note(options, f"Wrote {write_graph(base).path}.")
    click.get_current_context().exit(report.exit_code)


def _lines(each: Refined) -> Iterator[str]:
    from deeprefine_graphdb.review.render import as_lines

    yield f"{each.question}"
    outcome = OUTCOMES[each.outcome].format(proposal_id=each.proposal_id, refinement_id=each.refinement_id)
    yield f"  {outcome}"
    if each.error:
        yield f"  {each.error}"
    if each.abduction:
        yield f"  Diagnosis: {each.abduction}"
    if each.review is not None:
        yield from (f"  {line}" for line in as_lines(each.review, width() - 2))
    if each.calls:
        tokens = f"{each.tokens_in:,} + {each.tokens_out:,} tokens, {each.seconds:.1f} s"
        yield f"  {counted(each.hops, 'hop')}, {counted(len(each.calls), 'call')}, {tokens}"
    if each.outcome == "proposed":
        yield f"  Next: deeprefine-db apply {each.proposal_id}"
