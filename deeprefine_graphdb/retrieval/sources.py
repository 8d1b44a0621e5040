"""The source text behind entities, read from files below the knowledge base's root and from nowhere else."""

from __future__ import annotations

import re
import stat
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path

from deeprefine_graphdb.model.graph import Entity

MAX_LINES = 40
MAX_CHARACTERS = 12_000
LINES_BEFORE = 4
MAX_LINE_CHARACTERS = 400
MAX_FILE_BYTES = 32 << 20
PRIVATE = frozenset({".git", ".deeprefine", ".hg", ".svn", ".ssh"})
SCHEME = re.compile(r"[A-Za-z][A-Za-z0-9+.-]+:")
FIRST_NUMBER = re.compile(r"\d+")
CLOSING = (")", "]", "}", "else", "elif", "except", "finally", "end", "then", "fi", "done")


@dataclass(frozen=True)
class Excerpt:
    """Some lines of a file. ``path`` is relative to the root with ``/``; line numbers count from 1.

    ``at`` is the line that the entity itself stands at.
    """

    path: str
    first: int
    at: int
    lines: tuple[str, ...]

    @property
    def last(self) -> int:
        """The number of the last line."""
        return self.first + len(self.lines) - 1

    def own(self) -> Excerpt:
        """Give only what belongs to the entity: from its line to where its indentation ends."""
        lines = self.lines[max(0, self.at - self.first) :]
        kept = list(lines[:1])
        depth = _indent(lines[0]) if lines else 0
        for line in lines[1:]:
            if line.strip() and _indent(line) <= depth and not line.strip().startswith(CLOSING):
                break
            kept.append(line)
        return Excerpt(self.path, self.at, self.at, tuple(kept))


class SourceReader:
    """Reads excerpts of source files. ``root`` is the folder that holds ``graphify-out``.

    A path that leads out of the root (through ``..``, an absolute path or a symbolic link), that is no
    regular file, or that holds anything but text gives nothing. So do the folders of version control and of
    this program.
    """

    def __init__(self, root: Path) -> None:
        self._root = root.resolve()
        self._files: dict[Path, tuple[str, ...] | None] = {}

    def excerpt(self, entity: Entity, limit: int = MAX_LINES) -> Excerpt | None:
        """Give at most ``limit`` lines around an entity's source location (the file's head when it has none)."""
        path = self._inside(entity.source_file)
        lines = self._lines(path) if path is not None else None
        if path is None or not lines:
            return None
        at = min(_line_number(entity.source_location), len(lines))
        first = max(1, at - LINES_BEFORE)
        shown = path.relative_to(self._root).as_posix()
        return Excerpt(shown, first, at, lines[first - 1 : first - 1 + limit])

    def text(self, entities: Iterable[Entity]) -> str:
        """Give the excerpts of entities in their order as one text of at most 12,000 characters.

        Lines that several entities share are given once. ``""`` when there is nothing.
        """
        parts: list[str] = []
        length = 0
        seen: set[tuple[str, int]] = set()
        for entity in entities:
            excerpt = self.excerpt(entity)
            for block in _unseen(excerpt, seen) if excerpt is not None else ():
                length += 1 if parts else 0
                part = _shown(block)[: max(0, MAX_CHARACTERS - length)]
                if "\n" not in part.strip():
                    return "\n".join(parts)
                parts.append(part)
                length += len(part)
        return "\n".join(parts)

    def _inside(self, source_file: str | None) -> Path | None:
        if not source_file or "\0" in source_file:
            return None
        for written in dict.fromkeys((source_file, source_file.replace("\\", "/"))):
            if SCHEME.match(written) and not re.match(r"[A-Za-z]:[\\/]", written):
                continue
            try:
                path = (self._root / written).resolve()
                if not path.is_relative_to(self._root) or PRIVATE & set(path.relative_to(self._root).parts):
                    continue
                found = path.stat()
            except (OSError, ValueError, RuntimeError):
                continue
            if stat.S_ISREG(found.st_mode) and found.st_size <= MAX_FILE_BYTES:
                return path
        return None

    def _lines(self, path: Path) -> tuple[str, ...] | None:
        if path not in self._files:
            self._files[path] = _read_text(path)
        return self._files[path]


def _read_text(path: Path) -> tuple[str, ...] | None:
    try:
        data = path.read_bytes()
    except OSError:
        return None
    if b"\0" in data:
        return None
    text = data.decode("utf-8-sig", "replace")
    strange = text.count("\ufffd") + sum(ch < " " and ch not in "\t\r\n\f\x1b" for ch in text[:100_000])
    if strange * 10 > len(text):
        return None
    lines = text.replace("\r\n", "\n").replace("\r", "\n").split("\n")
    return tuple(line[:MAX_LINE_CHARACTERS].rstrip() for line in (lines[:-1] if not lines[-1] else lines))


def _line_number(location: str | None) -> int:
    found = FIRST_NUMBER.search(location or "")
    return max(1, int(found.group()[:9])) if found else 1


def _indent(line: str) -> int:
    return len(line.expandtabs(4)) - len(line.expandtabs(4).lstrip())


def _unseen(excerpt: Excerpt, seen: set[tuple[str, int]]) -> list[Excerpt]:
    """Give the runs of an excerpt's lines that were not given before, and remember them."""
    runs: list[Excerpt] = []
    run: list[str] = []
    for number, line in enumerate((*excerpt.lines, ""), excerpt.first):
        fresh = number <= excerpt.last and (excerpt.path, number) not in seen
        if fresh:
            seen.add((excerpt.path, number))
            run.append(line)
        elif run:
            runs.append(Excerpt(excerpt.path, number - len(run), excerpt.at, tuple(run)))
            run = []
    return [one for one in runs if any(line.strip() for line in one.lines)]


def _shown(excerpt: Excerpt) -> str:
    return f"# {excerpt.path}:{excerpt.first}-{excerpt.last}\n" + "\n".join(excerpt.lines)
