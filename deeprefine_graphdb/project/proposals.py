"""Proposals: made from a finished loop or from files, reviewed, and kept in the log and beside it."""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path
from typing import Literal

from deeprefine_graphdb.grammar.actions import format_actions, parse_answer
from deeprefine_graphdb.graph.plan import plan_refinement
from deeprefine_graphdb.graph.view import GraphView
from deeprefine_graphdb.loop.driver import Say
from deeprefine_graphdb.loop.trace import (
    WHAT_IF,
    CallRecord,
    Constants,
    LoopTrace,
    load_trace,
    read_trace,
    save_trace,
)
from deeprefine_graphdb.loop.validity import trace_faults
from deeprefine_graphdb.loop.what_if import new_what_if
from deeprefine_graphdb.model.actions import Action, Footprint
from deeprefine_graphdb.model.errors import (
    ActionRefused,
    DeepRefineError,
    GrammarError,
    NeedsDecision,
    NothingToDo,
    UsageError,
)
from deeprefine_graphdb.model.graph import Triple
from deeprefine_graphdb.model.write import NewRecord, WritePlan
from deeprefine_graphdb.project.files import write_proposal, write_review
from deeprefine_graphdb.project.gain import last_what_if
from deeprefine_graphdb.project.knowledge_base import KnowledgeBase
from deeprefine_graphdb.project.what_if import Asking, what_if
from deeprefine_graphdb.provenance.compile import record_statements
from deeprefine_graphdb.provenance.log import Log
from deeprefine_graphdb.provenance.records import (
    CallBody,
    ProposalBody,
    ProposedAction,
    ReviewBody,
    ReviewedAction,
    StepBody,
    TraceBody,
    new_id,
    to_record,
)
from deeprefine_graphdb.retrieval.sources import SourceReader
from deeprefine_graphdb.review.models import Review, WhatIf
from deeprefine_graphdb.review.render import as_markdown, as_record
from deeprefine_graphdb.review.reviewer import review_actions
from deeprefine_graphdb.stores.protocol import GraphStore

FAULTS_NAMED = 3
Source = Literal["refine", "file", "agent", "log"]


@dataclass(frozen=True)
class Reviewed:
    """A proposal with its review, and the trace that it comes from."""

    proposal: ProposalBody
    review: Review
    trace: TraceBody | None = None

    def with_what_if(self, found: WhatIf | None) -> Reviewed:
        """Give the same with a what-if as part of the review."""
        return replace(self, review=self.review.model_copy(update={"what_if": found}))


def propose(
    base: KnowledgeBase, trace: LoopTrace, actions: Sequence[Action], found: WhatIf | None = None
) -> Reviewed:
    """Review what a loop proposed, put trace, proposal and review into the log, and write their files.

    ``found`` is the what-if that becomes part of the review.

    The files are written after the log: one that is missing can be written again, a proposal cannot.
    """
    with base.open("write") as store:
        body = trace_body(trace)
        reviewed = _reviewed(base, store, actions, trace=body, source="refine").with_what_if(found)
        records = new_records(base.log(), reviewed)
        store.write(WritePlan(statements=tuple(record_statements(records)), records=records))
    write_reviewed(base, reviewed)
    return reviewed


def record_trace(base: KnowledgeBase, trace: LoopTrace) -> TraceBody:
    """Put a trace that ended without a proposal into the log."""
    body = trace_body(trace)
    _record(base, body)
    return body


def stored(base: KnowledgeBase, proposal_id: str) -> Reviewed:
    """Give a proposal of the log by its id or the beginning of it, reviewed on the graph as it is now.

    Its last what-if is part of the review, as it was found. Raises :class:`UsageError` when there is none.
    """
    log = base.log()
    _, proposal = log.proposal(proposal_id)
    trace = next((each for each in log.traces() if each.id == proposal.trace_id), None)
    with base.open("read") as store:
        review = _review(base, GraphView(store), [each.action for each in proposal.actions], trace)
    return Reviewed(proposal, review, trace).with_what_if(last_what_if(log, proposal.id))


def ask_what_if(base: KnowledgeBase, reviewed: Reviewed, asking: Asking, say: Say) -> Reviewed:
    """Judge the question of a proposal again on the graph as it would be; the result becomes part of the review.

    It is put into the log when the proposal is in it. A run that was killed is gone on with. Raises
    :class:`UsageError` for a proposal without the trace of its question.
    """
    proposal, trace = reviewed.proposal, reviewed.trace
    if trace is None:
        raise UsageError(
            "A what-if needs the question that the proposal is about.", "Give its trace with --trace-file."
        )
    path = base.project.what_if(proposal.id)
    again = load_trace(path) if path.exists() else new_what_if(trace.question, _constants(trace))
    known = base.log().has_proposal(proposal.id)
    save = partial(save_trace, path) if known else _not_saved
    found = what_if(trace, [each.action for each in proposal.actions], asking, again, save, say)
    reviewed = reviewed.with_what_if(found)
    if known:
        calls = (call.model_copy(update={"stage": WHAT_IF}) for call in again.calls)
        body = _review_body(proposal, reviewed.review).model_copy(update={"calls": _calls(calls)})
        _record(base, body)
        path.unlink(missing_ok=True)
    return reviewed


def proposal_of_files(
    base: KnowledgeBase, refinement_file: Path, trace_file: Path | None, *, check: bool = True
) -> Reviewed:
    """Read a proposal from its files; one whose actions the log knows for the same question is that one.

    With ``check`` the trace must be there and valid. Raises :class:`NeedsDecision` when it is not,
    :class:`GrammarError` for an actions file that cannot be read, :class:`DeepRefineError` for a missing file.
    Nothing is recorded.
    """
    text = read_text(refinement_file)
    try:
        actions = parse_answer(text)
    except GrammarError as fault:
        line = text.count("\n", 0, fault.place) + 1
        raise GrammarError(
            f"{refinement_file}, line {line}: {fault.message}", fault.place, fault.hint
        ) from None
    if not actions:
        raise NothingToDo(f"{refinement_file} has no actions.")
    trace = _checked_trace(trace_file, text, check)
    log = base.log()
    with base.open("read") as store:
        fresh = _reviewed(base, store, actions, trace=trace, source="file")
    known = log.proposal_with_digest(fresh.proposal.digest)
    if known is not None and (trace is None or known.query_id == trace.query_id):
        return Reviewed(known, fresh.review, trace)
    return fresh


def new_records(log: Log, reviewed: Reviewed) -> tuple[NewRecord, ...]:
    """Give the records of a proposal, its trace and its review, as far as the log lacks them."""
    records = []
    trace, proposal = reviewed.trace, reviewed.proposal
    if trace is not None and all(each.id != trace.id for each in log.traces()):
        records.append(to_record(trace))
    if all(each.id != proposal.id for each in log.proposals()):
        records.append(to_record(proposal))
        records.append(to_record(_review_body(proposal, reviewed.review)))
    return tuple(records)


def write_reviewed(base: KnowledgeBase, reviewed: Reviewed, actions_too: bool = True) -> Path:
    """Write the files of a question's proposal and its review; give the review's readable one."""
    proposal = reviewed.proposal
    if actions_too:
        write_proposal(base.project, proposal.query_id, proposal.text)
    about = {"proposal_id": proposal.id, "query_id": proposal.query_id, "query": proposal.question}
    readable, _ = write_review(
        base.project,
        proposal.query_id,
        as_markdown(reviewed.review, question=proposal.question),
        as_record(reviewed.review, **about),
    )
    return readable


def trace_body(trace: LoopTrace) -> TraceBody:
    """Give the log's record of a trace. Its id follows from the content, so a trace is recorded once."""
    return TraceBody(
        id="t" + hashlib.sha256(trace.text().encode("utf-8")).hexdigest()[:16],
        query_id=trace.query_id,
        question=trace.query,
        mode=trace.mode,
        driver=trace.driver,
        outcome="early_exit" if trace.early_exit else "refined",
        early_exit=bool(trace.early_exit),
        answerable=trace.interaction_history[-1].answerable if trace.interaction_history else None,
        abduction=trace.error_abduction_reason or "",
        abduction_raw=trace.error_abduction_raw or "",
        refinement_raw=trace.refinement_raw or "",
        steps=tuple(
            StepBody(
                number=step.step,
                hops=step.num_hops,
                method=step.retrieval.method,
                evidence=step.retrieval.evidence,
                triples=tuple(triple.triple() for triple in step.retrieved_subgraph),
                answerable=step.answerable,
                judgement_raw=step.judgement_raw,
                ts=step.ts,
            )
            for step in trace.interaction_history
        ),
        calls=_calls(trace.all_calls()),
        extra={"constants": trace.constants.model_dump(mode="json")},
    )


def read_text(path: Path) -> str:
    """Read a text file of the user's. Raises :class:`DeepRefineError`."""
    try:
        return path.read_text(encoding="utf-8-sig")
    except FileNotFoundError:
        raise DeepRefineError(f"There is no file {path}.") from None
    except (OSError, UnicodeDecodeError) as error:
        raise DeepRefineError(f"{path} cannot be read: {error}.") from None


def _checked_trace(path: Path | None, refinement: str, check: bool) -> TraceBody | None:
    if path is None:
        if check:
            raise UsageError(
                "A refinement file needs the trace that it comes from.",
                "Give it with --trace-file, or apply it all the same with --skip-trace-check.",
            )
        return None
    if check:
        faults = trace_faults(read_trace(path), refinement)
        if faults:
            more = f"; and {len(faults) - FAULTS_NAMED} more" if len(faults) > FAULTS_NAMED else ""
            raise NeedsDecision(
                f"The trace {path} is not valid: {'; '.join(faults[:FAULTS_NAMED])}{more}.",
                "Correct it, or apply the file all the same with --skip-trace-check.",
            )
    return trace_body(load_trace(path))


def _reviewed(
    base: KnowledgeBase,
    store: GraphStore,
    actions: Sequence[Action],
    *,
    trace: TraceBody | None,
    source: Source,
) -> Reviewed:
    view = GraphView(store)
    review = _review(base, view, actions, trace)
    text = format_actions(actions)
    proposal = ProposalBody(
        id=new_id("p"),
        query_id=trace.query_id if trace is not None else "",
        question=trace.question if trace is not None else "",
        trace_id=trace.id if trace is not None else None,
        source=source,
        driver=trace.driver if trace is not None else "",
        text=text,
        digest=hashlib.sha256(text.encode("utf-8", "surrogatepass")).hexdigest(),
        actions=tuple(
            ProposedAction(
                number=each.number,
                action=each.action,
                label=each.label,
                executable=each.executable,
                bound=each.bound,
            )
            for each in review.actions
        ),
        footprint=_footprint(store, view, review),
        revision=store.state().revision,
    )
    return Reviewed(proposal, review, trace)


def _footprint(store: GraphStore, reviewed: GraphView, review: Review) -> Footprint:
    """Give what planning reads: a change of what only the review looked at leaves a proposal as good as it was."""
    planning = GraphView(store)
    try:
        plan_refinement(planning, "footprint", [(each.number, each.action) for each in review.actions], 0)
    except ActionRefused:
        return reviewed.footprint()
    return planning.footprint()


def _review(
    base: KnowledgeBase, view: GraphView, actions: Sequence[Action], trace: TraceBody | None
) -> Review:
    context: tuple[Triple, ...] = trace.steps[-1].triples if trace is not None and trace.steps else ()
    return review_actions(view, actions, SourceReader(base.project.root), context)


def _calls(calls: Iterable[CallRecord]) -> tuple[CallBody, ...]:
    return tuple(CallBody(number=number, **call.model_dump()) for number, call in enumerate(calls, start=1))


def _constants(trace: TraceBody) -> Constants:
    return Constants.model_validate(trace.extra.get("constants") or {})


def _not_saved(trace: LoopTrace) -> None:
    """Keep nothing of a what-if whose proposal is in files only: it has no id that could be found again."""


def _record(base: KnowledgeBase, body: TraceBody | ReviewBody) -> None:
    record = to_record(body)
    with base.open("write") as store:
        store.write(WritePlan(statements=tuple(record_statements([record])), records=(record,)))


def _review_body(proposal: ProposalBody, review: Review) -> ReviewBody:
    return ReviewBody(
        id=new_id("v"),
        proposal_id=proposal.id,
        actions=tuple(
            ReviewedAction(
                number=each.number,
                label=each.label,
                executable=each.executable,
                reasons=tuple(f"{finding.guard}: {finding.text}" for finding in each.warnings),
                evidence=tuple(f"{e.text} [{e.where}]" if e.where else e.text for e in each.evidence),
            )
            for each in review.actions
        ),
        what_if=review.what_if,
    )
