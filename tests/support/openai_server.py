"""A small local server that speaks the OpenAI protocol, so that tests go through the real client over HTTP.

with OpenAIServer(in_order("<judge>No</judge>", Answer(status=429, headers={"Retry-After": "0"}))) as server:
    ... server.url, server.requests, server.chats ...
"""

from __future__ import annotations

import contextlib
import hashlib
import json
import math
import re
import threading
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from types import TracebackType
from typing import Any, Self


@dataclass(frozen=True)
class Answer:
    """One answer of the server.

    ``body`` replaces what would be made from the other fields; ``usage`` says whether tokens are told; ``drop``
    closes the connection without a word; ``delay`` is in seconds.
    """

    text: str | None = ""
    status: int = 200
    headers: Mapping[str, str] = field(default_factory=dict)
    finish_reason: str = "stop"
    tokens_in: int = 11
    tokens_out: int = 7
    usage: bool = True
    body: str | None = None
    message: str = "scripted error"
    code: str | None = None
    delay: float = 0.0
    drop: bool = False


@dataclass(frozen=True)
class Request:
    """A request as it arrived."""

    path: str
    headers: Mapping[str, str]
    body: dict[str, Any]

    @property
    def resource(self) -> str:
        """The last part of the path: ``completions`` or ``embeddings``."""
        return self.path.partition("?")[0].rpartition("/")[2]

    @property
    def messages(self) -> list[dict[str, str]]:
        """The messages of a chat request."""
        return list(self.body.get("messages", []))

    @property
    def stage(self) -> str:
        """Which prompt of the loop this is, by its system message."""
        system = self.messages[0]["content"]
        for stage in ("judgement", "abduction", "refinement"):
            if f"{stage} assistant" in system:
                return stage
        return ""

    @property
    def user(self) -> str:
        """The first user message."""
        return next(message["content"] for message in self.messages if message["role"] == "user")


Responder = Callable[[Request], Answer | str]


def in_order(*answers: Answer | str) -> Responder:
    """Answer the chat requests with these, one after another; one request too many is a 400."""
    left = iter(answers)
    lock = threading.Lock()

    def respond(request: Request) -> Answer | str:
        with lock:
            return next(left, Answer(status=400, message=f"no answer is scripted for {request.stage}"))

    return respond


def by_stage(
    judgement: list[str | Answer],
    abduction: str | Answer = "<abduction>a fact is missing</abduction>",
    refinement: str | Answer = '<refinement>insert_edge("a", "calls", "b")</refinement>',
) -> Responder:
    """Answer judgements in order (the last one for ever), abduction and refinement always alike."""
    left = list(judgement)

    def respond(request: Request) -> Answer | str:
        if request.stage == "judgement":
            return left.pop(0) if len(left) > 1 else left[0]
        return abduction if request.stage == "abduction" else refinement

    return respond


def embedding(text: str, dimension: int) -> list[float]:
    """Embed a text as a normalised bag of hashed words: texts that share words are near each other."""
    vector = [0.0] * dimension
    for word in re.findall(r"\w+", text.lower()):
        digest = hashlib.sha256(word.encode("utf-8")).digest()
        vector[int.from_bytes(digest[:4], "big") % dimension] += 1.0
    length = math.sqrt(sum(value * value for value in vector))
    return [value / length for value in vector] if length else [1.0, *vector[1:]]


class OpenAIServer:
    """Serves ``/v1/chat/completions`` from a responder, and ``/v1/embeddings`` from hashed words.

    ``embed`` may give an :class:`Answer` to fail an embedding request, or ``None`` to let it pass.
    """

    def __init__(
        self,
        respond: Responder | None = None,
        *,
        dimension: int = 64,
        embed: Callable[[Request], Answer | None] | None = None,
    ) -> None:
        self.respond: Responder = respond or in_order()
        self.embed = embed
        self.dimension = dimension
        self.requests: list[Request] = []
        self.most_at_once = 0
        self._at_once = 0
        self._lock = threading.Lock()
        self._server = ThreadingHTTPServer(("127.0.0.1", 0), _handler(self))
        self._server.daemon_threads = True
        self._thread = threading.Thread(target=self._server.serve_forever, args=(0.02,), daemon=True)

    @property
    def url(self) -> str:
        """The base URL, as DEEPREFINE_LLM_URL takes it."""
        return f"http://127.0.0.1:{self._server.server_address[1]}/v1"

    @property
    def chats(self) -> list[Request]:
        """The chat requests, in order."""
        return [request for request in self.requests if request.resource == "completions"]

    @property
    def embeddings(self) -> list[Request]:
        """The embedding requests, in order."""
        return [request for request in self.requests if request.resource == "embeddings"]

    @property
    def stages(self) -> list[str]:
        """The stages of the chat requests, in order."""
        return [request.stage for request in self.chats]

    def __enter__(self) -> Self:
        self._thread.start()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._server.shutdown()
        self._server.server_close()

    def answer(self, request: Request) -> Answer:
        """Record a request and decide what it gets."""
        with self._lock:
            self.requests.append(request)
            self._at_once += 1
            self.most_at_once = max(self.most_at_once, self._at_once)
        try:
            return self._decide(request)
        finally:
            with self._lock:
                self._at_once -= 1

    def _decide(self, request: Request) -> Answer:
        if request.resource == "completions":
            scripted = self.respond(request)
            answer = Answer(scripted) if isinstance(scripted, str) else scripted
            time.sleep(answer.delay)
            return answer
        if request.resource == "embeddings":
            failure = self.embed(request) if self.embed else None
            return failure or Answer(body=json.dumps(self._embedded(request)))
        return Answer(status=404, message=f"nothing is served at {request.path}")

    def _embedded(self, request: Request) -> dict[str, Any]:
        given = request.body["input"]
        texts = [given] if isinstance(given, str) else given
        rows = [
            {"object": "embedding", "index": place, "embedding": embedding(text, self.dimension)}
            for place, text in enumerate(texts)
        ]
        tokens = sum(len(text.split()) for text in texts)
        return {
            "object": "list",
            "model": request.body.get("model", ""),
            "data": rows,
            "usage": {"prompt_tokens": tokens, "total_tokens": tokens},
        }


def rendered(answer: Answer, model: str) -> str:
    """Give the JSON text of an answer."""
    if answer.body is not None:
        return answer.body
    if answer.status >= 400:
        return json.dumps({"error": {"message": answer.message, "type": "scripted", "code": answer.code}})
    completion: dict[str, Any] = {
        "id": "chatcmpl-1",
        "object": "chat.completion",
        "created": 1,
        "model": model,
        "choices": [
            {
                "index": 0,
                "finish_reason": answer.finish_reason,
                "message": {"role": "assistant", "content": answer.text},
            }
        ],
    }
    if answer.usage:
        total = answer.tokens_in + answer.tokens_out
        completion["usage"] = {
            "prompt_tokens": answer.tokens_in,
            "completion_tokens": answer.tokens_out,
            "total_tokens": total,
        }
    return json.dumps(completion)


def _handler(server: OpenAIServer) -> type[BaseHTTPRequestHandler]:
    class Handler(BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"

        def do_POST(self) -> None:
            length = int(self.headers.get("Content-Length", "0"))
            body = json.loads(self.rfile.read(length) or b"{}")
            headers = {name.lower(): value for name, value in self.headers.items()}
            answer = server.answer(Request(self.path, headers, body))
            if answer.drop:
                self.close_connection = True
                return
            data = rendered(answer, body.get("model", "")).encode("utf-8")
            self.send_response(answer.status)
            for name, value in {"Content-Type": "application/json", **answer.headers}.items():
                self.send_header(name, value)
            self.send_header("Content-Length", str(len(data)))
            with contextlib.suppress(ConnectionError):  # a client that timed out has gone
                self.end_headers()
                self.wfile.write(data)

        def log_message(self, format: str, *args: Any) -> None:
            """Keep the tests' output clean."""

    return Handler
