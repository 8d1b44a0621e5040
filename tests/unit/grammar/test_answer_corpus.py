"""Model answers as they come, each with the actions it gives or the place and reason of its refusal.

``answers/<name>.txt`` is the answer to the letter (its final newline apart); ``answers/expected.json`` says by name
either ``actions``, as lists of action and arguments, or ``at`` (the text at which it is refused) and ``reason``.
"""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from deeprefine_graphdb.grammar import format_actions, parse_answer
from deeprefine_graphdb.model.actions import Action, DeleteEdge, InsertEdge, ReplaceNode
from deeprefine_graphdb.model.errors import GrammarError

FOLDER = Path(__file__).parent / "answers"
EXPECTED: dict[str, dict[str, Any]] = json.loads((FOLDER / "expected.json").read_text(encoding="utf-8"))


def _answer(name: str) -> str:
    return (FOLDER / f"{name}.txt").read_bytes().decode("utf-8").removesuffix("\n")


def _shape(action: Action) -> list[str]:
    match action:
        case InsertEdge(subject=subject, relation=relation, object=target):
            return ["insert_edge", subject, relation, target]
        case DeleteEdge(subject=subject, relation=relation, object=target, edge_key=None):
            return ["delete_edge", subject, relation, target]
        case DeleteEdge(subject=subject, relation=relation, object=target, edge_key=str(key)):
            return ["delete_edge", subject, relation, target, key]
        case ReplaceNode(old=old, new=new):
            return ["replace_node", old, new]
    raise AssertionError(action)


READ = sorted(name for name, expected in EXPECTED.items() if "actions" in expected)
REFUSED = sorted(name for name, expected in EXPECTED.items() if "actions" not in expected)


def test_the_corpus_is_whole() -> None:
    assert {path.stem for path in FOLDER.glob("*.txt")} == set(EXPECTED)
    assert len(EXPECTED) >= 45
    assert len(REFUSED) >= 15


@pytest.mark.parametrize("name", READ)
def test_answer_gives_exactly_these_actions(name: str) -> None:
    actions = parse_answer(_answer(name))
    assert [_shape(action) for action in actions] == EXPECTED[name]["actions"]
    assert parse_answer(format_actions(actions)) == actions


@pytest.mark.parametrize("name", REFUSED)
def test_answer_is_refused_at_its_place(name: str) -> None:
    answer = _answer(name)
    with pytest.raises(GrammarError) as refusal:
        parse_answer(answer)
    assert answer[refusal.value.place :].startswith(EXPECTED[name]["at"])
    assert EXPECTED[name]["reason"] in refusal.value.message
    assert refusal.value.message.count("\n") == 0
