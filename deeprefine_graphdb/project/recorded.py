"""A chat endpoint on this machine that plays recorded answers back, over real HTTP to the real client."""

from __future__ import annotations

import json
import threading
from collections import defaultdict
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from importlib import resources
from typing import Any, get_args

from deeprefine_graphdb.loop.prompts import Stage, prompt
from deeprefine_graphdb.model.actions import Frozen

MODEL = "recorded-answers"
CHARACTERS_PER_TOKEN = 4
UNPROCESSABLE = 422


class Recording(Frozen):
    """One recorded answer. ``expects`` are texts that the prompt must hold for the answer to fit it."""

    stage: Stage
    question: str
    expects: tuple[str, ...] = ()
    answer: str


class RecordedSession:
    """The recordings, each played once: the n-th of a question and stage answers the n-th prompt of these."""

    def __init__(self, recordings: Sequence[Recording]) -> None:
        self._left: dict[tuple[str, str], list[Recording]] = defaultdict(list)
        self._lock = threading.Lock()
        for recording in recordings:
            self._left[recording.stage, recording.question].append(recording)

    @classmethod
    def of_demo(cls) -> RecordedSession:
        """Give the session that comes with the program."""
        text = (resources.files("deeprefine_graphdb") / "demo" / "session.json").read_text(encoding="utf-8")
        return cls([Recording.model_validate(each) for each in json.loads(text)["answers"]])

    def answer(self, messages: Sequence[dict[str, str]]) -> str:
        """Give the answer for a prompt. Raises ``LookupError`` when none was recorded for it, or it does not fit."""
        stage = _stage(messages[0]["content"])
        user = messages[-1]["content"]
        with self._lock:
            key = next((key for key in self._left if key[0] == stage and key[1] in user), None)
            if key is None:
                raise LookupError(f"no answer was recorded for this {stage} prompt: {user[:200]}")
            if not self._left[key]:
                raise LookupError(f"all answers recorded for the {stage} of {key[1]!r} have been given")
            recording = self._left[key][0]
            missing = [text for text in recording.expects if text not in user]
            if missing:
                raise LookupError(
                    f"the {stage} prompt of {key[1]!r} lacks {missing[0]!r}, so the recording is not its"
                )
            return self._left[key].pop(0).answer

    def left(self) -> int:
        """Count the answers that nothing has asked for yet."""
        return sum(len(recordings) for recordings in self._left.values())


@contextmanager
def serving(session: RecordedSession) -> Iterator[str]:
    """Serve a session on a free port of 127.0.0.1 until the block ends; give the URL of the endpoint."""

    class Handler(_Handler):
        recorded = session

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    thread = threading.Thread(target=server.serve_forever, daemon=True)
    thread.start()
    try:
        yield f"http://127.0.0.1:{server.server_port}/v1"
    finally:
        server.shutdown()
        server.server_close()
        thread.join()


class _Handler(BaseHTTPRequestHandler):
    recorded: RecordedSession

    def do_POST(self) -> None:
        body = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
        try:
            text = self.recorded.answer(body["messages"])
        except LookupError as error:
            self._send(UNPROCESSABLE, {"error": {"message": str(error.args[0]), "type": "no_recording"}})
            return
        sent = sum(len(message["content"]) for message in body["messages"]) // CHARACTERS_PER_TOKEN
        received = len(text) // CHARACTERS_PER_TOKEN
        self._send(
            200,
            {
                "id": "recorded",
                "object": "chat.completion",
                "created": 0,
                "model": body["model"],
                "choices": [
                    {"index": 0, "finish_reason": "stop", "message": {"role": "assistant", "content": text}}
                ],
                "usage": {
                    "prompt_tokens": sent,
                    "completion_tokens": received,
                    "total_tokens": sent + received,
                },
            },
        )

    def _send(self, status: int, record: dict[str, Any]) -> None:
        data = json.dumps(record).encode("utf-8")
        self.send_response(status)
        self.send_header("Content-Type", "application/json")
        self.send_header("Content-Length", str(len(data)))
        self.end_headers()
        self.wfile.write(data)

    def log_message(self, format: str, *args: object) -> None:
        """Say nothing; the demo tells what happens."""


def _stage(system: str) -> Stage:
    for stage in get_args(Stage):
        if system == prompt(stage, "system"):
            found: Stage = stage
            return found
    raise LookupError(f"this is none of the loop's prompts: {system[:80]}")
