"""The loop's control flow, without a model and without a graph."""

from __future__ import annotations

import json

import pytest
from deeprefine_skill.agent_loop import validate_trace

from deeprefine_graphdb.loop.machine import (
    Ask,
    Done,
    Machine,
    ReadSources,
    RetrieveExpanded,
    RetrieveFirst,
)
from deeprefine_graphdb.loop.trace import Constants, LoopTrace, new_trace
from deeprefine_graphdb.loop.validity import trace_faults
from deeprefine_graphdb.model.actions import InsertEdge
from deeprefine_graphdb.model.errors import GrammarError
from deeprefine_graphdb.model.graph import Triple
from deeprefine_graphdb.retrieval.protocol import Retrieved
from tests.support.chain_retriever import ChainRetriever

YES, NO = "<judge>Yes</judge>", "<judge>No</judge>"
REFINEMENT = '<refinement>insert_edge("a", "calls", "b")</refinement>'


def _run(judgements: list[str], constants: Constants | None = None) -> tuple[LoopTrace, list[str], Done]:
    """Run to the end, each time on a machine that is made anew from the saved text of the trace."""
    trace = new_trace("what calls n2?", constants=constants)
    retriever = ChainRetriever()
    answers = iter(judgements)
    happened: list[str] = []
    while True:
        trace = LoopTrace.model_validate_json(trace.text())
        machine = Machine(trace)
        need = machine.next()
        assert machine.next() == need
        match need:
            case RetrieveFirst():
                happened.append(f"first {need.limit}")
                machine.retrieved(retriever.first(need.question, need.limit))
            case RetrieveExpanded():
                happened.append(f"expand {need.limit}")
                machine.retrieved(retriever.expand(need.question, need.entities, need.hops, need.limit))
            case ReadSources():
                happened.append("sources")
                machine.sources(retriever.source_text(need.entities))
            case Ask(stage="judgement"):
                happened.append(f"judge {need.step}")
                machine.answer(next(answers))
            case Ask(stage=stage):
                happened.append(stage)
                machine.answer(REFINEMENT if stage == "refinement" else "<abduction>why</abduction>")
            case Done():
                return trace, happened, need


def _file(trace: LoopTrace, action_file: str | None) -> dict[str, object]:
    record: dict[str, object] = json.loads(trace.text())
    return record | {"refinement_action_file": action_file}


def test_yes_at_the_first_hop_is_an_early_exit() -> None:
    trace, happened, done = _run([YES])
    assert done == Done(early_exit=True)
    assert happened == ["first 5", "judge 1"]
    assert trace.early_exit is True
    assert trace_faults(_file(trace, None)) == []
    assert validate_trace(_file(trace, None)) == []


@pytest.mark.parametrize(
    ("judgements", "hops"),
    [
        ([NO, YES], ["expand 10", "judge 2"]),
        ([NO, NO, YES], ["expand 10", "judge 2", "expand 15", "judge 3"]),
        ([NO, NO, NO, YES], ["expand 10", "judge 2", "expand 15", "judge 3", "expand 20", "judge 4"]),
        ([NO, NO, NO, NO], ["expand 10", "judge 2", "expand 15", "judge 3", "expand 20", "judge 4"]),
    ],
)
def test_more_than_one_hop_is_refined_whatever_the_last_answer(
    judgements: list[str], hops: list[str]
) -> None:
    trace, happened, done = _run(judgements)
    assert happened == ["first 5", "judge 1", *hops, "abduction", "sources", "refinement"]
    assert done == Done(early_exit=False, actions=(InsertEdge(subject="a", relation="calls", object="b"),))
    assert trace.early_exit is False
    assert [step.num_hops for step in trace.interaction_history] == list(range(len(judgements)))
    assert trace_faults(_file(trace, None)) == []
    assert validate_trace(_file(trace, "refinement_actions.txt")) == []


def test_expansion_starts_from_every_entity_of_the_step_before() -> None:
    trace = new_trace("q?")
    machine = Machine(trace)
    machine.retrieved(ChainRetriever().first("q?", 5))
    machine.answer(NO)
    need = machine.next()
    assert isinstance(need, RetrieveExpanded)
    assert need.entities == ("n0", "n1", "n2")
    assert (need.step, need.hops, need.limit) == (2, 1, 10)


def test_triples_are_deduped_and_never_exceed_the_cap() -> None:
    machine = Machine(new_trace("q?"))
    same = [Triple(subject="a", relation="r", object="b", key=f"k{n}") for n in range(9)]
    others = [Triple(subject="a", relation="r", object=f"c{n}", key=f"l{n}") for n in range(9)]
    machine.retrieved(Retrieved(triples=(*same, *others), method="graphify_query", evidence="e"))
    need = machine.next()
    assert isinstance(need, Ask)
    assert need.user.splitlines() == [
        "Question: q?",
        "Knowledge Graph (KG) context: a | r | b",
        *(f"a | r | c{n}" for n in range(4)),
    ]


def test_nothing_retrieved_is_judged_like_anything_else() -> None:
    machine = Machine(new_trace("q?"))
    nothing = Retrieved(triples=(), method="k_hop_expansion", evidence="")
    for step in range(1, 5):
        machine.retrieved(nothing)
        need = machine.next()
        assert isinstance(need, Ask)
        assert need.user == "Question: q?\nKnowledge Graph (KG) context: "
        machine.answer(NO)
        assert len(machine.trace.interaction_history) == step
    assert isinstance(machine.next(), Ask)
    methods = [step.retrieval.method for step in machine.trace.interaction_history]
    assert methods == ["graphify_query", *["k_hop_expansion"] * 3]
    assert all(step.retrieval.evidence for step in machine.trace.interaction_history)


def test_a_malformed_answer_leaves_the_state_as_it_was() -> None:
    machine = Machine(new_trace("q?"))
    machine.retrieved(ChainRetriever().first("q?", 5))
    before = machine.trace.text()
    with pytest.raises(GrammarError, match="neither"):
        machine.answer("<judge>Perhaps</judge>")
    assert machine.trace.text() == before
    machine.answer(NO)
    assert machine.trace.text() != before


def test_only_what_is_wanted_is_taken() -> None:
    machine = Machine(new_trace("q?"))
    with pytest.raises(ValueError, match="no answer is wanted now, but RetrieveFirst"):
        machine.answer(YES)
    with pytest.raises(ValueError, match="no source text"):
        machine.sources("")
    machine.retrieved(ChainRetriever().first("q?", 5))
    with pytest.raises(ValueError, match="no retrieval is wanted now, but Ask"):
        machine.retrieved(ChainRetriever().first("q?", 5))


def test_a_thought_that_says_the_opposite_does_not_mislead_the_skill() -> None:
    machine = Machine(new_trace("q?"))
    machine.retrieved(ChainRetriever().first("q?", 5))
    answer = "<think>at first <judge>No</judge></think><judge>Yes</judge>"
    machine.answer(answer, ts="2026-01-01T00:00:00Z")
    step = machine.trace.interaction_history[0]
    assert (step.judgement_raw, step.answer, step.ts) == (YES, answer, "2026-01-01T00:00:00Z")
    assert validate_trace(_file(machine.trace, None)) == []


def test_answers_are_kept_as_written_unless_they_read_otherwise_without_the_thoughts() -> None:
    machine = Machine(new_trace("q?"))
    for answer in (NO, YES):
        need = machine.next()
        assert isinstance(need, RetrieveFirst | RetrieveExpanded)
        machine.retrieved(ChainRetriever().first("q?", 5))
        machine.answer(answer)
    nested = "<think><think></think></think><judge>"
    machine.answer(f"<abduction>why</abduction>{nested}")
    machine.sources("")
    machine.answer(f"{REFINEMENT}{nested}")
    assert machine.trace.error_abduction_raw == "<abduction>why</abduction>"
    assert machine.trace.refinement_raw == REFINEMENT
    assert machine.next() == Done(
        early_exit=False, actions=(InsertEdge(subject="a", relation="calls", object="b"),)
    )
    machine.trace.refinement_raw = None
    machine.answer(f"<think>hm</think>So: {REFINEMENT} as discussed.")
    assert machine.trace.refinement_raw == f"So: {REFINEMENT} as discussed."


def test_one_hop_that_says_no_is_an_early_exit_when_one_is_all() -> None:
    trace, happened, done = _run([NO], Constants(max_hops=1))
    assert done.early_exit
    assert happened == ["first 5", "judge 1"]
    assert trace_faults(_file(trace, None)) == []


def test_constants_of_the_trace_rule() -> None:
    constants = Constants(max_hops=6, increment_hop=2, base_top_k=1, max_triple_num_by_step=[5, 3])
    trace, happened, _ = _run([NO] * 6, constants)
    assert [what for what in happened if what.startswith(("first", "expand"))] == [
        "first 1",
        *["expand 3"] * 5,
    ]
    assert [step.num_hops for step in trace.interaction_history] == [0, 2, 4, 6, 8, 10]


def test_names_stand_in_where_a_hand_written_trace_has_no_ids() -> None:
    trace = LoopTrace.model_validate_json(
        json.dumps({
            "query": "q?",
            "interaction_history": [
                {
                    "step": 1,
                    "num_hops": 0,
                    "base_top_k": 10,
                    "query": "q?",
                    "retrieval": {"method": "graphify_query", "evidence": "e"},
                    "retrieved_subgraph": [{"subject": "A", "relation": "r", "object": "B"}],
                    "answerable": False,
                    "judgement_raw": NO,
                }
            ],
        })
    )
    need = Machine(trace).next()
    assert isinstance(need, RetrieveExpanded)
    assert need.entities == ("A", "B")
