"""The journal beside a store: one JSON line a record, hash-chained, appended and synced before a write is acknowledged.

It can be read at any time without a lock and without an engine.
"""

from __future__ import annotations

import base64
import hashlib
import json
import os
import time
import zlib
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import IO, Any

from pydantic import ValidationError

from deeprefine_graphdb.model.errors import StoreDamaged
from deeprefine_graphdb.model.write import NewRecord, Record, StoreState
from deeprefine_graphdb.stores.flock import try_lock
from deeprefine_loaders.atomic import fsync_directory

SUFFIX = ".jsonl"
_BLOCK = 1 << 16


@dataclass(frozen=True)
class BadLine:
    """The first line of a journal that is not as it was written. ``line`` counts from 1."""

    line: int
    reason: str


def canonical(value: Any) -> str:
    """Give the JSON text that is hashed: keys sorted, no spaces, ASCII only. Raises ``ValueError`` for NaN."""
    return json.dumps(value, ensure_ascii=True, sort_keys=True, separators=(",", ":"), allow_nan=False)


def record_hash(seq: int, prev: str, record: NewRecord) -> str:
    """Give the SHA-256 in hex of what a record says and where it stands; effects are not part of it."""
    body = {"seq": seq, "prev": prev, "kind": record.kind, "ts": record.ts, "body": record.body}
    return hashlib.sha256(canonical(body).encode("ascii")).hexdigest()


def chain(records: Iterable[NewRecord], seq: int, head: str) -> tuple[Record, ...]:
    """Give records their place behind the one with number ``seq`` and hash ``head``."""
    chained = []
    for record in records:
        seq += 1
        digest = record_hash(seq, head, record)
        chained.append(Record(**dict(record), seq=seq, prev=head, hash=digest))
        head = digest
    return tuple(chained)


def to_line(record: Record) -> str:
    """Give the line of a record, without its line end."""
    return canonical(record.model_dump())


def pack(records: Iterable[Record]) -> str:
    """Give records as a short ASCII text, for the store to keep beside what they did."""
    lines = "\n".join(map(to_line, records))
    return base64.b64encode(zlib.compress(lines.encode("ascii"), 3)).decode("ascii")


def unpack(text: str) -> list[Record]:
    """Give the records of a text that :func:`pack` made. Raises ``ValueError``."""
    try:
        lines = zlib.decompress(base64.b64decode(text, validate=True)).splitlines() if text else []
    except zlib.error as error:
        raise ValueError(f"it does not unpack: {error}") from error
    return [from_line(line) for line in lines]


def from_line(line: str | bytes) -> Record:
    """Read a line. Raises ``ValueError``."""
    try:
        return Record.model_validate(json.loads(line))
    except RecursionError as error:
        raise ValueError("it is nested too deep") from error


class Journal:
    """The journal of one store. ``path`` need not exist yet."""

    def __init__(self, path: Path) -> None:
        self.path = path

    @classmethod
    def of(cls, log_dir: Path, store_id: str) -> Journal:
        """Give the journal of a store in the folder of journals."""
        return cls(log_dir / f"{store_id}{SUFFIX}")

    def read(self) -> list[Record]:
        """Give all records; a torn last line is left out. Raises :class:`StoreDamaged` at a line that is no record."""
        return self.read_to_end()[0]

    def read_to_end(self) -> tuple[list[Record], int]:
        """Give all records as :meth:`read` does, and the byte at which they end."""
        records = []
        data = self._whole_lines()
        for number, line in _numbered_lines(data):
            try:
                records.append(from_line(line))
            except (ValueError, ValidationError) as error:
                raise self._damaged(number, "is no record") from error
        return records, len(data)

    def read_on(self, offset: int, head: str) -> tuple[list[Record], int] | None:
        """Give the records behind a byte offset, at which the chain's hash was ``head``, and where they end.

        Gives ``None`` when the file does not go on from there, since it was replaced. Raises :class:`StoreDamaged`.
        """
        try:
            with self.path.open("rb") as stream:
                size = stream.seek(0, os.SEEK_END)
                if size < offset:
                    return None
                stream.seek(offset)
                data = stream.read()
        except FileNotFoundError:
            return None if offset else ([], 0)
        except OSError as error:
            raise self._unreadable(error) from error
        data = data[: data.rfind(b"\n") + 1]
        try:
            records = [from_line(line) for _, line in _numbered_lines(data)]
        except (ValueError, ValidationError):
            return None
        if records and records[0].prev != head:
            return None
        return records, offset + len(data)

    def verify(self) -> BadLine | None:
        """Find the first line that is not as it was written, or give ``None``."""
        seq, head = 0, ""
        for number, line in _numbered_lines(self._whole_lines()):
            try:
                record = from_line(line)
            except (ValueError, ValidationError):
                return BadLine(number, "is no record")
            if record.prev != head:
                return BadLine(number, "does not follow the line before it")
            if record.seq != seq + 1:
                return BadLine(number, f"has the number {record.seq} instead of {seq + 1}")
            if record_hash(record.seq, record.prev, record) != record.hash:
                return BadLine(number, "was edited: its hash is not that of its content")
            seq, head = record.seq, record.hash
        return None

    def last(self) -> Record | None:
        """Give the last whole record without reading the lines before it."""
        try:
            with self.path.open("rb") as stream:
                tail = _last_line(stream)
        except FileNotFoundError:
            return None
        except OSError as error:
            raise self._unreadable(error) from error
        if tail is None:
            return None
        try:
            return from_line(tail)
        except (ValueError, ValidationError) as error:
            raise StoreDamaged(f"The last line of the journal {self.path} is no record.", RESTORE) from error

    def size(self) -> int:
        """Give the size of the file in bytes, 0 when it is not there."""
        try:
            return self.path.stat().st_size
        except OSError:
            return 0

    def goes_through(self, seq: int, head: str) -> bool:
        """Tell whether the record of this number is there and has this hash."""
        if not seq:
            return True
        return any(record.seq == seq and record.hash == head for record in self.read())

    def append(self, records: Sequence[Record]) -> None:
        """Write records behind the others and sync them; a torn last line is cut first. Does nothing for none.

        Raises :class:`StoreDamaged` when they cannot be written; what the store keeps then heals the journal.
        """
        if not records:
            return
        try:
            self._append(records)
        except OSError as error:
            raise StoreDamaged(
                f"The change is in the store, but its record could not be appended to {self.path} ({error}).",
                "Make room or set its permissions; the next command appends it.",
            ) from error

    def _append(self, records: Sequence[Record]) -> None:
        self.path.parent.mkdir(parents=True, exist_ok=True)
        new = not self.path.exists()
        with self.path.open("ab+") as stream:
            self._hold(stream)
            _cut_torn(stream)
            stream.write("".join(to_line(record) + "\n" for record in records).encode("ascii"))
            stream.flush()
            os.fsync(stream.fileno())
        if new:
            fsync_directory(self.path.parent)

    def heal(self, state: StoreState) -> int:
        """Bring the journal to where the store stands, from the lines that the store kept; give how many were missing.

        A torn last line is cut. Raises :class:`StoreDamaged` when the two cannot be brought together.
        """
        missing: list[Record] = []
        try:
            if self._is_torn():
                self._cut()
            last = self.last()
            seq, head = (last.seq, last.hash) if last else (0, "")
            if (seq, head) == (state.seq, state.head):
                return 0
            kept = unpack(state.tail)
            missing = [record for record in kept if record.seq > seq]
        except ValueError as error:
            raise StoreDamaged(
                f"The store's own copy of its last records is unreadable ({error}).", _REBUILD
            ) from error
        if seq >= state.seq or not missing or missing[0].prev != head or missing[-1].hash != state.head:
            raise self._apart(seq, state)
        self.append(missing)
        return len(missing)

    def _apart(self, seq: int, state: StoreState) -> StoreDamaged:
        """Say how the journal and the store differ, and what brings them together."""
        if not seq:
            return StoreDamaged(
                f"The journal {self.path} is missing or empty, and the store has {state.seq} records.",
                RESTORE,
            )
        bad = self.verify()
        if bad is not None:
            return self._damaged(bad.line, bad.reason)
        ends = f"The journal {self.path} ends at record {seq} and the store at record {state.seq}"
        if self.goes_through(state.seq, state.head):
            return StoreDamaged(f"{ends}, which is an earlier state of the same log.", _REBUILD)
        if seq < state.seq:
            return StoreDamaged(f"{ends}.", RESTORE)
        return StoreDamaged(f"{ends}, and neither continues the other.", RESTORE)

    def _is_torn(self) -> bool:
        try:
            with self.path.open("rb") as stream:
                if not stream.seek(0, os.SEEK_END):
                    return False
                stream.seek(-1, os.SEEK_END)
                return stream.read(1) != b"\n"
        except FileNotFoundError:
            return False
        except OSError as error:
            raise self._unreadable(error) from error

    def _cut(self) -> None:
        try:
            with self.path.open("rb+") as stream:
                self._hold(stream)
                _cut_torn(stream)
        except OSError as error:
            raise self._unreadable(error) from error

    def _hold(self, stream: IO[bytes]) -> None:
        while not try_lock(stream, exclusive=True):
            time.sleep(0.002)

    def _whole_lines(self) -> bytes:
        try:
            data = self.path.read_bytes()
        except FileNotFoundError:
            return b""
        except OSError as error:
            raise self._unreadable(error) from error
        return data[: data.rfind(b"\n") + 1]

    def _damaged(self, number: int, reason: str) -> StoreDamaged:
        return StoreDamaged(f"Line {number} of the journal {self.path} {reason}.", RESTORE)

    def _unreadable(self, error: OSError) -> StoreDamaged:
        return StoreDamaged(
            f"The journal {self.path} cannot be read: {error.strerror}.",
            "It has to be a file that may be read and written.",
        )


RESTORE = "Restore the journal from version control or a backup."
_REBUILD = "Run `deeprefine-db doctor --rebuild`."


def _numbered_lines(data: bytes) -> Iterator[tuple[int, bytes]]:
    """Give the lines that are not blank (an editor or a merge may leave one that is), counted from 1."""
    for number, line in enumerate(data.splitlines(), 1):
        if line.strip():
            yield number, line


def _last_line(stream: IO[bytes]) -> bytes | None:
    """Give the last line that has its line end and is not blank, or ``None``."""
    end = stream.seek(0, os.SEEK_END)
    data = b""
    while end and data[: data.rfind(b"\n") + 1].strip().count(b"\n") < 1:
        start = max(0, end - _BLOCK)
        stream.seek(start)
        data = stream.read(end - start) + data
        end = start
    lines = [line for _, line in _numbered_lines(data[: data.rfind(b"\n") + 1])]
    return lines[-1] if lines else None


def _cut_torn(stream: IO[bytes]) -> None:
    size = stream.seek(0, os.SEEK_END)
    end = size
    while end:
        start = max(0, end - _BLOCK)
        stream.seek(start)
        place = stream.read(end - start).rfind(b"\n")
        if place >= 0:
            end = start + place + 1
            break
        end = start
    if end < size:
        stream.truncate(end)
        stream.seek(0, os.SEEK_END)
