"""Judging names: too broad, generic, and whether a text mentions them."""

from __future__ import annotations

import re
import unicodedata
from pathlib import PurePosixPath

from deeprefine_graphdb.model.graph import Entity
from deeprefine_graphdb.retrieval.sources import Excerpt

BROAD = frozenset({"main", "run", "train", "test", "setup"})
GENERIC = frozenset({
    *(
        "unknown",
        "n/a",
        "n.a.",
        "none",
        "null",
        "nil",
        "nan",
        "undefined",
        "unspecified",
        "unnamed",
        "untitled",
    ),
    *(
        "not specified",
        "not available",
        "not applicable",
        "not known",
        "no answer",
        "nothing",
        "something",
        "anything",
    ),
    *(
        "someone",
        "somewhere",
        "it",
        "this",
        "that",
        "they",
        "thing",
        "things",
        "stuff",
        "misc",
        "various",
        "other",
    ),
    *(
        "others",
        "etc",
        "etc.",
        "tbd",
        "todo",
        "placeholder",
    ),
})
SHORTEST = 3
SHORTEST_NOT_ASCII = 2
IMPORTING = r"\b(?:import|from|require|include|use|using|source|load)\b"
CODE_LIKE = re.compile(r"[_().:/\\]|[a-z0-9][A-Z]|[A-Z][a-z]+[A-Z]")


def is_broad(name: str) -> bool:
    """Tell whether a bare name stands for too much, like ``main()`` or ``run()``."""
    return plain(name).lower() in BROAD


def is_generic(name: str) -> bool:
    """Tell whether a name says nothing: ``unknown``, ``n/a``, ``?``, empty."""
    text = " ".join(name.strip().strip("\"'`<>[](){}").lower().split())
    return text in GENERIC or not any(ch.isalnum() for ch in text)


def plain(name: str) -> str:
    """Give a name without the marks of a call or a method: ``.get()`` → ``get``."""
    return name.strip().removesuffix("()").lstrip(".")


def mention(excerpt: Excerpt, name: str, entity: Entity | None = None) -> int | None:
    """Give the number of the first line that mentions a name as a word of its own, ``None`` when none does.

    Names of code are compared with their case, other names without. A file is also mentioned by a line that
    imports it by its name without the suffix.
    """
    text = unicodedata.normalize("NFC", "\n".join(excerpt.lines))
    spelling = plain(entity.label if entity is not None else name)
    code = (entity is not None and entity.file_type == "code") or CODE_LIKE.search(name) is not None
    places = [_first_place(text, _as_word(spelling), not code)] if _tells_apart(spelling) else []
    stem = _module(entity)
    if stem:
        places.append(_first_place(text, rf"^[^\n]*{IMPORTING}[^\n]*?{_as_word(stem)}", False))
    lines = [excerpt.first + text.count("\n", 0, at) for at in places if at is not None]
    return min(lines, default=None)


def _first_place(text: str, pattern: str, any_case: bool) -> int | None:
    found = re.search(pattern, text, re.MULTILINE | (re.IGNORECASE if any_case else 0))
    return found.start() if found is not None else None


def _as_word(spelling: str) -> str:
    words = r"\s+".join(re.escape(word) for word in unicodedata.normalize("NFC", spelling).split())
    return rf"(?<!\w){words}(?!\w)"


def _module(entity: Entity | None) -> str:
    """Give the name that imports a file's entity, ``""`` for any other entity."""
    if entity is None or not is_file(entity):
        return ""
    stem = PurePosixPath(entity.label).stem
    return stem if len(stem) > 1 and stem != entity.label else ""


def is_file(entity: Entity) -> bool:
    """Tell whether an entity stands for its whole source file."""
    path = (entity.source_file or "").replace("\\", "/")
    return bool(path) and f"/{path}".endswith(f"/{entity.label}")


def _tells_apart(spelling: str) -> bool:
    """Tell whether finding a spelling in a text means anything."""
    shortest = SHORTEST if spelling.isascii() else SHORTEST_NOT_ASCII
    return len(spelling) >= shortest and not is_generic(spelling)
