"""What is written as a tagged line is read back as it was, and nothing else is ever read."""

from __future__ import annotations

import re

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from deeprefine_graphdb.grammar import format_actions, parse_answer, strip_thinking
from deeprefine_graphdb.grammar.arguments import is_blank
from deeprefine_graphdb.model.actions import MAX_ACTIONS, Action, DeleteEdge, InsertEdge, ReplaceNode
from deeprefine_graphdb.model.errors import GrammarError

_TRICKY = st.sampled_from(
    [
        '")|delete_edge("', "</refinement>", "<refinement>", "<think>", "</think>", "\\", '"', "'", "“”", "|", "\n",
        "\\n", "\\u0041", "a::b", "(x)", "),", "\r\n", "\u2028", "\x1b", "1. ", "```", "...", "🍰", "`",
    ]
)  # fmt: skip
_PIECES = st.one_of(
    _TRICKY, st.text(st.characters(exclude_categories=["Cs"], exclude_characters="\x00"), max_size=8)
)
NAMES = (
    st.lists(_PIECES, min_size=1, max_size=4).map("".join).filter(lambda name: name.strip(" \t\n\r.…") != "")
)
NAMES = NAMES.filter(lambda name: not is_blank(name))
ACTIONS: st.SearchStrategy[Action] = st.one_of(
    st.builds(InsertEdge, subject=NAMES, relation=NAMES, object=NAMES),
    st.builds(DeleteEdge, subject=NAMES, relation=NAMES, object=NAMES, edge_key=st.none() | NAMES),
    st.builds(ReplaceNode, old=NAMES, new=NAMES),
)


@given(st.lists(ACTIONS, max_size=MAX_ACTIONS, unique=True).map(tuple))
@example((InsertEdge(subject="a\\", relation='"', object=")|"),))
@example((ReplaceNode(old="</refinement>", new="<THINK>"),))
def test_written_actions_are_read_back(actions: tuple[Action, ...]) -> None:
    line = format_actions(actions)
    assert parse_answer(line) == actions
    assert "\n" not in line
    assert len(re.findall(r"</?refinement>", line)) == 2
    assert parse_answer(f"<think>let me see</think>\n{line}\nDone.") == actions
    assert parse_answer(strip_thinking(line)) == actions


@given(st.lists(ACTIONS, min_size=1, max_size=3, unique=True).map(tuple), st.data())
def test_a_cut_answer_is_refused(actions: tuple[Action, ...], data: st.DataObject) -> None:
    line = format_actions(actions)
    end = data.draw(st.integers(0, len(line) - 1))
    with pytest.raises(GrammarError):
        parse_answer(line[:end])


@settings(max_examples=300)
@given(
    st.lists(
        _TRICKY | st.sampled_from(['insert_edge("a", "r", "b")', 'replace_node("a', "delete_edge("]),
        max_size=8,
    )
)
def test_any_text_is_read_or_refused_within_its_bounds(pieces: list[str]) -> None:
    text = f"<refinement>{''.join(pieces)}</refinement>"
    outcome = _read(text)
    if isinstance(outcome, GrammarError):
        assert 0 <= outcome.place <= len(text)
        assert outcome.message.endswith(".")
    else:
        assert parse_answer(format_actions(outcome)) == outcome


def _read(text: str) -> tuple[Action, ...] | GrammarError:
    try:
        return parse_answer(text)
    except GrammarError as error:
        return error


def test_a_hundred_thousand_characters_are_read_in_time() -> None:
    bare = '<refinement>insert_edge("' + 'say "x" ' * 12_000 + '", "r", "b")</refinement>'
    assert len(parse_answer(bare)) == 1
    with pytest.raises(GrammarError):
        parse_answer("<refinement>" + " 1. - " * 20_000 + "x</refinement>")
    with pytest.raises(GrammarError):
        parse_answer("<refinement>" * 2_000)
