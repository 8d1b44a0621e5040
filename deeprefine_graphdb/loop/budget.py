"""How much a run may spend on models, counted across threads."""

from __future__ import annotations

import threading

from deeprefine_graphdb.loop.trace import CallRecord
from deeprefine_graphdb.model.errors import LimitReached


class Budget:
    """The limits of one run: ``max_calls`` requests and ``max_tokens`` tokens sent and received, ``None`` for no limit.

    Only what this run requests counts, so a run that stopped at its limit can be repeated with the same limit. Requests
    that are under way when the tokens run out are finished, so the last of them may go beyond.
    """

    def __init__(self, max_calls: int | None = None, max_tokens: int | None = None) -> None:
        self.max_calls = max_calls
        self.max_tokens = max_tokens
        self.calls = 0
        self.tokens = 0
        self._stopped = ""
        self._lock = threading.Lock()

    def check(self) -> None:
        """Raise :class:`LimitReached` when no further request may be made."""
        with self._lock:
            self._check()

    def start(self) -> None:
        """Count a request that is about to be made. Raises :class:`LimitReached` when there may be none."""
        with self._lock:
            self._check()
            self.calls += 1

    def spend(self, call: CallRecord, characters: int) -> None:
        """Count the tokens of a request; of an endpoint that does not say, a quarter of the characters."""
        tokens = call.tokens_in + call.tokens_out
        with self._lock:
            self.tokens += tokens or characters // 4

    def stop(self, reason: str) -> None:
        """Let no further request be made."""
        with self._lock:
            self._stopped = reason

    def _check(self) -> None:
        again = "Run the command again to go on from there."
        if self._stopped:
            raise LimitReached(self._stopped, again)
        if self.max_calls is not None and self.calls >= self.max_calls:
            raise LimitReached(f"The limit of --max-calls ({self.max_calls}) is reached.", again)
        if self.max_tokens is not None and self.tokens >= self.max_tokens:
            raise LimitReached(f"The limit of --max-tokens ({self.max_tokens}) is reached.", again)
