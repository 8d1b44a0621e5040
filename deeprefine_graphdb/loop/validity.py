"""Whether a trace is valid: the rules of the contract, each fault in words."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from pydantic import ValidationError

from deeprefine_graphdb.grammar import parse_abduction, parse_judgement
from deeprefine_graphdb.loop.trace import Constants, query_id
from deeprefine_graphdb.model.errors import DeepRefineError, GrammarError

FIRST_METHODS = ("graphify_query", "graphify_query+graph_read")
LATER_METHODS = ("k_hop_expansion", "graphify_query", "graphify_query+k_hop_expansion")
HAND_WRITTEN_EXCESS = 2
_STEP_KEYS = (
    "step",
    "num_hops",
    "base_top_k",
    "query",
    "retrieval",
    "retrieved_subgraph",
    "answerable",
    "judgement_raw",
)


def trace_faults(trace: Mapping[str, Any], refinement_text: str | None = None) -> list[str]:
    """Give what is wrong with a finished trace, nothing when it is valid.

    ``trace`` is the JSON object of the file; ``refinement_text`` the text of an action file that comes with
    it. A trace with no ``driver`` was written by hand and may show two triples more than the cap in a step.
    """
    return list(_faults(trace, refinement_text))


def _faults(trace: Mapping[str, Any], refinement_text: str | None) -> Iterator[str]:
    yield from _header_faults(trace)
    try:
        constants = Constants.model_validate(trace.get("constants") or {})
    except ValidationError:
        yield "constants do not fit: they are whole numbers of at least 1 and a list of them"
        constants = Constants()
    steps = trace.get("interaction_history")
    if not isinstance(steps, list) or not all(isinstance(step, Mapping) for step in steps):
        yield "interaction_history is not a list of objects"
        return
    if not steps:
        yield "interaction_history is empty"
        return
    if len(steps) > constants.max_hops:
        yield f"there are {len(steps)} steps, and max_hops is {constants.max_hops}"
    excess = 0 if trace.get("driver") else HAND_WRITTEN_EXCESS
    for number, step in enumerate(steps, start=1):
        for fault in _step_faults(step, number, constants.cap(number) + excess):
            yield f"step {number}: {fault}"
        if step.get("answerable") is True and number < len(steps):
            yield f"step {number}: the answer was Yes, and yet a step follows"
    yield from _ending_faults(trace, steps, constants, refinement_text)


def _header_faults(trace: Mapping[str, Any]) -> Iterator[str]:
    if trace.get("schema_version") != 1:
        yield "schema_version is not 1"
    if trace.get("mode") != "agent-loop":
        yield 'mode is not "agent-loop"'
    question = trace.get("query")
    if not isinstance(question, str) or not question.strip():
        yield "query is missing"
        return
    try:
        identity = query_id(question)
    except DeepRefineError:
        yield "query is not valid Unicode text"
        return
    if trace.get("query_id", identity) != identity:
        yield f"query_id is {trace['query_id']!r}, and that of the query is {identity}"


def _step_faults(step: Mapping[str, Any], number: int, most: int) -> Iterator[str]:
    missing = [key for key in _STEP_KEYS if key not in step]
    if missing:
        yield f"{', '.join(missing)} missing"
    if step.get("step", number) != number:
        yield f"it is numbered {step['step']}"
    yield from _retrieval_faults(step, number)
    yield from _triple_faults(step, most)
    yield from _judgement_faults(step)


def _retrieval_faults(step: Mapping[str, Any], number: int) -> Iterator[str]:
    retrieval = step.get("retrieval")
    if not isinstance(retrieval, Mapping):
        if "retrieval" in step:
            yield "retrieval is not an object"
        return
    methods = FIRST_METHODS if number == 1 else LATER_METHODS
    if retrieval.get("method") not in methods:
        yield f"retrieval.method is not one of {', '.join(methods)}"
    evidence = retrieval.get("evidence")
    if not isinstance(evidence, str) or not evidence.strip():
        yield "retrieval.evidence is missing"


def _triple_faults(step: Mapping[str, Any], most: int) -> Iterator[str]:
    triples = step.get("retrieved_subgraph")
    if not isinstance(triples, list):
        if "retrieved_subgraph" in step:
            yield "retrieved_subgraph is not a list"
        return
    if len(triples) > most:
        yield f"{len(triples)} triples, and at most {most} are allowed"
    for place, triple in enumerate(triples, start=1):
        if not isinstance(triple, Mapping) or not all(
            isinstance(triple.get(key), str) for key in ("subject", "relation", "object")
        ):
            yield f"triple {place} has no subject, relation and object"


def _judgement_faults(step: Mapping[str, Any]) -> Iterator[str]:
    if "judgement_raw" not in step:
        return
    try:
        judgement = parse_judgement(str(step["judgement_raw"]))
    except GrammarError as error:
        yield f"judgement_raw cannot be read: {error.message.rstrip('.')}"
        return
    if "answerable" in step and step["answerable"] is not judgement:
        yield f"answerable is {step['answerable']}, and judgement_raw says {'Yes' if judgement else 'No'}"


def _ending_faults(
    trace: Mapping[str, Any],
    steps: list[Mapping[str, Any]],
    constants: Constants,
    refinement_text: str | None,
) -> Iterator[str]:
    early = len(steps) == 1
    if early and steps[0].get("answerable") is not True and constants.max_hops > 1:
        yield "the only step was answered No, so the loop has not ended"
        return
    # The template of `loop init` says null, and the skill sets it only on an early exit.
    if trace.get("early_exit") not in {None, early}:
        yield f"early_exit is {trace['early_exit']}, and with {len(steps)} step(s) it is {early}"
    refinement = [refinement_text, trace.get("refinement_raw"), trace.get("refinement_action_file")]
    if early:
        if trace.get("error_abduction_raw") or trace.get("error_abduction_reason"):
            yield "an early exit has no abduction"
        if any(refinement):
            yield "an early exit has no refinement"
        return
    try:
        parse_abduction(str(trace.get("error_abduction_raw") or ""))
    except GrammarError as error:
        yield f"error_abduction_raw cannot be read: {error.message.rstrip('.')}"
    if not str(trace.get("error_abduction_reason") or "").strip():
        yield "error_abduction_reason is missing"
    if not any(refinement):
        yield "there is no refinement_action_file and no refinement"
