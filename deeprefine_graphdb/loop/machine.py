"""The loop as a state machine: it says what it needs next, and takes it. Its whole state is the trace."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence

from deeprefine_graphdb.grammar import (
    format_actions,
    parse_abduction,
    parse_answer,
    parse_judgement,
    strip_thinking,
)
from deeprefine_graphdb.loop.prompts import (
    Stage,
    abduction_user,
    judgement_user,
    prompt,
    refinement_user,
)
from deeprefine_graphdb.loop.trace import LoopTrace, PendingStep, Retrieval, Step, TraceTriple
from deeprefine_graphdb.loop.validity import FIRST_METHODS, LATER_METHODS
from deeprefine_graphdb.model.actions import Action, Frozen
from deeprefine_graphdb.model.errors import GrammarError
from deeprefine_graphdb.model.graph import Triple
from deeprefine_graphdb.retrieval.protocol import Retrieved


class RetrieveFirst(Frozen):
    """Wanted: the ``limit`` edges most similar to the question. ``step`` counts from 1."""

    step: int
    question: str
    limit: int


class RetrieveExpanded(Frozen):
    """Wanted: the edges within ``hops`` of these entities, the ``limit`` most similar to the question.

    Entities are ids, or names where a trace written by hand has no ids; there may be none.
    """

    step: int
    question: str
    entities: tuple[str, ...]
    hops: int
    limit: int


class ReadSources(Frozen):
    """Wanted: the source text of these entities."""

    entities: tuple[str, ...]


class Ask(Frozen):
    """Wanted: the model's answer to a prompt. ``step`` is the last step that it speaks of."""

    stage: Stage
    step: int
    system: str
    user: str


class Done(Frozen):
    """Nothing more is wanted: an early exit, or the actions that were proposed (there may be none)."""

    early_exit: bool
    actions: tuple[Action, ...] = ()


Need = RetrieveFirst | RetrieveExpanded | ReadSources | Ask | Done


class Machine:
    """Runs the control flow of the contract over a trace, which it changes in place.

    ``next`` may be called any number of times; only the method that matches its answer moves the state on.
    Made from a saved trace it goes on at the first thing that the trace does not hold.
    """

    def __init__(self, trace: LoopTrace) -> None:
        self.trace = trace

    def next(self) -> Need:
        """Give what the loop needs now."""
        trace = self.trace
        if trace.pending_step is not None:
            return self._ask_judgement(trace.pending_step)
        if not self._hops_over():
            return self._retrieve(len(trace.interaction_history) + 1)
        if len(trace.interaction_history) == 1:
            return Done(early_exit=True)
        if trace.error_abduction_reason is None:
            return self._ask_abduction()
        if trace.refinement_raw is not None:
            return Done(early_exit=False, actions=parse_answer(trace.refinement_raw))
        if trace.original_text is None:
            return ReadSources(entities=_entities(trace.interaction_history[-1].retrieved_subgraph))
        return self._ask_refinement(trace.original_text)

    def retrieved(self, found: Retrieved) -> None:
        """Take the triples that ``next`` wanted; equal ones once and no more than the cap."""
        need = self.next()
        if not isinstance(need, RetrieveFirst | RetrieveExpanded):
            raise ValueError(f"no retrieval is wanted now, but {type(need).__name__}")
        constants = self.trace.constants
        methods = FIRST_METHODS if need.step == 1 else LATER_METHODS
        method = found.method if found.method in methods else methods[0]
        self.trace.pending_step = PendingStep(
            step=need.step,
            num_hops=(need.step - 1) * constants.increment_hop,
            base_top_k=constants.base_top_k,
            query=self.trace.query,
            retrieval=Retrieval(method=method, evidence=found.evidence.strip() or "nothing was found"),
            retrieved_subgraph=_distinct(found.triples)[: need.limit],
        )

    def sources(self, text: str) -> None:
        """Take the source text that ``next`` wanted."""
        need = self.next()
        if not isinstance(need, ReadSources):
            raise ValueError(f"no source text is wanted now, but {type(need).__name__}")
        self.trace.original_text = text

    def answer(self, text: str, ts: str = "") -> None:
        """Take the model's answer; ``ts`` is when it came.

        Raises :class:`GrammarError` with the reason when it cannot be read; the state stays as it was.
        """
        need = self.next()
        if not isinstance(need, Ask):
            raise ValueError(f"no answer is wanted now, but {type(need).__name__}")
        match need.stage:
            case "judgement":
                self._take_judgement(text, ts)
            case "abduction":
                self._take_abduction(text)
            case "refinement":
                self._take_refinement(text)
        if self.trace.unread:
            self.trace.unread = []

    def _hops_over(self) -> bool:
        steps = self.trace.interaction_history
        return bool(steps) and (steps[-1].answerable or len(steps) >= self.trace.constants.max_hops)

    def _retrieve(self, step: int) -> Need:
        constants = self.trace.constants
        if step == 1:
            return RetrieveFirst(step=1, question=self.trace.query, limit=constants.cap(1))
        return RetrieveExpanded(
            step=step,
            question=self.trace.query,
            entities=_entities(self.trace.interaction_history[-1].retrieved_subgraph),
            hops=constants.increment_hop,
            limit=constants.cap(step),
        )

    def _ask_judgement(self, pending: PendingStep) -> Ask:
        user = judgement_user(self.trace.query, pending.retrieved_subgraph)
        return Ask(stage="judgement", step=pending.step, system=prompt("judgement", "system"), user=user)

    def _ask_abduction(self) -> Ask:
        steps = self.trace.interaction_history
        user = abduction_user(steps, self.trace.constants.history_horizon_size)
        return Ask(stage="abduction", step=len(steps), system=prompt("abduction", "system"), user=user)

    def _ask_refinement(self, original_text: str) -> Ask:
        steps = self.trace.interaction_history
        reasons = self.trace.error_abduction_reason or ""
        user = refinement_user(self.trace.query, steps[-1].retrieved_subgraph, reasons, original_text)
        return Ask(stage="refinement", step=len(steps), system=prompt("refinement", "system"), user=user)

    def _take_judgement(self, text: str, ts: str) -> None:
        pending = self.trace.pending_step
        if pending is None:
            raise ValueError("no step is waiting for its judgement")
        answerable = parse_judgement(text)
        raw = f"<judge>{'Yes' if answerable else 'No'}</judge>"
        step = Step.model_validate(
            pending.model_dump(exclude_unset=True) | {"answerable": answerable, "judgement_raw": raw}
        )
        # The skill's validator reads the first tag that it meets, a thought's too: it gets the bare tag.
        if text.strip() != raw:
            step.answer = text
        if ts:
            step.ts = ts
        self.trace.interaction_history = [*self.trace.interaction_history, step]
        self.trace.pending_step = None
        if self._hops_over():
            self.trace.early_exit = len(self.trace.interaction_history) == 1

    def _take_abduction(self, text: str) -> None:
        reason = parse_abduction(text)
        self.trace.error_abduction_raw = _kept(text, parse_abduction, f"<abduction>{reason}</abduction>")
        self.trace.error_abduction_reason = reason

    def _take_refinement(self, text: str) -> None:
        self.trace.refinement_raw = _kept(text, parse_answer, format_actions(parse_answer(text)))


def _kept(text: str, parse: Callable[[str], object], bare: str) -> str:
    """Give an answer as the model wrote it without its thoughts, or bare if it then reads otherwise."""
    answer = strip_thinking(text)
    try:
        return answer if parse(answer) == parse(text) else bare
    except GrammarError:
        return bare


def _entities(triples: Sequence[TraceTriple]) -> tuple[str, ...]:
    ends = ((t.subject_id or t.subject, t.object_id or t.object) for t in triples)
    return tuple(dict.fromkeys(end for pair in ends for end in pair))


def _distinct(triples: Iterable[Triple]) -> list[TraceTriple]:
    seen: dict[tuple[str, str, str], Triple] = {}
    for triple in triples:
        seen.setdefault((triple.subject, triple.relation, triple.object), triple)
    return [TraceTriple.of(triple) for triple in seen.values()]
