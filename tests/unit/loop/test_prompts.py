"""The prompts are the protocol's, to the letter, and are filled in one pass."""

from __future__ import annotations

from importlib import resources

import pytest
from deeprefine_skill import agent_prompts
from deeprefine_skill.agent_loop import format_interaction_history_for_abduction

from deeprefine_graphdb.loop.prompts import (
    Role,
    Stage,
    abduction_user,
    fill,
    interaction_history,
    judgement_user,
    prompt,
    refinement_user,
)
from deeprefine_graphdb.loop.trace import Retrieval, Step, TraceTriple


def _triple(subject: str = "a", relation: str = "r", target: str = "b") -> TraceTriple:
    return TraceTriple(
        subject=subject, relation=relation, object=target, key="k", subject_id="1", object_id="2"
    )


def _step(number: int, *triples: TraceTriple, query: str = "who calls b?") -> Step:
    return Step(
        step=number,
        num_hops=number - 1,
        base_top_k=10,
        query=query,
        retrieval=Retrieval(method="graphify_query", evidence="e"),
        retrieved_subgraph=list(triples),
        answerable=number == 6,
        judgement_raw="<judge>No</judge>",
    )


@pytest.mark.parametrize(
    ("stage", "role", "constant"),
    [
        ("judgement", "system", "REAFINER_JUDGEMENT_SYSTEM"),
        ("judgement", "user", "REAFINER_JUDGEMENT_USER"),
        ("abduction", "system", "REAFINER_ERROR_ABDUCTION_SYSTEM"),
        ("abduction", "user", "REAFINER_ERROR_ABDUCTION_USER"),
        ("refinement", "system", "REAFINER_KG_REFINEMENT_ACTION_SYSTEM"),
        ("refinement", "user", "REAFINER_KG_REFINEMENT_ACTION_USER"),
    ],
)
def test_prompts_are_those_that_models_were_trained_on(stage: Stage, role: Role, constant: str) -> None:
    assert prompt(stage, role) == getattr(agent_prompts, constant).strip("\n")
    folder = resources.files("deeprefine_graphdb.loop") / "prompts"
    assert (folder / f"{stage}.{role}.txt").read_bytes() == prompt(stage, role).encode("utf-8") + b"\n"


def test_placeholders_are_filled_in_one_pass() -> None:
    assert fill("{a} {b} {c} {}", {"a": "{b}", "b": "{0} {a}"}) == "{b} {0} {a} {c} {}"
    user = judgement_user("what is {triples_string}?", [_triple("{question}", "%s", "\\1")])
    assert user == (
        "Question: what is {triples_string}?\nKnowledge Graph (KG) context: {question} | %s | \\1"
    )


def test_refinement_prompt_holds_text_triples_question_and_reasons() -> None:
    user = refinement_user("q?", [_triple(), _triple("c")], "a link lacks", "def a(): ...")
    assert user == (
        "Original Text: def a(): ...\nKG: a | r | b\nc | r | b\nQuestion: q?\nError reasons: a link lacks"
    )


def test_history_reads_as_the_skill_writes_it() -> None:
    steps = [_step(n, _triple(f'it\'s "{n}"\n'), _triple("ü")) for n in range(1, 7)]
    rows = [
        {
            "query": step.query,
            "num_hops": step.num_hops,
            "retrieved_subgraph": [
                {"subject": t.subject, "relation": t.relation, "object": t.object}
                for t in step.retrieved_subgraph
            ],
            "answerable": step.answerable,
        }
        for step in steps
    ]
    assert interaction_history(steps, 4) == format_interaction_history_for_abduction(rows, horizon=4)
    assert interaction_history(steps, 9) == format_interaction_history_for_abduction(rows, horizon=9)


def test_history_quotes_the_last_steps_numbered_from_one() -> None:
    steps = [_step(n, _triple()) for n in range(1, 7)]
    user = abduction_user(steps, 2)
    content = "[{'subject': 'a', 'relation': 'r', 'object': 'b'}]"
    assert user == (
        "Interaction history: "
        f"Step1:\n['Query': who calls b?, 'Subgraph_hop': 4, 'Subgraph_content': {content}, 'Answerable': False]\n"
        "\n"
        f"Step2:\n['Query': who calls b?, 'Subgraph_hop': 5, 'Subgraph_content': {content}, 'Answerable': True]\n"
    )
