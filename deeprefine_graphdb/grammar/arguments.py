"""Reads one quoted argument of an action, and writes one."""

from __future__ import annotations

import re
from unicodedata import category

from deeprefine_graphdb.grammar.tagged import shown
from deeprefine_graphdb.model.errors import GrammarError

# What ends a text, by the quote that began it.
CLOSERS = {'"': '"', "'": "'", "“": "”", "”": "”", "„": "“”", "‘": "’", "’": "’"}
_QUOTES = "".join(CLOSERS)

_ESCAPE = re.compile(r"\\(u[0-9a-fA-F]{4}|r\\n|.)", re.DOTALL)
_ALWAYS = frozenset(_QUOTES + "|")
_MEANING = {"\\": "\\", "n": "\n", "/": "/", r"r\n": "\r\n"}

# Behind the closing quote of an argument that holds bare quotes: the next argument, or the end of the action.
_NEXT_ARGUMENT = rf"\s*,\s*(?:(?:\w+\s*[=:]\s*)?[{_QUOTES}]|\))"
_END_OF_ACTION = r"\s*\)\s*(?:[|,;`\n]|[-*•]|\d+[.):]|<\s*/\s*refinement\s*>|[A-Za-z_]\w*\s*\(|$)"
_FOLLOWS = re.compile(f"(?:{_NEXT_ARGUMENT}|{_END_OF_ACTION})", re.IGNORECASE)

_TAG = re.compile(r"<(?=\s*/?\s*(?:refinement|judge|abduction|think|thinking|reasoning)\s*>)", re.IGNORECASE)
_UNPRINTED = re.compile(r"[\x00-\x1f\x7f-\x9f\u2028\u2029]")


def quote(text: str) -> str:
    """Write an argument on one line so that it is read back as it was."""
    escaped = text.replace("\\", "\\\\").replace('"', '\\"').replace("\n", "\\n")
    escaped = _TAG.sub(r"\\u003c", escaped)
    return '"' + _UNPRINTED.sub(lambda found: rf"\u{ord(found[0]):04x}", escaped) + '"'


def is_blank(text: str) -> bool:
    """Tell whether nothing of a text can be seen: it is empty, blank, or all of zero width."""
    return all(character.isspace() or category(character) == "Cf" for character in text)


def read_argument(text: str, place: int, *, bare_quotes: bool) -> tuple[str, int]:
    """Read the quoted text that begins at ``place``; give it and the place behind it.

    Without ``bare_quotes`` the first closing quote that is not escaped ends it. With them a quote ends it
    only where the next argument or the end of the action follows, and bare double quotes have to come in
    pairs. Raises :class:`GrammarError`.
    """
    closers = CLOSERS[text[place]]
    inner = 0
    for found in re.compile(rf"\\.|[{closers}]", re.DOTALL).finditer(text, place + 1):
        if len(found[0]) == 2:
            continue
        if bare_quotes and not _FOLLOWS.match(text, found.end()):
            inner += 1
            continue
        raw = text[place + 1 : found.start()]
        if inner % 2 and text[place] == '"':
            break
        return _decode(raw, place + 1), found.end()
    raise GrammarError(
        f"The argument that begins {shown(text[place : place + 200], 40)} is not closed.", place
    )


def _decode(raw: str, place: int) -> str:
    if "\\" in raw:
        escapes = [found for found in _ESCAPE.finditer(raw) if found[1] not in _ALWAYS]
        literal = [found for found in escapes if found[1] not in _MEANING and not _is_code(found[1])]
        if literal and len(literal) < len(escapes):
            raise GrammarError(
                f"It is not clear which backslashes of {shown(raw)} are meant; write each one as two.",
                place + literal[0].start(),
            )
        raw = _ESCAPE.sub(_meaning, raw)
    try:
        text = raw.encode("utf-16", "surrogatepass").decode("utf-16")
    except UnicodeDecodeError:
        raise GrammarError("An argument holds half of a surrogate pair.", place) from None
    if "\x00" in text:
        raise GrammarError("An argument holds a NUL character.", place)
    return text


def _meaning(found: re.Match[str]) -> str:
    escape = found[1]
    if escape in _ALWAYS:
        return escape
    if _is_code(escape):
        return chr(int(escape[1:], 16))
    return _MEANING.get(escape, found[0])


def _is_code(escape: str) -> bool:
    return len(escape) == 5
