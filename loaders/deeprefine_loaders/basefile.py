"""The base file: the text of every object that nothing has touched, by kind and key."""

from __future__ import annotations

import errno
import hashlib
import mmap
import os
from collections.abc import Iterable, Iterator
from contextlib import ExitStack
from hashlib import blake2b
from pathlib import Path
from typing import TYPE_CHECKING, BinaryIO

from .atomic import write_durable
from .errors import FormatError
from .header import Header
from .index import Found, Index, is_whole
from .seen import is_seen, note_seen

if TYPE_CHECKING:
    from .graphfile import GraphFile

BASE_NAME = "base.json"
INDEX_NAME = "base.idx"
NAMES = (BASE_NAME, INDEX_NAME)
_CHUNK = 1 << 22


class BaseFile:
    """A base, on disk or in memory. Made by :meth:`open` or :meth:`of`, never directly.

    Kinds are ``node``, ``link`` and ``hyperedge``; sections are the names of the arrays that hold them.
    """

    def __init__(self, text: str | mmap.mmap, index: Index) -> None:
        self._text = text
        self._index = index

    @classmethod
    def of(cls, graph: GraphFile) -> BaseFile:
        """Take a parsed file as base."""
        return cls(graph.text, graph.index)

    @classmethod
    def open(cls, directory: Path) -> BaseFile:
        """Open base.json and base.idx of a directory; they are read through only if they look changed to the system.

        Raises :class:`FormatError` when they do not belong together or were altered, ``OSError`` when one is not
        there.
        """
        with ExitStack() as opened:
            stream = opened.enter_context((directory / BASE_NAME).open("rb"))
            text = opened.enter_context(_map(directory / BASE_NAME))
            data = opened.enter_context(_map(directory / INDEX_NAME))
            index = Index(data, str(directory / INDEX_NAME))
            if index.header.size != len(text):
                raise FormatError(
                    f"{directory / INDEX_NAME} does not belong to {BASE_NAME}: that has {len(text)} bytes, "
                    f"not {index.header.size}.",
                    "Run `deeprefine-db doctor --rebuild`.",
                )
            if not is_seen(directory, NAMES):
                _verify(directory, index.header.digest)
                note_seen(directory, NAMES)
            base = cls(text, index)
            base._stream = stream
            base._open = opened.pop_all()
        return base

    _stream: BinaryIO | None = None
    _open: ExitStack | None = None

    @property
    def header(self) -> Header:
        """Facts, layout and style of the file."""
        return self._index.header

    @property
    def digest(self) -> str:
        """SHA-256 of the file, in hex."""
        return self._index.header.digest

    def count(self, section: str) -> int:
        """Give the number of elements of a section, 0 when the file does not have it."""
        found = self.header.section(section)
        return found.count if found else 0

    def slice(self, kind: str, key: str) -> str | None:
        """Give the raw JSON text of an object, or ``None`` when the base has none of that key."""
        found = self._index.find(kind, key)
        return None if found is None else self.read(found.start, found.end).decode("utf-8")

    def raw_hash(self, kind: str, key: str) -> str | None:
        """Give a digest of an object's raw text in hex, or ``None``; equal texts have equal digests."""
        found = self._index.find(kind, key)
        if found is None:
            return None
        return blake2b(self.read(found.start, found.end), digest_size=16).hexdigest()

    def place(self, kind: str, key: str) -> tuple[str, int] | None:
        """Give the section of an object and its ordinal there, or ``None``."""
        found = self._index.find(kind, key)
        return None if found is None else (found.section, found.ordinal)

    def missing(self, kind: str, keys: Iterable[str]) -> list[Found]:
        """Give the objects of a kind whose key is not among these: where each stands, in file order."""
        return self._index.missing(kind, keys)

    def span(self, section: str, ordinal: int) -> tuple[int, int]:
        """Give the byte span of an element of a section. Raises ``IndexError``."""
        return self._index.span(section, ordinal)

    def member(self, name: str) -> str | None:
        """Give the raw JSON text of a top-level member's value, or ``None``."""
        found = self.header.member(name)
        return None if found is None else self.read(found.start, found.end).decode("utf-8")

    def read(self, start: int, end: int) -> bytes:
        """Give the bytes from ``start`` to before ``end``."""
        piece = self._text[start:end]
        return piece.encode("latin-1") if isinstance(piece, str) else piece

    def chunks(self, start: int = 0, end: int | None = None) -> Iterator[bytes]:
        """Give the bytes from ``start`` to before ``end`` (the whole file) in pieces of a few megabytes."""
        end = self.header.size if end is None else end
        for place in range(start, end, _CHUNK):
            yield self._piece(place, min(place + _CHUNK, end))

    def _piece(self, start: int, end: int) -> bytes:
        """Read a piece and do not map it: what was seen of a map counts as memory of the process."""
        if self._stream is None or not hasattr(os, "pread"):
            return self.read(start, end)
        piece = os.pread(self._stream.fileno(), end - start, start)
        while len(piece) < end - start:
            more = os.pread(self._stream.fileno(), end - start - len(piece), start + len(piece))
            if not more:
                raise OSError(errno.EIO, "it is shorter than it was", self._stream.name)
            piece += more
        return piece

    def bytes(self) -> bytes:
        """Give the whole file."""
        return self.read(0, self.header.size)

    def close(self) -> None:
        """Release the files."""
        if self._open is not None:
            self._open.close()
        self._stream = self._open = None


def write_base(graph: GraphFile, directory: Path) -> None:
    """Write base.json (the file's very bytes) and base.idx into a directory that exists, durably."""
    write_text(graph, directory)
    write_index(graph, directory)


def write_text(graph: GraphFile, directory: Path) -> None:
    """Write base.json, the file's very bytes, into a directory that exists, durably."""
    text = graph.text
    pieces = (text[place : place + _CHUNK].encode("latin-1") for place in range(0, len(text), _CHUNK))
    write_durable(directory / BASE_NAME, pieces)


def write_index(graph: GraphFile, directory: Path) -> None:
    """Write base.idx into a directory that exists, durably. The file's text is not needed for it."""
    write_durable(directory / INDEX_NAME, [graph.index_bytes])
    note_seen(directory, NAMES)


def _verify(directory: Path, digest: str) -> None:
    """Read both files through, not by their maps, whose pages would count as memory of this process."""
    if not is_whole(_pieces(directory / INDEX_NAME)):
        raise FormatError(f"{directory / INDEX_NAME} was altered.", "Run `deeprefine-db doctor --rebuild`.")
    found = hashlib.sha256()
    for piece in _pieces(directory / BASE_NAME):
        found.update(piece)
    if found.hexdigest() != digest:
        raise FormatError(
            f"{directory / BASE_NAME} was altered: it has the digest {found.hexdigest()[:12]}, not {digest[:12]}.",
            "Run `deeprefine-db doctor --rebuild`.",
        )


def _pieces(path: Path) -> Iterator[bytes]:
    with path.open("rb") as stream:
        while piece := stream.read(_CHUNK):
            yield piece


def _map(path: Path) -> mmap.mmap:
    with path.open("rb") as stream:
        try:
            return mmap.mmap(stream.fileno(), 0, access=mmap.ACCESS_READ)
        except ValueError:
            raise FormatError(f"{path} is empty.", "Run `deeprefine-db doctor --rebuild`.") from None
