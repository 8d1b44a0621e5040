"""The vector index: what it finds, what it keeps, and that no text is embedded twice."""

from __future__ import annotations

import multiprocessing
import threading
from collections import Counter
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pytest

from deeprefine_graphdb.model.errors import IndexStale, ModelError
from deeprefine_graphdb.retrieval.embed import Embedder
from deeprefine_graphdb.retrieval.vector_file import VectorFile, text_digest
from deeprefine_graphdb.retrieval.vectors import VectorIndex
from tests.support.openai_server import Answer, OpenAIServer, Request, embedding
from tests.unit.retrieval.memory import MemoryStore

DIMENSION = 32
TRIPLES = [(f"n{a}", relation, f"n{b}") for a in range(8) for b in range(8) for relation in ("calls", "uses")]


@pytest.fixture
def server() -> Iterator[OpenAIServer]:
    with OpenAIServer(dimension=DIMENSION) as running:
        yield running


def index_at(folder: Path, server: OpenAIServer, model: str = "m", batch: int = 16) -> VectorIndex:
    return VectorIndex(folder, Embedder(model, server.url, batch=batch, retries=0))


def prepared(index: VectorIndex, store: MemoryStore) -> VectorIndex:
    index.prepare(index.catalogue.refresh(store.open))
    return index


def embedded(server: OpenAIServer) -> Counter[str]:
    return Counter(text for request in server.embeddings for text in request.body["input"])


def by_hand(store: MemoryStore, question: str, limit: int) -> list[str]:
    query = np.array(embedding(question, DIMENSION), np.float32)
    scores = {
        e.key: round(
            float(np.array(embedding(f"{e.src} {e.relation} {e.tgt}", DIMENSION), np.float32) @ query), 6
        )
        for e in store.live()
    }
    return sorted(scores, key=lambda key: (-scores[key], key))[:limit]


@pytest.mark.parametrize("limit", [1, 5, 10, 64, 1000])
def test_faiss_finds_what_comparing_by_hand_finds(tmp_path: Path, server: OpenAIServer, limit: int) -> None:
    store = MemoryStore([*TRIPLES, *TRIPLES[:20]])
    index = prepared(index_at(tmp_path, server), store)
    for question in ("n1 calls n2", "what uses n7", "unrelated words", "calls"):
        assert [hit.key for hit in index.search(question, limit)] == by_hand(store, question, limit)


def test_blocks_of_the_file_make_no_difference(
    tmp_path: Path, server: OpenAIServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    store = MemoryStore(TRIPLES)
    index = prepared(index_at(tmp_path, server), store)
    whole = index.search("n3 calls n5", 12)
    monkeypatch.setattr("deeprefine_graphdb.retrieval.vector_file.BLOCK_BYTES", 5 * DIMENSION * 4)
    assert index.search("n3 calls n5", 12) == whole


def test_no_text_is_embedded_twice_whatever_is_built(tmp_path: Path, server: OpenAIServer) -> None:
    store = MemoryStore([*TRIPLES, *TRIPLES])
    index = prepared(index_at(tmp_path, server), store)
    index.search("what calls n1", 3)
    again = index_at(tmp_path, server)
    again.prepare(again.catalogue.refresh(store.open, rebuild=True), rebuild=True)
    again.search("what calls n1", 3)
    key = store.add("n1", "calls", "fresh", added_by="r.1")
    store.revision += 1
    prepared(again, store)
    store.retire(key)
    store.revision += 1
    third = prepared(index_at(tmp_path, server), store)
    third.search("what calls n1", 3)
    counts = embedded(server)
    assert set(counts.values()) == {1}
    assert len(counts) == len(TRIPLES) + 2


def test_an_interrupted_build_keeps_what_was_paid_for(tmp_path: Path, server: OpenAIServer) -> None:
    store = MemoryStore(TRIPLES)
    server.embed = lambda request: Answer(status=400, message="quota") if len(server.embeddings) > 3 else None
    with pytest.raises(ModelError):
        prepared(index_at(tmp_path, server, batch=16), store)
    paid = Counter(text for request in server.embeddings[:3] for text in request.body["input"])
    assert len(paid) == 48
    server.embed = None
    server.requests.clear()
    prepared(index_at(tmp_path, server, batch=16), store)
    assert not paid.keys() & embedded(server).keys()
    assert len(embedded(server)) == len(TRIPLES) - 48


def test_torn_ends_of_the_files_are_cut_off(tmp_path: Path) -> None:
    file = VectorFile(tmp_path / "v", 4)
    file.append([text_digest("a"), text_digest("b")], np.eye(4, dtype=np.float32)[:2])
    with (tmp_path / "v.f32").open("ab") as stream:
        stream.write(b"\1" * 19)
    with (tmp_path / "v.sha256").open("ab") as stream:
        stream.write(b"\2" * 5)
    file = VectorFile(tmp_path / "v", 4)
    assert file.rows() == {text_digest("a"): 0, text_digest("b"): 1}
    file.append([text_digest("c")], np.eye(4, dtype=np.float32)[2:3])
    assert file.rows()[text_digest("c")] == 2
    np.testing.assert_array_equal(file.take([2, 0]), np.eye(4, dtype=np.float32)[[2, 0]])
    assert [len(block) for _, block in file.blocks()] == [3]


def test_a_vector_without_its_digest_is_written_over(tmp_path: Path) -> None:
    file = VectorFile(tmp_path / "v", 4)
    file.append([text_digest("a")], np.eye(4, dtype=np.float32)[:1])
    with (tmp_path / "v.f32").open("ab") as stream:
        stream.write(np.full(4, 7, np.float32).tobytes())
    file.append([text_digest("b")], np.eye(4, dtype=np.float32)[1:2])
    np.testing.assert_array_equal(file.take([1]), np.eye(4, dtype=np.float32)[1:2])


def test_the_sidecar_names_model_dimension_revision_and_digest(tmp_path: Path, server: OpenAIServer) -> None:
    store = MemoryStore(TRIPLES)
    store.revision = 4
    said = prepared(index_at(tmp_path, server, model="some/model"), store).sidecar()
    assert said is not None
    assert (said.model, said.dimension, said.revision, said.digest) == ("some/model", DIMENSION, 4, "base")
    assert (said.edges, said.texts) == (len(TRIPLES), len(TRIPLES))
    assert tmp_path.joinpath(f"{said.file}.f32").stat().st_size == len(TRIPLES) * DIMENSION * 4


def test_another_model_is_refused_until_the_index_is_rebuilt(tmp_path: Path, server: OpenAIServer) -> None:
    store = MemoryStore(TRIPLES[:4])
    prepared(index_at(tmp_path, server, model="one"), store)
    other = index_at(tmp_path, server, model="two")
    with pytest.raises(IndexStale, match=r"the embedding model one, and two is set.*index --rebuild"):
        prepared(other, store)
    other.prepare(other.catalogue.refresh(store.open), rebuild=True)
    assert other.search("n0 calls n1", 1)
    with pytest.raises(IndexStale):
        index_at(tmp_path, server, model="one").warm("a question")


def test_going_back_to_a_former_model_costs_nothing(tmp_path: Path, server: OpenAIServer) -> None:
    store = MemoryStore(TRIPLES[:4])
    for model in ("one", "two", "one"):
        index = index_at(tmp_path, server, model=model)
        index.prepare(index.catalogue.refresh(store.open), rebuild=True)
    assert Counter(r.body["model"] for r in server.embeddings) == {"one": 1, "two": 1}


def test_another_dimension_is_refused_until_the_index_is_rebuilt(
    tmp_path: Path, server: OpenAIServer
) -> None:
    store = MemoryStore(TRIPLES[:4])
    prepared(index_at(tmp_path, server), store)
    server.dimension = 8
    index = prepared(index_at(tmp_path, server), store)
    with pytest.raises(IndexStale, match=r"m gives 8 dimensions, not the 32 of .*index --rebuild"):
        index.search("a new question", 1)
    index.prepare(index.catalogue.refresh(store.open), rebuild=True)
    assert index.search("n0 calls n1", 1)
    said = index.sidecar()
    assert said is not None
    assert said.dimension == 8


def test_the_dimension_may_change_in_the_middle_of_a_rebuild(tmp_path: Path, server: OpenAIServer) -> None:
    store = MemoryStore(TRIPLES[:4])
    prepared(index_at(tmp_path, server), store)
    store.add("new", "calls", "edge", added_by="r.1")
    store.revision += 1
    server.dimension = 8
    index = index_at(tmp_path, server)
    index.prepare(index.catalogue.refresh(store.open), rebuild=True)
    assert [hit.target for hit in index.search("new calls edge", 1)] == ["edge"]
    assert max(embedded(server).values()) == 2


def test_given_texts_are_scored_like_found_edges(tmp_path: Path, server: OpenAIServer) -> None:
    store = MemoryStore(TRIPLES)
    index = prepared(index_at(tmp_path, server), store)
    hits = index.search("n1 calls n2", 10)
    scores = index.scores("n1 calls n2", {hit.key: hit.text for hit in hits})
    assert scores == pytest.approx({hit.key: hit.score for hit in hits}, abs=2e-6)
    assert index.knows(["n1 calls n2"])
    assert not index.knows(["never seen"])


def test_a_graph_without_edges_finds_nothing(tmp_path: Path, server: OpenAIServer) -> None:
    assert prepared(index_at(tmp_path, server), MemoryStore()).search("anything", 5) == []


def test_nothing_is_pickled(tmp_path: Path, server: OpenAIServer) -> None:
    prepared(index_at(tmp_path, server), MemoryStore(TRIPLES[:4]))
    assert {path.suffix for path in tmp_path.iterdir()} == {".json", ".sqlite", ".f32", ".sha256", ".lock"}


def test_threads_that_build_at_once_embed_each_text_once(tmp_path: Path, server: OpenAIServer) -> None:
    store = MemoryStore(TRIPLES)
    stamp = index_at(tmp_path, server).catalogue.refresh(store.open)
    shared = index_at(tmp_path, server)
    threads = [threading.Thread(target=shared.prepare, args=(stamp,)) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert set(embedded(server).values()) == {1}


def _build(folder: str, url: str) -> None:
    index = VectorIndex(Path(folder), Embedder("m", url, batch=16))
    index.prepare(index.catalogue.stamp())


@pytest.mark.slow
def test_processes_that_build_at_once_embed_each_text_once(tmp_path: Path, server: OpenAIServer) -> None:
    store = MemoryStore(TRIPLES)
    index_at(tmp_path, server).catalogue.refresh(store.open)

    def slowly(request: Request) -> Answer | None:
        threading.Event().wait(0.05)
        return None

    server.embed = slowly
    context = multiprocessing.get_context("spawn")
    processes = [context.Process(target=_build, args=(str(tmp_path), server.url)) for _ in range(2)]
    for process in processes:
        process.start()
    for process in processes:
        process.join(60)
    assert [process.exitcode for process in processes] == [0, 0]
    counts = embedded(server)
    assert set(counts.values()) == {1}
    assert len(counts) == len(TRIPLES)
