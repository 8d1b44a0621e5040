"""What a chat completion says. The client makes one of whatever JSON a server sends, so nothing in it is certain."""

from __future__ import annotations

from typing import Any

from deeprefine_graphdb.grammar import strip_thinking
from deeprefine_graphdb.model.counts import counted

# Beyond what any model writes; a store takes it.
LONGEST_ANSWER = 1_000_000


class Unusable(ValueError):
    """A completion that cannot be taken as an answer; its text is the reason, as in "its answer is empty"."""


def answer_of(completion: Any) -> str:
    """Give the text of a completion's first choice, with half characters mended.

    A list of parts is joined, those that are no text (thoughts) left out. Raises :class:`Unusable` when there is none,
    when it is empty apart from thoughts, longer than any model writes, cut off, filtered or refused.
    """
    choices = getattr(completion, "choices", None)
    choice = choices[0] if isinstance(choices, list) and choices else None
    message = getattr(choice, "message", None)
    if message is None or not hasattr(message, "content"):
        raise Unusable("its answer is not a chat completion")
    text = _text(message.content)
    if len(text) > LONGEST_ANSWER:
        raise Unusable(f"its answer has {len(text):,} characters, and at most {LONGEST_ANSWER:,} are taken")
    finish_reason = getattr(choice, "finish_reason", None)
    if finish_reason == "length":
        raise Unusable("its answer was cut off at the token limit (finish_reason=length)")
    if finish_reason == "content_filter":
        raise Unusable("its answer was filtered (finish_reason=content_filter)")
    refusal = getattr(message, "refusal", None)
    if refusal:
        raise Unusable(f"it refused: {refusal}")
    text = sendable(text)
    if not strip_thinking(text):
        raise Unusable("its answer is empty")
    return text


def tokens_of(completion: Any) -> tuple[int, int]:
    """Give the tokens sent and received as the server counts them; 0 where it gives nothing that is a count."""
    usage = getattr(completion, "usage", None)
    return counted(getattr(usage, "prompt_tokens", 0)), counted(getattr(usage, "completion_tokens", 0))


def sendable(text: str) -> str:
    """Replace lone surrogates, which no endpoint takes and no file holds."""
    return text.encode("utf-16", "surrogatepass").decode("utf-16", "replace")


def _text(content: Any) -> str:
    if content is None:
        return ""
    if isinstance(content, str):
        return content
    if isinstance(content, list):
        return "".join(map(_part, content))
    raise Unusable(f"its answer is no text but a {type(content).__name__}")


def _part(part: Any) -> str:
    if isinstance(part, str):
        return part
    if not isinstance(part, dict):
        raise Unusable(f"a part of its answer is no text but a {type(part).__name__}")
    text = part.get("text")
    return text if isinstance(text, str) and part.get("type", "text") in {"text", "output_text"} else ""
