"""The client of embedding endpoints, over HTTP to a local server."""

from __future__ import annotations

import base64
import json
from collections.abc import Iterator

import numpy as np
import pytest

from deeprefine_graphdb.model.errors import ModelError
from deeprefine_graphdb.retrieval.embed import Embedder
from tests.support.openai_server import Answer, OpenAIServer, Request, embedding

SECRET = "sk-test-0123456789abcdef"


@pytest.fixture
def server() -> Iterator[OpenAIServer]:
    with OpenAIServer(dimension=16) as running:
        yield running


def inputs(server: OpenAIServer) -> list[list[str]]:
    return [request.body["input"] for request in server.embeddings]


def test_texts_are_sent_in_batches_and_come_back_in_order(server: OpenAIServer) -> None:
    embedder = Embedder("m", server.url, batch=3)
    texts = [f"text number {n}" for n in range(8)]
    vectors = embedder.embed(texts)
    assert [len(batch) for batch in inputs(server)] == [3, 3, 2]
    np.testing.assert_allclose(vectors, np.array([embedding(text, 16) for text in texts]), atol=1e-6)
    np.testing.assert_allclose(np.linalg.norm(vectors, axis=1), 1, atol=1e-6)
    assert (embedder.calls, embedder.tokens) == (3, 24)
    assert embedder.seconds > 0


def test_rows_out_of_order_are_put_in_order(server: OpenAIServer) -> None:
    def shuffled(request: Request) -> Answer:
        rows = [{"object": "embedding", "index": n, "embedding": [float(n + 1), 1.0]} for n in (1, 0)]
        return Answer(body=json.dumps({"object": "list", "model": "m", "data": rows, "usage": None}))

    server.embed = shuffled
    vectors = Embedder("m", server.url).embed(["a", "b"])
    assert vectors[0][0] < vectors[1][0]


def test_numbers_in_base64_are_read_too(server: OpenAIServer) -> None:
    def packed(request: Request) -> Answer:
        data = base64.b64encode(np.array([3, 4], "<f4").tobytes()).decode("ascii")
        rows = [{"object": "embedding", "index": 0, "embedding": data}]
        usage = {"prompt_tokens": 1, "total_tokens": "many"}
        return Answer(body=json.dumps({"object": "list", "model": "m", "data": rows, "usage": usage}))

    server.embed = packed
    embedder = Embedder("m", server.url)
    np.testing.assert_allclose(embedder.embed(["a"]), [[0.6, 0.8]], atol=1e-6)
    assert embedder.tokens == 0


def test_a_local_server_needs_no_key(server: OpenAIServer, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("OPENAI_API_KEY", SECRET)
    Embedder("m", server.url).embed(["a"])
    assert SECRET not in str(server.embeddings[0].headers)


def test_the_key_is_sent_as_bearer(server: OpenAIServer) -> None:
    Embedder("m", server.url, SECRET).embed(["a"])
    assert server.embeddings[0].headers["authorization"] == f"Bearer {SECRET}"


@pytest.mark.parametrize(
    "failure",
    [
        Answer(status=429, headers={"Retry-After": "0"}),
        Answer(status=500),
        Answer(status=503),
        Answer(drop=True),
    ],
)
def test_a_passing_failure_is_tried_again(server: OpenAIServer, failure: Answer) -> None:
    left = [failure]
    server.embed = lambda request: left.pop() if left else None
    assert Embedder("m", server.url).embed(["a"]).shape == (1, 16)
    assert len(server.embeddings) == 2


def test_a_lasting_failure_is_one_sentence_without_the_key(server: OpenAIServer) -> None:
    server.embed = lambda request: Answer(status=401, message=f"bad key {SECRET} or sk-other-987654321")
    url = server.url.replace("http://", "http://user:hidden@")
    with pytest.raises(ModelError) as caught:
        Embedder("some-model", url, SECRET, retries=0).embed(["a"])
    said = str(caught.value)
    assert caught.value.exit_code == 6
    assert "401" in said
    assert "some-model" in said
    assert "127.0.0.1" in said
    for secret in (SECRET, "987654321", "hidden"):
        assert secret not in said
    assert caught.value.__suppress_context__


def test_an_unreachable_endpoint_is_named() -> None:
    with pytest.raises(ModelError, match=r"http://127\.0\.0\.1:9/v1 \(model m\) cannot be reached"):
        Embedder("m", "http://127.0.0.1:9/v1", SECRET, retries=0).embed(["a"])


def test_a_batch_that_is_too_large_is_halved(server: OpenAIServer) -> None:
    def small_only(request: Request) -> Answer | None:
        return Answer(status=413, message="too many inputs") if len(request.body["input"]) > 2 else None

    server.embed = small_only
    assert Embedder("m", server.url, batch=8).embed([f"t{n}" for n in range(8)]).shape == (8, 16)
    assert [len(batch) for batch in inputs(server)] == [8, 4, 2, 2, 2, 2]


@pytest.mark.parametrize(
    "data",
    [
        [],
        [{"object": "embedding", "index": 0, "embedding": []}],
        [{"object": "embedding", "index": 0, "embedding": [1.0, 2.0]}] * 2,
        [{"object": "embedding", "index": 0, "embedding": [1e999]}],
        "no list",
    ],
)
def test_an_answer_that_makes_no_sense_is_a_model_error(server: OpenAIServer, data: object) -> None:
    body = json.dumps({"object": "list", "model": "m", "data": data, "usage": {"total_tokens": 1}})
    server.embed = lambda request: Answer(body=body)
    with pytest.raises(ModelError):
        Embedder("m", server.url, retries=0).embed(["a"])


def test_long_and_blank_texts_are_sent_as_the_endpoint_can_take_them(server: OpenAIServer) -> None:
    Embedder("m", server.url).embed(["x" * 100_000, "  "])
    assert [len(text) for text in inputs(server)[0]] == [6_000, 1]


def test_nothing_to_embed_makes_no_request(server: OpenAIServer) -> None:
    assert Embedder("m", server.url).embed([]).shape[0] == 0
    assert server.requests == []
