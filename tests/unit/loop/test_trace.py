"""The trace file: its form, what makes it valid, and that deeprefine-cli 0.2.0 agrees."""

from __future__ import annotations

import copy
import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from deeprefine_skill.agent_loop import default_trace, validate_trace

from deeprefine_graphdb.loop.trace import (
    Constants,
    LoopTrace,
    load_trace,
    new_trace,
    query_id,
    save_trace,
    trace_file_name,
)
from deeprefine_graphdb.loop.validity import trace_faults
from deeprefine_graphdb.model.errors import DeepRefineError, UsageError

QUESTION = "what is dulce?"


def _step(number: int, answerable: bool = False, triples: int = 1) -> dict[str, Any]:
    return {
        "step": number,
        "num_hops": number - 1,
        "base_top_k": 10,
        "query": QUESTION,
        "retrieval": {
            "method": "graphify_query" if number == 1 else "k_hop_expansion",
            "evidence": "graphify query",
        },
        "retrieved_subgraph": [{"subject": f"s{n}", "relation": "r", "object": "o"} for n in range(triples)],
        "answerable": answerable,
        "judgement_raw": f"<judge>{'Yes' if answerable else 'No'}</judge>",
    }


def _refined(*steps: dict[str, Any]) -> dict[str, Any]:
    trace: dict[str, Any] = default_trace(QUESTION)
    return trace | {
        "interaction_history": list(steps) or [_step(1), _step(2, True)],
        "error_abduction_reason": "a link is missing",
        "error_abduction_raw": "<abduction>a link is missing</abduction>",
        "refinement_action_file": "graphify-out/.deeprefine/refinement_actions_5cdc0798eb59b486.txt",
        "early_exit": False,
    }


def _early() -> dict[str, Any]:
    trace: dict[str, Any] = default_trace(QUESTION)
    return trace | {"interaction_history": [_step(1, True)], "early_exit": True}


VALID = {
    "early exit": _early(),
    "yes at hop 2": _refined(),
    "yes at hop 3": _refined(_step(1), _step(2), _step(3, True)),
    "no at all four": _refined(*(_step(n) for n in range(1, 5))),
    "null for early_exit, as the skill's template leaves it": _refined() | {"early_exit": None},
    "two triples over the cap by hand": _refined(_step(1, triples=7), _step(2, triples=12)),
    "other names of methods": _refined(
        _step(1) | {"retrieval": {"method": "graphify_query+graph_read", "evidence": "e"}},
        _step(2) | {"retrieval": {"method": "graphify_query+k_hop_expansion", "evidence": "e"}},
        _step(3) | {"retrieval": {"method": "graphify_query", "evidence": "e"}},
    ),
}


@pytest.mark.parametrize("name", VALID)
def test_valid_traces_are_valid_for_both(name: str) -> None:
    assert trace_faults(VALID[name]) == []
    assert validate_trace(VALID[name]) == []


def _change(path: str, value: Any) -> Callable[[dict[str, Any]], None]:
    def change(trace: dict[str, Any]) -> None:
        *parents, last = path.split(".")
        place: Any = trace
        for part in parents:
            place = place[int(part)] if isinstance(place, list) else place[part]
        if value is KeyError:
            del place[last]
        else:
            place[int(last) if isinstance(place, list) else last] = value

    return change


FAULTS: list[tuple[str, Callable[[dict[str, Any]], None], str]] = [
    ("refined", _change("schema_version", 2), "schema_version"),
    ("refined", _change("mode", "runtime"), "mode"),
    ("refined", _change("query", " "), "query is missing"),
    ("refined", _change("interaction_history", []), "interaction_history is empty"),
    (
        "refined",
        _change("interaction_history.0.judgement_raw", "Yes"),
        "step 1: judgement_raw cannot be read",
    ),
    ("refined", _change("interaction_history.1.answerable", False), "step 2: answerable is False"),
    ("refined", _change("interaction_history.0", _step(1, True)), "step 1: the answer was Yes"),
    ("refined", _change("interaction_history.0.retrieval.evidence", " "), "step 1: retrieval.evidence"),
    (
        "refined",
        _change("interaction_history.0.retrieval.method", "k_hop_expansion"),
        "step 1: retrieval.method",
    ),
    ("refined", _change("interaction_history.1.retrieval.method", "lexical"), "step 2: retrieval.method"),
    ("refined", _change("interaction_history.1.base_top_k", KeyError), "step 2: base_top_k missing"),
    ("refined", _change("interaction_history.1.retrieval", KeyError), "step 2: retrieval missing"),
    ("refined", _change("interaction_history.0", _step(1, triples=8)), "step 1: 8 triples"),
    ("refined", _change("interaction_history.0.retrieved_subgraph.0", {"subject": "s"}), "step 1: triple 1"),
    ("refined", _change("constants.max_hops", 1), "max_hops is 1"),
    ("refined", _change("early_exit", True), "early_exit is True"),
    ("refined", _change("error_abduction_raw", "a link is missing"), "error_abduction_raw cannot be read"),
    ("refined", _change("error_abduction_reason", ""), "error_abduction_reason is missing"),
    ("refined", _change("refinement_action_file", None), "no refinement"),
    ("early", _change("early_exit", False), "early_exit is False"),
    ("early", _change("interaction_history.0", _step(1)), "has not ended"),
    ("early", _change("error_abduction_reason", "x"), "an early exit has no abduction"),
    ("early", _change("refinement_action_file", "x"), "an early exit has no refinement"),
]


@pytest.mark.parametrize(("kind", "change", "fault"), FAULTS, ids=[f"{k}: {f}" for k, _, f in FAULTS])
def test_faults_are_named_and_the_skill_refuses_them_too(
    kind: str, change: Callable[[dict[str, Any]], None], fault: str
) -> None:
    trace = copy.deepcopy(_refined() if kind == "refined" else _early())
    change(trace)
    assert any(fault in found for found in trace_faults(trace)), trace_faults(trace)
    assert validate_trace(trace) != []


def test_rules_that_the_skill_does_not_check() -> None:
    assert trace_faults(_refined(_step(1), _step(3))) == ["step 2: it is numbered 3"]
    assert "query_id" in trace_faults(_refined() | {"query_id": "0" * 16})[0]
    ours = _refined(_step(1, triples=6), _step(2)) | {"driver": "refine"}
    assert trace_faults(ours) == ["step 1: 6 triples, and at most 5 are allowed"]
    assert trace_faults({"interaction_history": "x", "constants": {"max_hops": 0}})[-1].startswith(
        "interaction"
    )
    assert trace_faults(_refined(_step(1), _step(2) | {"retrieved_subgraph": None}))[0].startswith("step 2")


def test_an_empty_retrieval_is_legal_here_and_the_one_thing_that_the_skill_refuses() -> None:
    trace = _refined(_step(1, triples=0), _step(2, triples=0), _step(3), _step(4))
    assert trace_faults(trace) == []
    assert {fault.split(": ", 1)[1] for fault in validate_trace(trace)} == {
        "retrieved_subgraph must be a non-empty list"
    }


def test_refinement_text_stands_in_for_the_file() -> None:
    trace = _refined() | {"refinement_action_file": None}
    assert trace_faults(trace, refinement_text="<refinement></refinement>") == []
    assert trace_faults(trace | {"refinement_raw": "<refinement></refinement>"}) == []
    assert "an early exit has no refinement" in trace_faults(
        _early(), refinement_text="<refinement></refinement>"
    )


def test_query_id_is_that_of_the_skill() -> None:
    assert query_id("  what is dulce? \n") == "5cdc0798eb59b486"
    assert trace_file_name(query_id(QUESTION)) == "loop_trace_5cdc0798eb59b486.json"
    with pytest.raises(UsageError, match="not valid Unicode"):
        query_id("a\ud83d")


def test_a_new_trace_is_the_template_of_the_skill_and_names_its_driver() -> None:
    record = json.loads(new_trace(f" {QUESTION} ").text())
    assert record.pop("driver") == "refine"
    assert record == default_trace(QUESTION)
    assert list(record) == list(default_trace(QUESTION))
    with pytest.raises(UsageError, match="empty"):
        new_trace("  ")


def test_a_file_written_by_hand_comes_back_as_it_was(tmp_path: Path) -> None:
    trace = _refined() | {"note": {"by": "hand"}, "constants": {"max_hops": 4, "mood": "good"}}
    trace["interaction_history"][0]["seen_at"] = 3
    trace["interaction_history"][0]["retrieved_subgraph"][0]["source"] = "a.py"
    path = tmp_path / "deep" / "loop_trace.json"
    path.parent.mkdir()
    path.write_text(json.dumps(trace), encoding="utf-8")
    save_trace(path, load_trace(path))
    assert json.loads(path.read_text(encoding="utf-8")) == trace


def test_saving_makes_the_folder_and_keeps_any_text(tmp_path: Path) -> None:
    path = tmp_path / "new" / "loop_trace.json"
    trace = new_trace("wo ist „Zürich“?")
    save_trace(path, trace)
    assert "„Zürich“" in path.read_text(encoding="utf-8")
    assert load_trace(path) == trace
    trace.error_abduction_reason = "half \ud83d"
    save_trace(path, trace)
    assert load_trace(path).error_abduction_reason == "half \ud83d"
    assert [entry.name for entry in path.parent.iterdir()] == ["loop_trace.json"]


@pytest.mark.parametrize(
    ("content", "reason"),
    [
        (None, "There is no loop trace"),
        ("{", "cannot be read"),
        ("[]", "not a JSON object"),
        ('{"query_id": "x"}', "does not fit at query"),
        (
            '{"query": "q", "interaction_history": [{"step": "x"}]}',
            "does not fit at interaction_history.0.step",
        ),
        ('{"query": "q", "constants": {"max_hops": 0}}', "does not fit at constants.max_hops"),
    ],
)
def test_what_is_no_trace_is_refused_in_one_sentence(
    tmp_path: Path, content: str | None, reason: str
) -> None:
    path = tmp_path / "loop_trace.json"
    if content is not None:
        path.write_text(content, encoding="utf-8")
    with pytest.raises(DeepRefineError) as refusal:
        load_trace(path)
    assert reason in refusal.value.message
    assert str(path) in refusal.value.message


def test_schedule_repeats_its_last_value_and_the_first_step_keeps_to_base_top_k() -> None:
    assert [Constants().cap(step) for step in (1, 2, 3, 4, 5)] == [5, 10, 15, 20, 20]
    assert [Constants(base_top_k=3, max_triple_num_by_step=[8]).cap(step) for step in (1, 2)] == [3, 8]


def test_driver_of_a_loaded_trace_without_one_is_empty(tmp_path: Path) -> None:
    path = tmp_path / "t.json"
    path.write_text(json.dumps(_early() | {"query_id": query_id(QUESTION)}), encoding="utf-8")
    trace = load_trace(path)
    assert isinstance(trace, LoopTrace)
    assert not trace.driver
    assert not trace.calls
