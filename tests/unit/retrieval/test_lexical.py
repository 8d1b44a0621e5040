"""The catalogue of edges and the search by words."""

from __future__ import annotations

import json
import sqlite3
import tempfile
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from deeprefine_graphdb.model.errors import DeepRefineError
from deeprefine_graphdb.retrieval import catalogue as catalogue_module
from deeprefine_graphdb.retrieval.lexical import LexicalIndex
from deeprefine_graphdb.retrieval.terms import terms
from tests.unit.retrieval.memory import MemoryStore, entity

WORDS = ["alpha", "betaGamma", "gamma_delta", "delta", "epsilon()", "zeta.py", "依赖关系", "Öl"]
ENDS = st.sampled_from(WORDS)
RELATIONS = st.sampled_from(["calls", "imports", "contains", "no one uses this"])
TRIPLES = st.lists(st.tuples(ENDS, RELATIONS, ENDS), max_size=25)


def rows(index: LexicalIndex) -> dict[str, str]:
    with index.catalogue.open() as db:
        return dict(db.execute("SELECT key, text FROM edge"))


def keys(index: LexicalIndex, question: str, limit: int = 10) -> list[str]:
    return [hit.key for hit in index.search(question, limit)]


def test_an_edge_is_found_by_any_of_its_words(tmp_path: Path) -> None:
    store = MemoryStore([("getDb", "calls", "connect()"), ("main.py", "contains", "Session")])
    index = LexicalIndex(tmp_path)
    index.catalogue.refresh(store.open)
    for question in ("get_db", "who CALLS what?", "Where is connect"):
        assert [(h.source, h.target) for h in index.search(question, 5)] == [("getDb", "connect()")]
    assert index.search("nothing like it", 5) == []
    assert index.search("", 5) == []
    assert index.search('" OR * NEAR(', 5) == []


def test_the_sidecar_says_what_the_index_was_made_from(tmp_path: Path) -> None:
    store = MemoryStore([("a", "calls", "b")])
    store.revision = 7
    index = LexicalIndex(tmp_path / "new" / "folder")
    stamp = index.catalogue.refresh(store.open)
    said = json.loads(index.catalogue.sidecar.read_text(encoding="utf-8"))
    assert said == stamp.model_dump() == index.catalogue.stamp().model_dump()
    assert (said["revision"], said["base_digest"], said["store_id"], said["edges"]) == (
        7,
        "base",
        "memory",
        1,
    )


def test_an_unchanged_graph_is_not_read_again(tmp_path: Path) -> None:
    store = MemoryStore([("a", "calls", "b")])
    index = LexicalIndex(tmp_path)
    first = index.catalogue.refresh(store.open)
    assert index.catalogue.refresh(store.open) == first
    assert store.streamed == 1
    index.catalogue.refresh(store.open, rebuild=True)
    assert store.streamed == 2


def test_a_refinement_is_taken_over_without_reading_the_whole_graph(tmp_path: Path) -> None:
    store = MemoryStore([("a", "calls", "b"), ("b", "calls", "c"), ("c", "calls", "d")])
    index = LexicalIndex(tmp_path)
    index.catalogue.refresh(store.open)
    store.relabel("b", "Renamed")
    added = store.add("a", "imports", "fresh", added_by="r.1")
    store.revision += 1
    assert index.catalogue.refresh(store.open).revision == 1
    assert store.streamed == 1
    assert keys(index, "fresh") == [added]
    assert sorted(rows(index).values()) == [
        "Renamed calls c",
        "a calls Renamed",
        "a imports fresh",
        "c calls d",
    ]


def test_a_new_base_is_read_anew(tmp_path: Path) -> None:
    store = MemoryStore([("a", "calls", "b")])
    index = LexicalIndex(tmp_path)
    index.catalogue.refresh(store.open)
    store.edges.clear()
    store.add("x", "calls", "y")
    store.base_digest = "another"
    index.catalogue.refresh(store.open)
    assert list(rows(index).values()) == ["x calls y"]


def test_a_damaged_index_is_made_again(tmp_path: Path) -> None:
    store = MemoryStore([("a", "calls", "b")])
    index = LexicalIndex(tmp_path)
    tmp_path.joinpath("edges.sqlite").write_bytes(b"no database at all" * 100)
    assert index.catalogue.stamp().revision == -1
    assert index.catalogue.refresh(store.open).edges == 1
    assert len(keys(index, "calls")) == 1


def test_a_failing_store_leaves_the_old_index_and_no_rest(tmp_path: Path) -> None:
    store = MemoryStore([("a", "calls", "b")])
    index = LexicalIndex(tmp_path)
    index.catalogue.refresh(store.open)
    store.base_digest = "another"
    store.entities.clear()
    with pytest.raises(KeyError):
        index.catalogue.refresh(store.open)
    assert list(rows(index).values()) == ["a calls b"]
    assert sorted(path.name for path in tmp_path.iterdir()) == ["edges.json", "edges.sqlite"]


def test_the_index_is_built_after_the_store_was_closed(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    store = MemoryStore([("a", "calls", "b")])
    open_while_splitting = []

    def watching(text: str) -> list[str]:
        open_while_splitting.append(store.is_open)
        return terms(text)

    monkeypatch.setattr(catalogue_module, "terms", watching)
    LexicalIndex(tmp_path).catalogue.refresh(store.open)
    assert open_while_splitting == [False]


def test_equal_scores_are_ordered_by_edge_key(tmp_path: Path) -> None:
    store = MemoryStore([(f"node{n}", "calls", f"other{n}") for n in range(700)])
    index = LexicalIndex(tmp_path)
    index.catalogue.refresh(store.open)
    store.add("late1", "calls", "late2", added_by="r.1")
    store.revision += 1
    index.catalogue.refresh(store.open)
    assert keys(index, "calls", 20) == sorted(store.edges)[:20]


def test_a_rare_word_outweighs_a_common_one(tmp_path: Path) -> None:
    common = [(f"a{n}", "calls", f"b{n}") for n in range(50)]
    store = MemoryStore([*common, ("x", "imports", "needle")])
    index = LexicalIndex(tmp_path)
    index.catalogue.refresh(store.open)
    assert index.search("who calls the needle", 3)[0].target == "needle"


@settings(max_examples=40, deadline=None)
@given(TRIPLES, st.lists(st.sampled_from(WORDS), min_size=1, max_size=3))
def test_whatever_shares_a_term_is_found(triples: list[tuple[str, str, str]], words: list[str]) -> None:
    store = MemoryStore(triples)
    question = " ".join(words)
    with tempfile.TemporaryDirectory() as folder:
        index = LexicalIndex(Path(folder))
        index.catalogue.refresh(store.open)
        found = set(keys(index, question, 1000))
    asked = set(terms(question))
    sharing = {e.key for e in store.live() if asked & set(terms(f"{e.src} {e.relation} {e.tgt}"))}
    assert found == sharing


CHANGES = st.lists(
    st.one_of(
        st.tuples(st.just("add"), ENDS, RELATIONS, ENDS),
        st.tuples(st.just("retire"), st.integers(0, 30), st.just(""), st.just("")),
        st.tuples(st.just("revive"), st.integers(0, 30), st.just(""), st.just("")),
        st.tuples(st.just("relabel"), ENDS, ENDS, st.just("")),
        st.tuples(st.just("restore"), ENDS, st.just(""), st.just("")),
        st.tuples(st.just("refresh"), st.just(""), st.just(""), st.just("")),
    ),
    max_size=15,
)


@settings(max_examples=30, deadline=None)
@given(TRIPLES, CHANGES)
def test_a_refreshed_index_equals_one_built_anew(
    triples: list[tuple[str, str, str]], changes: list[tuple[str, str | int, str, str]]
) -> None:
    store = MemoryStore(triples, [entity(word) for word in WORDS])
    with tempfile.TemporaryDirectory() as folder:
        index, anew = LexicalIndex(Path(folder) / "kept"), LexicalIndex(Path(folder) / "anew")
        index.catalogue.refresh(store.open)
        for what, first, second, third in changes:
            _change(store, what, first, second, third)
            store.revision += 1
            if what == "refresh":
                index.catalogue.refresh(store.open)
        kept, built = index.catalogue.refresh(store.open), anew.catalogue.refresh(store.open)
        assert store.streamed == 2
        assert rows(index) == rows(anew)
        assert (kept.edges, kept.length) == (built.edges, built.length)
        for word in WORDS:
            assert index.search(word, 5) == anew.search(word, 5)


def _change(store: MemoryStore, what: str, first: str | int, second: str, third: str) -> None:
    if isinstance(first, int):
        key = sorted(store.edges)[first % len(store.edges)] if store.edges else None
        if key is not None:
            store.retire(key, "r.1" if what == "retire" else None)
    elif what == "add":
        store.add(first, second, third, added_by="r.1")
    elif what == "relabel":
        store.relabel(first, second)
    elif what == "restore":
        store.relabel(first, first, raw=None)


def test_given_texts_are_scored_like_found_edges(tmp_path: Path) -> None:
    store = MemoryStore([("alpha", "calls", "beta"), ("beta", "calls", "gamma"), ("x", "imports", "alpha")])
    index = LexicalIndex(tmp_path)
    index.catalogue.refresh(store.open)
    hits = index.search("alpha calls", 10)
    assert len(hits) == 3
    assert index.scores("alpha calls", {hit.key: hit.text for hit in hits}) == {h.key: h.score for h in hits}


def test_a_missing_index_file_is_not_made_by_searching(tmp_path: Path) -> None:
    with pytest.raises(sqlite3.DatabaseError):
        LexicalIndex(tmp_path).search("anything", 1)
    assert list(tmp_path.iterdir()) == []


def test_a_full_disk_is_one_sentence_that_names_the_index(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    store = MemoryStore([("a", "calls", "b")])
    index = LexicalIndex(tmp_path / "index")

    def full(*_: object) -> tuple[int, int]:
        raise sqlite3.OperationalError("database or disk is full")

    with monkeypatch.context() as patch:
        patch.setattr(catalogue_module, "_index_words", full)
        with pytest.raises(DeepRefineError, match="database or disk is full") as told:
            index.catalogue.refresh(store.open)
        assert str(index.catalogue.path) in told.value.message
        assert list(index.catalogue.folder.iterdir()) == []
    with monkeypatch.context() as patch:
        patch.setattr("os.fsync", lambda _: (_ for _ in ()).throw(OSError(28, "No space left on device")))
        with pytest.raises(OSError, match="No space left") as refused:
            index.catalogue.refresh(store.open)
        assert refused.value.filename == str(index.catalogue.folder)
    index.catalogue.refresh(store.open)
    assert len(index.search("calls", 5)) == 1


def test_a_file_in_the_place_of_the_index_is_named(tmp_path: Path) -> None:
    index = LexicalIndex(tmp_path / "index")
    index.catalogue.folder.write_text("x", encoding="utf-8")
    with pytest.raises(OSError, match="index") as refused:
        index.catalogue.refresh(MemoryStore([("a", "calls", "b")]).open)
    assert refused.value.filename == str(index.catalogue.folder)
