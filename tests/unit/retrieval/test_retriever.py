"""Retrieval on a store: first search, expansion, and when the store is open."""

from __future__ import annotations

import json
import tempfile
from collections.abc import Iterator
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from deeprefine_graphdb.retrieval.embed import Embedder
from deeprefine_graphdb.retrieval.lexical import LexicalIndex
from deeprefine_graphdb.retrieval.protocol import Retrieved
from deeprefine_graphdb.retrieval.retriever import StoreRetriever
from deeprefine_graphdb.retrieval.vectors import VectorIndex
from deeprefine_graphdb.retrieval.walk import NEIGHBOUR_CAP
from tests.support.openai_server import Answer, OpenAIServer, Request
from tests.unit.retrieval.memory import MemoryStore, entity

NODES = [f"node{n}" for n in range(7)]
TRIPLES = st.lists(
    st.tuples(st.sampled_from(NODES), st.sampled_from(["calls", "uses"]), st.sampled_from(NODES)), max_size=20
)


@pytest.fixture
def server() -> Iterator[OpenAIServer]:
    with OpenAIServer(dimension=32) as running:
        yield running


def by_words(store: MemoryStore, folder: Path) -> StoreRetriever:
    return StoreRetriever(store.open, LexicalIndex(folder / "index"), folder)


def by_meaning(store: MemoryStore, folder: Path, server: OpenAIServer) -> StoreRetriever:
    return StoreRetriever(store.open, VectorIndex(folder / "index", Embedder("m", server.url)), folder)


def keys(found: Retrieved) -> list[str]:
    return [triple.key for triple in found.triples]


def test_the_first_search_builds_the_index_and_says_what_it_went_by(tmp_path: Path) -> None:
    store = MemoryStore([("getDb", "calls", "connect"), ("x", "uses", "y")])
    found = by_words(store, tmp_path).first("who calls get_db?", 5)
    assert [triple.line() for triple in found.triples] == ["getDb | calls | connect"]
    assert found.method == "graphify_query"
    assert "lexical" in found.evidence
    assert "1 of 2 edges" in found.evidence


def test_embeddings_are_used_where_there_are_some(tmp_path: Path, server: OpenAIServer) -> None:
    store = MemoryStore([("alpha", "calls", "beta"), ("x", "uses", "y")])
    found = by_meaning(store, tmp_path, server).first("alpha beta", 1)
    assert [triple.line() for triple in found.triples] == ["alpha | calls | beta"]
    assert "FAISS" in found.evidence
    assert "m, 32 dimensions" in found.evidence


def test_by_meaning_something_is_found_wherever_there_is_an_edge(
    tmp_path: Path, server: OpenAIServer
) -> None:
    found = by_meaning(MemoryStore([("a", "b", "c")]), tmp_path, server).first("entirely unrelated", 5)
    assert len(found.triples) == 1


def test_an_empty_search_explains_itself(tmp_path: Path) -> None:
    assert (
        "no edge shares a term" in by_words(MemoryStore([("a", "b", "c")]), tmp_path).first("zzz", 5).evidence
    )
    assert "no edge" in by_words(MemoryStore(), tmp_path / "other").first("zzz", 5).evidence


def test_equal_triples_are_shown_once_and_leave_room_for_others(tmp_path: Path) -> None:
    store = MemoryStore([("a", "calls", "b")] * 40 + [("a", "calls", "c")])
    found = by_words(store, tmp_path).first("a calls", 2)
    assert sorted(triple.line() for triple in found.triples) == ["a | calls | b", "a | calls | c"]


def test_what_is_shown_resolves(tmp_path: Path) -> None:
    twins = [entity("id1", "get()", source_file="one.py"), entity("id2", "get()", source_file="two.py")]
    store = MemoryStore([("id1", "calls", "id2")], twins)
    triple = by_words(store, tmp_path).first("get", 1).triples[0]
    assert (triple.subject, triple.object) == ("one.py::get()", "two.py::get()")
    assert (triple.subject_id, triple.object_id) == ("id1", "id2")


def test_an_edge_of_a_later_revision_is_found(tmp_path: Path) -> None:
    store = MemoryStore([("a", "calls", "b")])
    retriever = by_words(store, tmp_path)
    retriever.first("a", 1)
    gone = next(iter(store.edges))
    store.retire(gone)
    store.add("a", "uses", "fresh", added_by="r.1")
    store.revision += 1
    assert [t.line() for t in retriever.first("a fresh calls", 5).triples] == ["a | uses | fresh"]


def test_a_damaged_index_is_rebuilt_by_the_search(tmp_path: Path) -> None:
    store = MemoryStore([("alpha", "calls", "beta")])
    retriever = by_words(store, tmp_path)
    retriever.first("alpha", 1)
    path = tmp_path / "index" / "edges.sqlite"
    data = bytearray(path.read_bytes())
    data[4096:] = b"\xff" * (len(data) - 4096)
    path.write_bytes(data)
    assert len(retriever.first("alpha", 1).triples) == 1


def test_the_store_is_closed_while_a_model_is_asked(tmp_path: Path, server: OpenAIServer) -> None:
    store = MemoryStore([("a", "calls", "b"), ("b", "calls", "c")])
    seen: list[bool] = []

    def watch(request: Request) -> Answer | None:
        seen.append(store.is_open)
        return None

    server.embed = watch
    retriever = by_meaning(store, tmp_path, server)
    retriever.first("a", 2)
    store.add("b", "uses", "new", added_by="r.1")
    store.revision += 1
    retriever.expand("a second question", ["b"], 1, 5)
    retriever.first("a third question", 5)
    assert len(seen) >= 4
    assert not any(seen)


def test_expansion_goes_both_ways_from_every_entity(tmp_path: Path) -> None:
    store = MemoryStore([
        ("a", "calls", "b"),
        ("c", "uses", "a"),
        ("b", "calls", "d"),
        ("x", "uses", "y"),
        ("a", "is", "a"),
    ])
    found = by_words(store, tmp_path).expand("?", ["a", "nobody"], 1, 10)
    lines = {triple.line() for triple in found.triples}
    assert lines == {"a | calls | b", "c | uses | a", "a | is | a"}
    assert found.method == "k_hop_expansion"
    assert "3 of 3 edges" in found.evidence


def test_a_larger_expansion_keeps_what_is_most_similar(tmp_path: Path, server: OpenAIServer) -> None:
    store = MemoryStore([("hub", "calls", f"leaf{n}") for n in range(30)])
    for retriever in (by_words(store, tmp_path / "w"), by_meaning(store, tmp_path / "v", server)):
        found = retriever.expand("what about leaf17", ["hub"], 1, 3)
        assert len(found.triples) == 3
        assert found.triples[0].object == "leaf17"
        ties = [triple.key for triple in found.triples[1:]]
        assert ties == sorted(ties)
        assert "3 of 30 edges" in found.evidence


def test_a_hub_gives_at_most_fifty_edges_a_side(tmp_path: Path) -> None:
    outward = [("hub", "calls", f"o{n}") for n in range(80)]
    inward = [(f"i{n}", "calls", "hub") for n in range(80)]
    found = by_words(MemoryStore(outward + inward), tmp_path).expand("?", ["hub"], 1, 1000)
    assert sum(triple.subject == "hub" for triple in found.triples) == NEIGHBOUR_CAP
    assert sum(triple.object == "hub" for triple in found.triples) == NEIGHBOUR_CAP


@settings(max_examples=60, deadline=None)
@given(TRIPLES, st.lists(st.sampled_from([*NODES, "absent"]), max_size=3), st.integers(0, 4))
def test_expansion_equals_walking_by_hand(
    triples: list[tuple[str, str, str]], start: list[str], hops: int
) -> None:
    store = MemoryStore(triples, [entity(node) for node in NODES])
    reached, expected = set(start) & set(NODES), set()
    for _ in range(hops):
        near = [t for t in triples if t[0] in reached or t[2] in reached]
        expected.update(near)
        reached.update(end for t in near for end in (t[0], t[2]))
    with tempfile.TemporaryDirectory() as folder:
        found = by_words(store, Path(folder)).expand("node1 calls", start, hops, 1000)
        fewer = by_words(store, Path(folder)).expand("node1 calls", start, hops, 3)
    assert {(t.subject_id, t.relation, t.object_id) for t in found.triples} == expected
    assert len(found.triples) == len(expected)
    assert keys(fewer) == keys(found)[:3]


def test_source_text_is_that_of_the_entities_in_order(tmp_path: Path) -> None:
    (tmp_path / "a.py").write_text("first = 1\n", encoding="utf-8")
    (tmp_path / "b.py").write_text("second = 2\n", encoding="utf-8")
    rows = [
        entity("a", source_file="a.py"),
        entity("b", source_file="b.py"),
        entity("c", source_file="../c.py"),
    ]
    store = MemoryStore((), rows)
    retriever = by_words(store, tmp_path)
    assert (
        retriever.source_text(["b", "a", "b", "c", "absent"])
        == "# b.py:1-1\nsecond = 2\n# a.py:1-1\nfirst = 1"
    )
    assert retriever.source_text([]) == ""


def test_a_rebuild_takes_the_whole_graph_again(tmp_path: Path, server: OpenAIServer) -> None:
    store = MemoryStore([("a", "calls", "b")])
    retriever = by_meaning(store, tmp_path, server)
    assert retriever.refresh() == retriever.refresh()
    assert retriever.rebuild().edges == 1
    assert store.streamed == 2
    sidecar = json.loads((tmp_path / "index" / "vectors.json").read_text(encoding="utf-8"))
    assert sidecar["texts"] == 1
