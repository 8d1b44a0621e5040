"""Applying a proposal: all of its actions in one transaction, or none."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass

from deeprefine_graphdb.grammar.actions import format_action
from deeprefine_graphdb.graph.bind import bind
from deeprefine_graphdb.graph.compile import compile_overlay
from deeprefine_graphdb.graph.perform import perform
from deeprefine_graphdb.graph.plan import RefinementPlan, plan_refinement, sequence
from deeprefine_graphdb.graph.view import GraphView
from deeprefine_graphdb.model.actions import Action, Frozen
from deeprefine_graphdb.model.errors import (
    ActionRefused,
    NeedsDecision,
    NothingToDo,
    RevisionMoved,
    StaleProposal,
    UsageError,
)
from deeprefine_graphdb.model.write import NewRecord, Statement, WritePlan
from deeprefine_graphdb.project import history
from deeprefine_graphdb.project.gain import refuse_without_gain
from deeprefine_graphdb.project.knowledge_base import KnowledgeBase
from deeprefine_graphdb.provenance.compile import record_statements
from deeprefine_graphdb.provenance.entries import RefinementEntry
from deeprefine_graphdb.provenance.log import Log
from deeprefine_graphdb.provenance.order import next_place
from deeprefine_graphdb.provenance.records import (
    EventBody,
    ProposalBody,
    QueryBody,
    RefinementBody,
    RefinementFlags,
    new_id,
    now,
    to_record,
)
from deeprefine_graphdb.stores.protocol import GraphStore

TRIES = 3
NAMED = 5


class ApplyReport(Frozen):
    """What an apply did: the refinement as the log has it, and the revision of the graph after it."""

    refinement: RefinementEntry
    revision: int


@dataclass(frozen=True)
class Prepared:
    """A refinement that is planned and not yet written."""

    plan: RefinementPlan
    write: WritePlan


@dataclass(frozen=True)
class Preview:
    """A refinement that is planned, and the very statements that would write it."""

    plan: RefinementPlan
    program: Sequence[Statement]


def apply_proposal(
    base: KnowledgeBase,
    proposal: ProposalBody,
    *,
    by: str,
    flags: RefinementFlags = RefinementFlags(),  # noqa: B008 - frozen, so one for all calls is safe
    records: Sequence[NewRecord] = (),
) -> ApplyReport:
    """Apply a proposal that is in the log or comes from a file, and mark its question as refined.

    ``records`` are what the log has to hold before a proposal that is not in it yet: the trace, itself, its review.

    Raises :class:`NothingToDo` when it is applied already or every action finds its work done,
    :class:`StaleProposal` naming what moved since it was planned, :class:`ActionRefused` when an action cannot be
    carried out, and :class:`NeedsDecision` for actions of low confidence, or without the gain that is required. Nothing
    has changed then.
    """
    with base.open("write") as store:
        for attempt in range(1, TRIES + 1):
            prepared = prepare(base.log(), store, proposal, by, flags, records)
            try:
                state = store.write(prepared.write)
            except RevisionMoved:
                if attempt == TRIES:
                    raise
                continue
            break
    if proposal.query_id:
        history.mark_refined(base.project.history, [proposal.query_id])
    entry = base.log().refinement(prepared.plan.id)
    return ApplyReport(
        refinement=RefinementEntry(**{n: getattr(entry, n) for n in RefinementEntry.model_fields}),
        revision=state.revision,
    )


def preview(
    base: KnowledgeBase,
    proposal: ProposalBody,
    *,
    by: str,
    flags: RefinementFlags,
    records: Sequence[NewRecord] = (),
) -> Preview:
    """Plan a proposal as :func:`apply_proposal` would and give the very statements that it would run."""
    with base.open("read") as store:
        prepared = prepare(base.log(), store, proposal, by, flags, records)
        return Preview(prepared.plan, store.program(prepared.write))


def reject_proposal(base: KnowledgeBase, proposal: ProposalBody, *, by: str, note: str = "") -> None:
    """Record that a proposal is not wanted, and mark its question as refined.

    Raises :class:`NothingToDo` when it is rejected already and :class:`NeedsDecision` when it is applied.
    """
    with base.open("write") as store:
        entry, _ = base.log().proposal(proposal.id)
        if entry.state == "rejected":
            raise NothingToDo(f"Proposal {proposal.id} is rejected already.")
        if entry.state == "applied":
            raise NeedsDecision(f"Proposal {proposal.id} is applied, so it cannot be rejected any more.")
        event = EventBody(
            id=new_id("e"), event="rejected", of=proposal.id, of_kind="proposal", by=by, note=note
        )
        record = to_record(event)
        store.write(WritePlan(statements=tuple(record_statements([record])), records=(record,)))
    if proposal.query_id:
        history.mark_refined(base.project.history, [proposal.query_id])


def chosen_actions(
    view: GraphView, proposal: ProposalBody, flags: RefinementFlags
) -> list[tuple[int, Action]]:
    """Give the actions that are to be applied, each with its number in the proposal.

    Raises :class:`UsageError` for a number that the proposal does not have, and :class:`NeedsDecision` when one of
    them is not executable (with what the graph says of the first), or is of low confidence and that was not allowed.
    """
    numbers = {action.number for action in proposal.actions}
    unknown = sorted((set(flags.only) | set(flags.reject)) - numbers)
    if unknown:
        raise UsageError(f"Proposal {proposal.id} has no action {unknown[0]}; it has 1 to {len(numbers)}.")
    wanted = (set(flags.only) or numbers) - set(flags.reject)
    chosen = [action for action in proposal.actions if action.number in wanted]
    if not chosen:
        raise NothingToDo(f"No action of proposal {proposal.id} is left to apply.")
    stuck = [action for action in chosen if not action.executable]
    if stuck:
        numbered = [str(action.number) for action in stuck]
        before = [action.action for action in chosen[: chosen.index(stuck[0])]]
        reason, advice = _why_stuck(view, before, stuck[0].action)
        raise NeedsDecision(
            f"Action {', '.join(numbered)} of proposal {proposal.id} cannot be executed: {reason}",
            f"{advice} Leave it out with --reject {','.join(numbered)}.".strip(),
        )
    low = [str(action.number) for action in chosen if action.label == "LOW"]
    if low and not flags.allow_low_confidence:
        raise NeedsDecision(
            f"Action {', '.join(low)} of proposal {proposal.id} has LOW confidence.",
            f"Leave it out with --reject {','.join(low)}, or take the risk with --allow-low-confidence.",
        )
    return [(action.number, action.action) for action in chosen]


def _why_stuck(view: GraphView, before: Sequence[Action], action: Action) -> tuple[str, str]:
    """Give why an action cannot be carried out on the graph as it is, or after those before it, and what to do."""
    for earlier, when in (((), ""), (before, "After the actions before it: ")):
        alone = GraphView(view.reader)
        seq = sequence(0)
        try:
            for number, each in enumerate(earlier):
                with suppress(ActionRefused):
                    perform(alone, bind(alone, each, f"earlier.{number}"), seq)
            perform(alone, bind(alone, action, "alone"), seq)
        except ActionRefused as refused:
            return when + refused.message, refused.hint
    return f"The review of {format_action(action)} found it so.", ""


def prepare(
    log: Log,
    store: GraphStore,
    proposal: ProposalBody,
    by: str,
    flags: RefinementFlags,
    records: Sequence[NewRecord] = (),
) -> Prepared:
    """Plan a proposal on an open store whose log is given; raises what :func:`apply_proposal` raises."""
    recorded = log.has_proposal(proposal.id)
    _refuse_decided(log, proposal, recorded)
    state = store.state()
    refinement_id = _refinement_id(state.store_id, state.head, proposal, flags)
    view = GraphView(store)
    _refuse_stale(view, proposal)
    before = () if recorded else tuple(records) or _new_records(proposal)
    ts = now()
    next_record = NewRecord(kind=RefinementBody.KIND, ts=ts, body={"id": refinement_id})
    plan = plan_refinement(
        view,
        refinement_id,
        chosen_actions(view, proposal, flags),
        record_seq=next_place(log.records, before, next_record),
    )
    if flags.require_gain:
        refuse_without_gain(log, proposal.id, plan.numbers)
    if plan.changes_nothing:
        raise NothingToDo(f"Every action of proposal {proposal.id} finds its work done already.")
    body = RefinementBody(
        id=refinement_id,
        proposal_id=proposal.id,
        query_id=proposal.query_id,
        by=by,
        flags=flags,
        actions=plan.bound,
        numbers=plan.numbers,
        footprint=plan.footprint,
        revision=state.revision,
    )
    event = EventBody(
        id=f"{refinement_id}:applied", event="applied", of=refinement_id, of_kind="refinement", by=by
    )
    records = (*before, to_record(body, ts, plan.effects), to_record(event, ts))
    write = WritePlan(
        statements=(*compile_overlay(view.overlay), *record_statements(records)),
        records=records,
        revision=state.revision,
    )
    return Prepared(plan, write)


def _refuse_decided(log: Log, proposal: ProposalBody, recorded: bool) -> None:
    if not recorded:
        return
    entry, _ = log.proposal(proposal.id)
    if entry.state == "applied":
        raise NothingToDo(f"Proposal {proposal.id} is applied already, as refinement {entry.refinement_id}.")
    if entry.state == "rejected":
        raise NeedsDecision(
            f"Proposal {proposal.id} was rejected.",
            "Ask the question again with `deeprefine-db refine --again`.",
        )


def _refuse_stale(view: GraphView, proposal: ProposalBody) -> None:
    moved = view.moved(proposal.footprint)
    if moved:
        shown = ", ".join(_in_words(view, question) for question in moved[:NAMED])
        more = f" and {len(moved) - NAMED} more" if len(moved) > NAMED else ""
        raise StaleProposal(
            f"Proposal {proposal.id} was planned on a graph that has moved since: {shown}{more}.",
            "Ask the question again with `deeprefine-db refine --again`.",
        )


def _in_words(view: GraphView, question: str) -> str:
    kind, _, what = question.partition(":")
    words = {
        "entity": "entity",
        "names": "the entities called",
        "alias": "the former name",
        "edges": "the edges of",
        "between": "the edges between",
        "members": "the hyperedges and dangling links of",
        "loose": "the object",
    }
    if kind == "between":
        what = " and ".join(_label(view, entity_id) for entity_id in json.loads(what))
    elif kind in {"entity", "edges", "members"}:
        what = _label(view, what)
    return f"{words[kind]} {what}"


def _label(view: GraphView, entity_id: str) -> str:
    row = view.entity_row(entity_id)
    return row.label if row is not None else entity_id


def _new_records(proposal: ProposalBody) -> tuple[NewRecord, ...]:
    """Give the records of a proposal that comes alone, without trace and review."""
    query = (
        QueryBody(id=proposal.query_id, question=proposal.question, source="file")
        if proposal.query_id
        else None
    )
    return (*((to_record(query),) if query is not None else ()), to_record(proposal))


def _refinement_id(store_id: str, head: str, proposal: ProposalBody, flags: RefinementFlags) -> str:
    """Make an id that a dry run and the run itself agree on, and no other store or moment will make again."""
    text = "\n".join((store_id, head, proposal.id, flags.model_dump_json()))
    return "r" + hashlib.sha256(text.encode("utf-8")).hexdigest()[:12]
