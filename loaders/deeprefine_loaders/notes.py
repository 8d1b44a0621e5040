"""Read graphify's memory notes: ``query_*.md`` files, each a question and how its answer turned out.

graphify writes their front matter by hand, as a small part of YAML: ``key: "value"`` lines with the escapes
of a double-quoted scalar, and one list in brackets. Just that is read here.
"""

from __future__ import annotations

import logging
import re
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

_log = logging.getLogger(__name__)
_quoted = re.compile(r'"((?:[^"\\]|\\.)*)"')
_scalar = re.compile(r'([A-Za-z_][\w-]*):[ \t]*(?:"((?:[^"\\]|\\.)*)"|([^"\[\s].*)?)[ \t]*')
_list = re.compile(r'([A-Za-z_][\w-]*):[ \t]*\[((?:[^"\]]|"(?:[^"\\]|\\.)*")*)\][ \t]*')
_escape = re.compile(r"\\(?:x([0-9a-fA-F]{2})|u([0-9a-fA-F]{4})|U([0-9a-fA-F]{8})|(.))", re.DOTALL)
_SIMPLE = {
    "0": "\0", "a": "\a", "b": "\b", "t": "\t", "n": "\n", "v": "\v", "f": "\f", "r": "\r", "e": "\x1b",
    " ": " ", '"': '"', "/": "/", "\\": "\\", "N": "\x85", "_": "\xa0", "L": "\u2028", "P": "\u2029",
}  # fmt: skip


@dataclass(frozen=True)
class MemoryNote:
    """One note. ``outcome`` is ``useful``, ``dead_end``, ``corrected`` or ``None``; ``date`` is ISO 8601.

    ``source_nodes`` are labels or ids of nodes that the answer rests on.
    """

    path: Path
    question: str
    outcome: str | None = None
    correction: str | None = None
    source_nodes: tuple[str, ...] = ()
    date: str | None = None


def read_notes(directory: Path, warn: Callable[[str], None] = _log.warning) -> list[MemoryNote]:
    """Read all notes of a directory (none when it is not there), by date and name.

    A note that cannot be read is skipped, and ``warn`` is told its name and what is wrong with it.
    """
    notes = []
    for path in sorted(directory.glob("query_*.md")) if directory.is_dir() else []:
        try:
            notes.append(parse_note(path.read_bytes().decode("utf-8"), path))
        except UnicodeDecodeError as error:
            warn(f"{path} is skipped: it is not UTF-8 (at byte {error.start}).")
        except OSError as error:
            warn(f"{path} is skipped: {error.strerror or error}.")
        except ValueError as error:
            warn(f"{path} is skipped: {error}.")
    return sorted(notes, key=lambda note: (note.date or "", note.path.name))


def parse_note(text: str, path: Path) -> MemoryNote:
    """Read the text of one note. Raises ``ValueError`` with what is wrong with it."""
    lines = [line.rstrip("\r") for line in text.removeprefix("\ufeff").split("\n")]
    if lines[0].strip() != "---":
        raise ValueError("it does not begin with front matter")
    scalars: dict[str, str] = {}
    nodes: tuple[str, ...] = ()
    for number, line in enumerate(lines[1:], 2):
        if line.strip() == "---":
            break
        if not line.strip() or line.lstrip().startswith("#"):
            continue
        if found := _list.fullmatch(line):
            if found[1] == "source_nodes":
                nodes = tuple(_plain(item) for item in _quoted.findall(found[2]))
        elif found := _scalar.fullmatch(line):
            scalars[found[1]] = _plain(found[2]) if found[2] is not None else (found[3] or "").strip()
        else:
            raise ValueError(f"line {number} of its front matter cannot be read")
    else:
        raise ValueError("its front matter has no end")
    question = scalars.get("question", "")
    if not question.strip():
        raise ValueError("it has no question")
    return MemoryNote(
        path,
        question,
        scalars.get("outcome") or None,
        scalars.get("correction") or None,
        nodes,
        scalars.get("date"),
    )


def _plain(quoted: str) -> str:
    """Undo the escapes of a double-quoted scalar."""

    def one(match: re.Match[str]) -> str:
        code = match[1] or match[2] or match[3]
        if code is not None:
            return chr(int(code, 16))
        if match[4] not in _SIMPLE:
            raise ValueError(f"it has the unknown escape {match[0]!r}")
        return _SIMPLE[match[4]]

    text = _escape.sub(one, quoted)
    try:
        return text.encode("utf-16", "surrogatepass").decode("utf-16")
    except UnicodeDecodeError:
        raise ValueError("it has a lone surrogate") from None
