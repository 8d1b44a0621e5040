"""Retrieval on the graph as it would be equals retrieval after it has become so, and leaves nothing behind."""

from __future__ import annotations

import hashlib
import tempfile
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from deeprefine_graphdb.graph.overlay import Overlay
from deeprefine_graphdb.graph.view import GraphView
from deeprefine_graphdb.model.errors import ModelError
from deeprefine_graphdb.retrieval import overlaid_vectors
from deeprefine_graphdb.retrieval.embed import Embedder
from deeprefine_graphdb.retrieval.lexical import LexicalIndex
from deeprefine_graphdb.retrieval.overlaid import OverlaidRetriever
from deeprefine_graphdb.retrieval.protocol import Retriever
from deeprefine_graphdb.retrieval.ranking import EdgeIndex
from deeprefine_graphdb.retrieval.retriever import StoreRetriever
from deeprefine_graphdb.retrieval.vectors import VectorIndex
from deeprefine_graphdb.stores.protocol import GraphStore
from tests.support.openai_server import Answer, OpenAIServer, Request
from tests.unit.retrieval.memory import MemoryStore, edge, entity

NODES = ["alpha", "betaGamma", "gamma_delta", "delta", "epsilon()"]
LABELS = st.sampled_from([*NODES, "zeta", "getAlpha"])
ENDS = st.sampled_from(NODES)
RELATIONS = st.sampled_from(["calls", "uses"])
TRIPLES = st.tuples(ENDS, RELATIONS, ENDS)
QUESTIONS = st.sampled_from(["who calls alpha?", "gamma uses zeta", "get delta", "nothing like it"])
CHANGES = st.lists(
    st.one_of(
        st.tuples(st.just("add"), TRIPLES),
        st.tuples(st.just("retire"), st.integers(0, 30)),
        st.tuples(st.just("rename"), st.tuples(ENDS, LABELS)),
    ),
    max_size=6,
)


class Change:
    """Rows to lay over a store, or to write into it."""

    def __init__(self, store: MemoryStore, changes: list[tuple[str, Any]]) -> None:
        self.view = GraphView(store)  # type: ignore[arg-type]
        with store.open():
            for number, (kind, what) in enumerate(changes, start=1):
                self._put(store, kind, what, f"r.{number}")
        self.overlay: Overlay = self.view.overlay

    def _put(self, store: MemoryStore, kind: str, what: Any, by: str) -> None:
        if kind == "add":
            row = edge(*what)
            if not self.view.edges_between(row.src, row.tgt):
                self.view.put(row.model_copy(update={"added_by": by, "raw": "{}"}), "added")
        elif kind == "retire":
            keys = sorted(store.edges)
            gone = keys[what % len(keys)] if keys else ""
            if gone and gone not in self.view.overlay.edges:
                self.view.put(store.edges[gone].model_copy(update={"retired_by": by}), "removed")
        else:
            node, label = what
            self.view.put(store.entities[node].model_copy(update={"label": label, "raw": "{}"}), "changed")

    def lay(self, store: GraphStore) -> GraphView:
        return GraphView(store, self.overlay)

    def write(self, store: MemoryStore) -> None:
        store.entities.update(self.overlay.entities)
        store.edges.update(self.overlay.edges)
        store.revision += 1


def files(folder: Path) -> dict[str, str]:
    return {
        str(path.relative_to(folder)): hashlib.sha256(path.read_bytes()).hexdigest()
        for path in folder.rglob("*")
        if path.is_file()
    }


def asked(retriever: Retriever, question: str, limit: int) -> list[list[str]]:
    """Give what the first search and the two hops after it show."""
    found = retriever.first(question, limit)
    shown = [[triple.line() for triple in found.triples]]
    for hops in (1, 2):
        ends = [end for triple in found.triples for end in (triple.subject_id, triple.object_id)]
        found = retriever.expand(question, ends, hops, limit)
        shown.append([triple.line() for triple in found.triples])
    return shown


@pytest.fixture(scope="module")
def server() -> Iterator[OpenAIServer]:
    with OpenAIServer(dimension=32) as running:
        yield running


def holds(
    index: EdgeIndex,
    folder: Path,
    triples: list[tuple[str, str, str]],
    before: list[tuple[str, Any]],
    changes: list[tuple[str, Any]],
    question: str,
    limit: int,
    requests: Callable[[], int] = lambda: 0,
) -> None:
    store = MemoryStore(triples, [entity(node) for node in NODES])
    StoreRetriever(store.open, index, folder).first(question, limit)
    # Refinements that the index has not heard of yet lie beneath as well.
    if before:
        Change(store, before).write(store)
    change = Change(store, changes)
    there, sent = files(folder), requests()
    would = asked(OverlaidRetriever(store.open, index, folder, change.lay), question, limit)
    assert files(folder) == there
    assert requests() <= sent + 1
    change.write(store)
    assert would == asked(StoreRetriever(store.open, index, folder), question, limit)


@settings(max_examples=60, deadline=None)
@given(st.lists(TRIPLES, max_size=15), CHANGES, CHANGES, QUESTIONS, st.integers(1, 12))
def test_by_words_it_is_what_is_found_once_the_changes_are_written(
    triples: list[tuple[str, str, str]],
    before: list[tuple[str, Any]],
    changes: list[tuple[str, Any]],
    question: str,
    limit: int,
) -> None:
    with tempfile.TemporaryDirectory() as folder:
        holds(LexicalIndex(Path(folder)), Path(folder), triples, before, changes, question, limit)


@settings(max_examples=15, deadline=None)
@given(st.lists(TRIPLES, max_size=15), CHANGES, CHANGES, QUESTIONS, st.integers(1, 12))
def test_by_meaning_too_and_in_one_request_at_most(
    server: OpenAIServer,
    triples: list[tuple[str, str, str]],
    before: list[tuple[str, Any]],
    changes: list[tuple[str, Any]],
    question: str,
    limit: int,
) -> None:
    with tempfile.TemporaryDirectory() as folder:
        embedder = Embedder("m", server.url, retries=0)
        index = VectorIndex(Path(folder), embedder)
        holds(index, Path(folder), triples, before, changes, question, limit, lambda: embedder.calls)


def hub(folder: Path, server: OpenAIServer, leaves: int) -> tuple[MemoryStore, VectorIndex]:
    store = MemoryStore([("hub", "calls", f"leaf{n}") for n in range(leaves)])
    index = VectorIndex(folder, Embedder("m", server.url, retries=0))
    StoreRetriever(store.open, index, folder).first("what?", 1)
    server.requests.clear()
    return store, index


def test_the_texts_of_a_renamed_hub_are_embedded_in_one_request_and_the_rest_goes_by_what_it_said(
    tmp_path: Path, server: OpenAIServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(overlaid_vectors, "BATCH", 4)
    store, index = hub(tmp_path, server, 10)
    change = Change(store, [("rename", ("hub", "core"))])
    retriever = OverlaidRetriever(store.open, index, tmp_path, change.lay)
    found = retriever.first("which core has leaf7?", 10)
    retriever.expand("which core has leaf7?", ["hub"], 1, 10)
    assert found.triples[0].line() == "core | calls | leaf7"
    assert len(found.triples) == 10
    assert {triple.subject for triple in found.triples} == {"core"}
    (request,) = server.embeddings
    assert request.body["input"] == ["which core has leaf7?", "core calls leaf7", *request.body["input"][2:]]
    assert len(request.body["input"]) == 4


def test_the_store_is_closed_while_a_model_is_asked(tmp_path: Path, server: OpenAIServer) -> None:
    store, index = hub(tmp_path, server, 3)
    change = Change(store, [("rename", ("hub", "core"))])
    seen: list[bool] = []

    def watch(request: Request) -> Answer | None:
        seen.append(store.is_open)
        return None

    server.embed = watch
    try:
        OverlaidRetriever(store.open, index, tmp_path, change.lay).first("another question", 2)
    finally:
        server.embed = None
    assert seen == [False]


def test_a_refinement_that_comes_in_between_lies_beneath_from_then_on(
    tmp_path: Path, server: OpenAIServer
) -> None:
    store, index = hub(tmp_path, server, 3)
    change = Change(store, [("rename", ("hub", "core"))])
    retriever = OverlaidRetriever(store.open, index, tmp_path, change.lay)
    assert len(retriever.first("hub", 9).triples) == 3
    store.retire(store.live()[0].key)
    store.revision += 1
    assert len(retriever.expand("hub", ["hub"], 1, 9).triples) == 2
    assert len(retriever.first("hub", 9).triples) == 2
    assert len(server.embeddings) <= 1


def test_a_failing_endpoint_fails_the_retrieval_and_keeps_nothing(
    tmp_path: Path, server: OpenAIServer
) -> None:
    store, index = hub(tmp_path, server, 3)
    change = Change(store, [("rename", ("hub", "core"))])
    there = files(tmp_path)
    server.embed = lambda _: Answer(status=400, message="no such model")
    try:
        with pytest.raises(ModelError, match="no such model"):
            OverlaidRetriever(store.open, index, tmp_path, change.lay).first("another", 2)
    finally:
        server.embed = None
    assert files(tmp_path) == there
