"""What-if: a proposal laid over the graph in memory, and its question judged again on what that would be."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from deeprefine_graphdb.graph.overlay import Overlay
from deeprefine_graphdb.graph.plan import RefinementPlan, plan_refinement
from deeprefine_graphdb.graph.view import GraphView
from deeprefine_graphdb.loop.budget import Budget
from deeprefine_graphdb.loop.driver import Save, Say
from deeprefine_graphdb.loop.llm import ChatModel
from deeprefine_graphdb.loop.trace import LoopTrace
from deeprefine_graphdb.loop.what_if import judge_again
from deeprefine_graphdb.model.actions import Action
from deeprefine_graphdb.model.errors import ActionRefused, DeepRefineError, NothingToDo
from deeprefine_graphdb.model.graph import Triple
from deeprefine_graphdb.provenance.records import TraceBody, now
from deeprefine_graphdb.retrieval.retriever import StoreRetriever
from deeprefine_graphdb.review.models import WhatIf
from deeprefine_graphdb.stores.protocol import GraphStore

DRAFT = "what-if"


@dataclass(frozen=True)
class Asking:
    """With what a question is judged again. The budget is that of the whole run."""

    retriever: StoreRetriever
    model: ChatModel
    budget: Budget


class LaidPlan:
    """Lays a proposal's actions over an open store, as far as they can be carried out, without writing anything.

    Planned again when the graph has moved on. ``numbers`` are those of the actions that were laid over.
    """

    def __init__(self, actions: Sequence[Action]) -> None:
        self._actions = list(enumerate(actions, start=1))
        self._planned_on: tuple[str, int] | None = None
        self._overlay = Overlay()
        self.numbers: tuple[int, ...] = ()

    def __call__(self, store: GraphStore) -> GraphView:
        """Give a view of the graph as it would be. Raises :class:`NothingToDo` when nothing would change."""
        state = store.state()
        if self._planned_on != (state.base_digest, state.revision):
            plan = self._plan(store, state.seq + 1)
            self._overlay, self.numbers = plan.view.overlay, plan.numbers
            self._planned_on = (state.base_digest, state.revision)
        return GraphView(store, self._overlay)

    def _plan(self, store: GraphStore, seq: int) -> RefinementPlan:
        try:
            plan = plan_refinement(GraphView(store), DRAFT, self._actions, seq)
        except ActionRefused:
            plan = self._plan_what_can_be(store, seq)
        if plan.changes_nothing:
            raise NothingToDo("No action of the proposal would change the graph as it is.")
        return plan

    def _plan_what_can_be(self, store: GraphStore, seq: int) -> RefinementPlan:
        kept: list[tuple[int, Action]] = []
        plan = plan_refinement(GraphView(store), DRAFT, kept, seq)
        for numbered in self._actions:
            try:
                plan = plan_refinement(GraphView(store), DRAFT, [*kept, numbered], seq)
            except ActionRefused:
                continue
            kept.append(numbered)
        return plan


def what_if(
    before: TraceBody, actions: Sequence[Action], asking: Asking, again: LoopTrace, save: Save, say: Say
) -> WhatIf:
    """Judge a question again as the actions would leave the graph, which stays as it is.

    ``before`` is the run that the actions come from; ``again`` the trace of the what-if, gone on with where it
    stands. No store is open while a model is asked. A failure is the what-if's own: it says why it is missing.
    """
    plan = LaidPlan(actions)
    missing = ""
    try:
        judge_again(again, asking.retriever.overlaid(plan), asking.model, save, say, asking.budget)
    except DeepRefineError as error:
        missing = error.message
        say(f"The what-if is missing: {missing}")
    found = _result(before, again, missing)
    return found.model_copy(update={"actions": plan.numbers or tuple(range(1, len(actions) + 1))})


def _result(before: TraceBody, again: LoopTrace, missing: str) -> WhatIf:
    paid = WhatIf(
        calls=len(again.calls),
        tokens_in=sum(call.tokens_in for call in again.calls),
        tokens_out=sum(call.tokens_out for call in again.calls),
        seconds=round(sum(call.seconds for call in again.calls), 3),
        ts=now(),
        missing=missing,
    )
    if missing or not again.interaction_history:
        return paid
    at_first = before.steps[0].triples if before.steps else ()
    first = again.interaction_history[0]
    now_shown = tuple(triple.triple() for triple in first.retrieved_subgraph)
    was = next((step.number for step in before.steps if step.answerable), None)
    will = again.answerable_at()
    return paid.model_copy(
        update={
            "before": was,
            "after": will,
            "hops_before": len(before.steps),
            "hops_after": len(again.interaction_history),
            "first": now_shown,
            "new": tuple(triple.key for triple in _only_in(now_shown, at_first)),
            "gone": _only_in(at_first, now_shown),
            "evidence": first.retrieval.evidence,
            "helped": will is not None and (was is None or will < was),
        }
    )


def _only_in(these: Sequence[Triple], others: Sequence[Triple]) -> tuple[Triple, ...]:
    lines = {triple.line() for triple in others}
    return tuple(triple for triple in these if triple.line() not in lines)
