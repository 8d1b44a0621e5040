"""The chat model behind an OpenAI-compatible endpoint."""

from __future__ import annotations

import hashlib
import json
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from email.utils import parsedate_to_datetime
from functools import cached_property
from typing import TYPE_CHECKING, Any, Literal, TypedDict
from urllib.parse import parse_qsl, unquote, urlsplit, urlunsplit

from pydantic import Field, SecretStr

from deeprefine_graphdb.loop.completion import Unusable, answer_of, sendable, tokens_of
from deeprefine_graphdb.loop.prompts import Stage
from deeprefine_graphdb.loop.trace import CallRecord
from deeprefine_graphdb.model.actions import Frozen
from deeprefine_graphdb.model.errors import ModelError

if TYPE_CHECKING:
    import openai

LONGEST_WAIT = 120.0
_NO_KEY = "not-needed"


class ModelSettings(Frozen):
    """Which models answer, and how patient we are.

    ``url`` is empty for OpenAI's own service; an empty ``key`` with a URL means a local server. ``timeout`` is in
    seconds for one attempt; ``max_retries`` counts repetitions after a failure that may pass.
    """

    url: str = Field(default="", repr=False)
    key: SecretStr = SecretStr("")
    model: str = "gpt-4.1-mini"
    judge_model: str = ""
    refine_model: str = ""
    timeout: float = Field(default=120.0, gt=0)
    max_retries: int = Field(default=5, ge=0)

    def model_for(self, stage: Stage) -> str:
        """Give the model of a stage: the judge's, or that of abduction and refinement."""
        return (self.judge_model if stage == "judgement" else self.refine_model) or self.model

    @property
    def place(self) -> str:
        """The endpoint as it may be shown: without user, password and query."""
        if not self.url:
            return "OpenAI"
        parts = urlsplit(self.url)
        return urlunsplit((parts.scheme, parts.netloc.rpartition("@")[2], parts.path, "", ""))


class Message(TypedDict):
    """One message of a conversation."""

    role: Literal["system", "user", "assistant"]
    content: str


@dataclass(frozen=True)
class Reply:
    """What the model said, and the record of the call."""

    text: str
    call: CallRecord


class CallFailed(ModelError):
    """A request that failed for good, or gave no usable answer; ``call`` is its record."""

    def __init__(self, message: str, call: CallRecord, hint: str = "") -> None:
        super().__init__(message, hint)
        self.call = call


@dataclass(frozen=True)
class _Failure:
    """One failed attempt: what it was, whether it may pass, and how long the server asks to wait (seconds)."""

    reason: str
    passing: bool = False
    wait: float | None = None
    status: int | None = None


class ChatModel:
    """Asks the model of each stage. Safe to share among threads. ``say`` is told why an answer takes long.

    Nothing that it raises or shows holds the key.
    """

    def __init__(
        self,
        settings: ModelSettings,
        sleep: Callable[[float], object] = time.sleep,
        say: Callable[[str], object] = lambda _: None,
    ) -> None:
        self.settings = settings
        self._sleep = sleep
        self._say = say

    def __repr__(self) -> str:
        return f"ChatModel({self.settings.model!r} at {self.settings.place})"

    def complete(self, stage: Stage, messages: Sequence[Message]) -> Reply:
        """Ask once, repeated while the endpoint fails in a way that may pass.

        A Retry-After is honoured up to two minutes. Raises :class:`CallFailed` when it fails for good, when the
        answer is not one that can be used (see :func:`answer_of`).
        """
        if not self.settings.url and not self.settings.key.get_secret_value():
            raise ModelError(
                "There is no model to ask: no key and no endpoint are set.",
                "Set DEEPREFINE_LLM_URL for a local server, or OPENAI_API_KEY.",
            )
        sent = [Message(role=m["role"], content=sendable(m["content"])) for m in messages]
        record = CallRecord(stage=stage, model=self.settings.model_for(stage), prompt_digest=_digest(sent))
        began = time.monotonic()
        for attempt in range(self.settings.max_retries + 1):
            outcome = self._attempt(record.model, sent)
            record = record.model_copy(
                update={"retries": attempt, "seconds": round(time.monotonic() - began, 3), "ts": _now()}
            )
            if not isinstance(outcome, _Failure):
                return self._reply(outcome, record)
            if not outcome.passing or attempt == self.settings.max_retries:
                break
            wait = outcome.wait if outcome.wait is not None else min(0.5 * 2**attempt, 8.0)
            if wait > LONGEST_WAIT:
                break
            self._say(f"{record.model}: {self._shown(outcome.reason)}; trying again in {wait:g} s.")
            self._sleep(wait)
        raise self._failed(outcome.reason, record, _hint(outcome))

    def _reply(self, completion: Any, record: CallRecord) -> Reply:
        tokens_in, tokens_out = tokens_of(completion)
        record = record.model_copy(update={"tokens_in": tokens_in, "tokens_out": tokens_out})
        try:
            return Reply(answer_of(completion), record)
        except Unusable as fault:
            raise self._failed(str(fault), record) from None

    def _attempt(self, model: str, messages: list[Message]) -> Any | _Failure:
        import openai

        try:
            return self._client.chat.completions.create(model=model, messages=messages)  # type: ignore[arg-type]
        except openai.APITimeoutError:
            return _Failure(f"it did not answer within {self.settings.timeout:g} seconds", passing=True)
        except openai.APIConnectionError as error:
            return _Failure(f"it cannot be reached ({error.__cause__ or error})", passing=True)
        except openai.APIStatusError as error:
            return _failed_status(error)
        except (openai.OpenAIError, ValueError, TypeError, AttributeError, RecursionError) as error:
            return _Failure(f"its answer cannot be read ({error})")

    @cached_property
    def _client(self) -> openai.OpenAI:
        import openai

        parts = urlsplit(self.settings.url)
        return openai.OpenAI(
            # Without a key of its own the client would send OPENAI_API_KEY to whatever server this is.
            api_key=self.settings.key.get_secret_value() or _NO_KEY,
            base_url=urlunsplit(parts._replace(query="", fragment="")) or None,
            default_query=dict(parse_qsl(parts.query)) or None,
            timeout=self.settings.timeout,
            max_retries=0,
        )

    def _failed(self, reason: str, record: CallRecord, hint: str = "") -> CallFailed:
        reason = self._shown(reason)
        message = f"The model {record.model} at {self.settings.place} failed at the {record.stage}: {reason}."
        return CallFailed(message, record.model_copy(update={"error": reason}), hint)

    def _shown(self, reason: str) -> str:
        """Give a reason as it may be told and stored: on one line, not too long, and without a key."""
        line = " ".join(self._without_key(reason).split())
        return line[:299] + "…" if len(line) > 300 else line

    def _without_key(self, text: str) -> str:
        parts = urlsplit(self.settings.url)
        values = [value for _, value in parse_qsl(parts.query)]
        for secret in (self.settings.key.get_secret_value(), unquote(parts.password or ""), *values):
            if secret:
                text = text.replace(secret, "***").replace(repr(secret)[1:-1], "***")
        return text


def _failed_status(error: openai.APIStatusError) -> _Failure:
    status = error.status_code
    body = error.body if isinstance(error.body, dict) else {}
    reason = f"status {status}, {body.get('message') or error.response.text or error.message}"
    spent = body.get("code") == "insufficient_quota"
    passing = (status in {408, 409, 429} or status >= 500) and not spent
    return _Failure(reason, passing, _retry_after(error.response.headers), status)


def _retry_after(headers: Any) -> float | None:
    """Give the seconds that a server asks to wait: ``retry-after-ms``, or Retry-After as seconds or a date."""
    for name, unit in (("retry-after-ms", 0.001), ("retry-after", 1.0)):
        try:
            return max(0.0, float(headers.get(name, "")) * unit)
        except ValueError:
            continue
    try:
        until = parsedate_to_datetime(headers.get("retry-after", ""))
    except ValueError:
        return None
    if until.tzinfo is None:
        until = until.replace(tzinfo=UTC)
    return max(0.0, (until - datetime.now(UTC)).total_seconds())


def _hint(failure: _Failure) -> str:
    if failure.status in {401, 403}:
        return "Check DEEPREFINE_LLM_API_KEY (or OPENAI_API_KEY)."
    if failure.status == 404:
        return "Check DEEPREFINE_LLM_URL and DEEPREFINE_MODEL."
    if failure.wait is not None and failure.wait > LONGEST_WAIT:
        return f"The server asks to wait {failure.wait:.0f} seconds; run the command again then."
    return ""


def _digest(messages: Sequence[Message]) -> str:
    text = json.dumps(messages, ensure_ascii=True, sort_keys=True, separators=(",", ":"))
    return hashlib.sha256(text.encode("ascii")).hexdigest()


def _now() -> str:
    return datetime.now(UTC).isoformat(timespec="milliseconds").replace("+00:00", "Z")
