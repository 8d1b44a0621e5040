"""The queue of questions, ``history.jsonl``: one JSON object a line, shared with deeprefine-cli."""

from __future__ import annotations

import errno
import hashlib
import json
import os
import sys
import time
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from deeprefine_graphdb.model.errors import StoreLocked, UsageError
from deeprefine_graphdb.project.paths import ProjectPaths, write_whole
from deeprefine_loaders.atomic import naming
from deeprefine_loaders.identity import has_surrogate
from deeprefine_loaders.notes import read_notes

if sys.platform == "win32":
    import msvcrt
else:
    import fcntl

LONGEST_WAIT = 10.0


@dataclass(frozen=True)
class History:
    """The lines of the queue in file order, and a sentence for each line that is not a record."""

    rows: list[dict[str, Any]] = field(default_factory=list)
    problems: list[str] = field(default_factory=list)

    def pending(self) -> list[dict[str, Any]]:
        """Give the questions still to be refined: ``refined`` is not true, one per id, in file order.

        A text with half a character is none: no model can be asked it.
        """
        first: dict[str, dict[str, Any]] = {}
        for row in self.rows:
            question = str(row.get("query") or "")
            if row.get("refined") is not True and question.strip() and not has_surrogate(question):
                first.setdefault(row_id(row), row)
        return list(first.values())

    def find(self, identity: str) -> dict[str, Any] | None:
        """Give the first line of a question, by its query id."""
        return next((row for row in self.rows if row_id(row) == identity), None)


def query_id(question: str) -> str:
    """Give the id of a question: the first 16 hex digits of SHA-256 of its stripped text in UTF-8."""
    return hashlib.sha256(question.strip().encode("utf-8", "surrogatepass")).hexdigest()[:16]


def row_id(row: dict[str, Any]) -> str:
    """Give the id of a line; lines without one are known by their question."""
    return str(row.get("id") or query_id(str(row.get("query") or "")))


def read_history(path: Path) -> History:
    """Read the queue. A line that is not a JSON object is named in ``problems`` and passed over."""
    found = History()
    for number, line, whole in _lines(path):
        row = _parse(line)
        if row is not None:
            found.rows.append(row)
            if has_surrogate(str(row.get("query") or "")):
                found.problems.append(
                    f"{path.name} line {number}: its question is not valid text, so it is not asked."
                )
        elif line.strip():
            kind = "not a JSON object" if whole else "cut off (a write was interrupted)"
            found.problems.append(f"{path.name} line {number} is {kind} and was passed over.")
    return found


def add(
    path: Path, question: str, *, source: str = "user", extra: dict[str, Any] | None = None
) -> dict[str, Any]:
    """Append a question as pending and give its line. Safe with other processes that add at the same time.

    Raises :class:`UsageError` for an empty question.
    """
    row = _new_row(question, source, extra)
    with _exclusive(path):
        _append(path, [row])
    return row


def ensure(path: Path, question: str, *, source: str = "user", refined: bool = False) -> dict[str, Any]:
    """Give the line of a question, appended first when the queue does not know it."""
    row = _new_row(question, source, None)
    row["refined"] = refined
    with _exclusive(path):
        known = read_history(path).find(row["id"])
        if known is not None:
            return known
        _append(path, [row])
    return row


def sync_memory(project: ProjectPaths, warn: Callable[[str], None]) -> dict[str, int]:
    """Queue the questions of graphify's notes that are not known yet; give how many notes are ``added`` and ``known``.

    ``warn`` is told of each note that cannot be read.
    """
    notes = read_notes(project.memory, warn)
    with _exclusive(project.history):
        known = {row_id(row) for row in read_history(project.history).rows}
        rows = []
        told = 0
        for item in notes:
            if not item.question.strip():
                continue
            if query_id(item.question) in known:
                told += 1
                continue
            known.add(query_id(item.question))
            rows.append(_new_row(item.question, "graphify_memory", {"memory_file": project.shown(item.path)}))
        _append(project.history, rows)
    return {"added": len(rows), "known": told}


def mark_refined(path: Path, identities: Iterable[str], refined: bool = True) -> int:
    """Set ``refined`` on every line of these questions; give how many changed. Other lines stay."""
    wanted = set(identities)
    if not path.is_file() or not wanted:
        return 0
    changed = 0
    with _exclusive(path):
        lines = []
        for _, line, whole in _lines(path):
            row = _parse(line)
            if row is not None and wanted & _ids(row) and (row.get("refined") is True) is not refined:
                row["refined"] = refined
                row["refined_ts"] = _now()
                line = _dump(row)
                changed += 1
            lines.append(line + ("\n" if whole or row is not None else ""))
        if changed:
            write_whole(path, "".join(lines))
    return changed


def _ids(row: dict[str, Any]) -> set[str]:
    """Give the id that a line has and the one that its question has; a line may come with one of its own."""
    return {row_id(row), query_id(str(row.get("query") or ""))}


def _new_row(question: str, source: str, extra: dict[str, Any] | None) -> dict[str, Any]:
    text = question.strip()
    if not text:
        raise UsageError("The question is empty.", 'Write it after --query, as in --query "what is X?".')
    row: dict[str, Any] = {
        "id": query_id(text),
        "ts": _now(),
        "query": text,
        "source": source,
        "refined": False,
    }
    return row | (extra or {})


def _append(path: Path, rows: list[dict[str, Any]]) -> None:
    if not rows:
        return
    _close_last_line(path)
    with naming(path), path.open("ab") as stream:
        stream.write("".join(_dump(row) + "\n" for row in rows).encode("utf-8"))
        stream.flush()
        os.fsync(stream.fileno())


def _close_last_line(path: Path) -> None:
    """End the last line before another is appended; one that was cut off is moved aside for readers' sake."""
    if not path.is_file() or path.stat().st_size == 0:
        return
    with path.open("rb") as stream:
        stream.seek(-1, os.SEEK_END)
        if stream.read(1) == b"\n":
            return
    lines = list(_lines(path))
    text = lines[-1][1]
    if _parse(text) is not None:
        with path.open("ab") as stream:
            stream.write(b"\n")
        return
    with path.with_name(path.name + ".torn").open("a", encoding="utf-8", errors="surrogateescape") as aside:
        aside.write(text + "\n")
    write_whole(path, "".join(f"{line}\n" for _, line, _ in lines[:-1]))


def _dump(row: dict[str, Any]) -> str:
    """Give a line's text: readable UTF-8, or escapes where the text has a lone surrogate."""
    text = json.dumps(row, ensure_ascii=False)
    return json.dumps(row) if has_surrogate(text) else text


def _lines(path: Path) -> Iterator[tuple[int, str, bool]]:
    """Yield (number from 1, text without its newline, whether it had one)."""
    if not path.is_file():
        return
    with path.open(encoding="utf-8", errors="surrogateescape", newline="\n") as stream:
        for number, line in enumerate(stream, 1):
            yield number, line.removesuffix("\n"), line.endswith("\n")


def _parse(line: str) -> dict[str, Any] | None:
    try:
        value = json.loads(line)
    except (ValueError, RecursionError):
        return None
    return value if isinstance(value, dict) else None


def _now() -> str:
    return time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime())


@contextmanager
def _exclusive(path: Path) -> Iterator[None]:
    """Hold the queue's lock: a file of its own, because marking lines replaces the queue.

    Raises :class:`StoreLocked` when another process does not let go of it, :class:`UsageError` when the queue is
    something that lines cannot be added to.
    """
    path.parent.mkdir(parents=True, exist_ok=True)
    if path.exists() and not path.is_file():
        raise UsageError(f"{path} is not a file.", "Move it away.")
    lock = path.with_name("history.lock")
    descriptor = os.open(lock, os.O_RDWR | os.O_CREAT, 0o666)
    try:
        until = time.monotonic() + LONGEST_WAIT
        while not _locked(descriptor):
            if time.monotonic() > until:
                raise StoreLocked(
                    f"Another process holds {lock}.", "Run the command again when it has ended."
                )
            time.sleep(0.05)
        yield
    finally:
        os.close(descriptor)


def _locked(descriptor: int) -> bool:
    try:
        if sys.platform == "win32":
            msvcrt.locking(descriptor, msvcrt.LK_NBLCK, 1)
        else:
            fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except OSError as error:
        if error.errno in {errno.EACCES, errno.EAGAIN, errno.EDEADLK}:
            return False
        raise
    return True
