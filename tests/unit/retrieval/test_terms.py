"""Splitting texts into search terms."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from deeprefine_graphdb.retrieval.terms import question_terms, terms


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("getDb", ["get", "db", "getdb"]),
        ("get_db()", ["get", "db", "getdb"]),
        (".get_db() calls", ["get", "db", "getdb", "call"]),
        ("flask.app::Response", ["flask", "app", "response"]),
        ("HTTPAdapter", ["http", "adapter", "httpadapter"]),
        ("__init__", ["init"]),
        ("sha256 v2", ["sha256", "v2"]),
        ("classes class imports queries", ["class", "class", "import", "query"]),
        ("Déjà vu", ["deja", "vu"]),
        ("依赖关系", ["依赖", "赖关", "关系"]),
        ("", []),
        ("|::!?", []),
    ],
)
def test_text_is_split_into_terms(text: str, expected: list[str]) -> None:
    assert terms(text) == expected


@pytest.mark.parametrize(
    "spelling", ["getDbUrl", "get_db_url", "get db url", "GetDbUrl", "get.db.url", "Get::Db::URL"]
)
def test_all_spellings_of_an_identifier_share_its_words(spelling: str) -> None:
    assert {"get", "db", "url"} <= set(terms(spelling))


def test_stop_words_are_dropped_from_a_question_unless_nothing_else_is_left() -> None:
    assert question_terms("What does the session do?") == ["session"]
    assert question_terms("what is it") == ["what", "is", "it"]


@given(st.text())
def test_terms_hold_no_blank_nor_ascii_punctuation(text: str) -> None:
    for term in terms(text):
        assert term
        assert not any(ch.isspace() or (ch.isascii() and not ch.isalnum()) for ch in term)


@given(st.text(), st.text())
def test_a_space_divides_terms(one: str, other: str) -> None:
    assert terms(f"{one} {other}") == terms(one) + terms(other)


@given(st.from_regex(r"[A-Za-z]{1,20}( [a-z]{1,9})?", fullmatch=True))
def test_upper_and_lower_case_give_the_same_terms(text: str) -> None:
    assert terms(text.lower()) == terms(text.upper())
