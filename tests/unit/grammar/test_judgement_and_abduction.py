"""Judgements and abductions as models write them."""

from __future__ import annotations

import pytest

from deeprefine_graphdb.grammar import parse_abduction, parse_judgement, strip_thinking
from deeprefine_graphdb.model.errors import GrammarError


@pytest.mark.parametrize(
    ("text", "answerable"),
    [
        ("<judge>Yes</judge>", True),
        ("<judge>No</judge>", False),
        ("<JUDGE> YES </JUDGE>\n", True),
        ("<judge>\nno.\n</judge>", False),
        ("<judge>**Yes**</judge>", True),
        ('The context names it: <judge>"Yes"</judge> as it says.', True),
        ("```\n<judge>No</judge>\n```", False),
        ("<think>Perhaps <judge>No</judge>? No, it is there.</think><judge>Yes</judge>", True),
        ("It could be <judge>Yes</judge> … but no.</think>\n<judge>No</judge>", False),
        ("<judge>No</judge>\n\nTo repeat: <judge>no</judge>", False),
    ],
)
def test_judgement_is_read(text: str, answerable: bool) -> None:
    assert parse_judgement(text) is answerable


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        ("Yes", "has no <judge>"),
        ("", "has no <judge>"),
        ("<judge>Yes", "not closed"),
        ("<judge>Yes</judge> and <judge>N", "not closed"),
        ("<judge>Maybe</judge>", "“Maybe” is neither"),
        ("<judge>Yes or No</judge>", "neither"),
        ("<judge></judge>", "neither"),
        ("<judge>Yes</judge> or <judge>No</judge>", "both"),
        ("<think><judge>Yes</judge></think>", "has no <judge>"),
        ("<think>still thinking <judge>Yes</judge>", "has no <judge>"),
    ],
)
def test_judgement_is_never_guessed(text: str, reason: str) -> None:
    with pytest.raises(GrammarError, match=reason):
        parse_judgement(text)


def test_abduction_gives_the_text_of_the_last_block() -> None:
    assert parse_abduction("<abduction>\n1. A fact is missing.\n2. Two names.\n</abduction>") == (
        "1. A fact is missing.\n2. Two names."
    )
    assert parse_abduction("<abduction>draft</abduction> or rather <Abduction>final</Abduction>") == "final"
    assert (
        parse_abduction("<think><abduction>no</abduction></think>So: <abduction>a < b</abduction>!")
        == "a < b"
    )
    assert parse_abduction("I write <abduction> now: <abduction>the reason</abduction>") == "the reason"
    assert parse_abduction("<abduction>\n```\nfenced\n```\n</abduction>") == "fenced"


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        ("The graph lacks a link.", "has no <abduction>"),
        ("<abduction>The graph lacks", "not closed"),
        ("<abduction>draft</abduction> <abduction>The graph", "not closed"),
        ("<abduction> \n </abduction>", "empty"),
    ],
)
def test_abduction_is_never_guessed(text: str, reason: str) -> None:
    with pytest.raises(GrammarError, match=reason):
        parse_abduction(text)


@pytest.mark.parametrize(
    ("text", "answer"),
    [
        ("<think>a</think>b", "b"),
        ("  <thinking>a\nb</thinking>\n\nc\n", "c"),
        ("a</think>b", "b"),
        ("a</think>b</think>c", "c"),
        ("<think>a", ""),
        ("<think>a</think><think>b</think>c", "c"),
        ("```xml\n<judge>Yes</judge>\n```", "<judge>Yes</judge>"),
        ("```\na\n```\nb\n```\nc\n```", "```\na\n```\nb\n```\nc\n```"),
        ('<refinement>f("<think>", "x")</refinement>', '<refinement>f("<think>", "x")</refinement>'),
        ("plain", "plain"),
    ],
)
def test_thoughts_and_fences_are_left_out(text: str, answer: str) -> None:
    assert strip_thinking(text) == answer
