"""Read graph.json into columns, and keep where the text of each object stands."""

from __future__ import annotations

import hashlib
import mmap
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path

from .columns import HyperedgeColumns, LinkColumns, NodeColumns, Spans
from .errors import FormatError
from .header import Header
from .index import Index, build_index
from .parse import parse_text
from .scan import utf8


@dataclass
class GraphFile:
    """A parsed graph.json.

    ``text`` is the file as latin-1 (an offset is a byte offset), ``digest`` the SHA-256 of its bytes,
    ``source`` the name that errors call it by, ``spans`` the byte span of every object, by section and in
    file order.
    """

    source: str
    text: str
    digest: str
    header: Header
    nodes: NodeColumns
    links: LinkColumns
    hyperedges: HyperedgeColumns
    spans: dict[str, Spans]
    warnings: list[str] = field(default_factory=list)

    @cached_property
    def index_bytes(self) -> bytes:
        """The content of base.idx for this file."""
        keys = {"node": self.nodes.id, "link": self.links.key, "hyperedge": self.hyperedges.key}
        return build_index(self.header, keys, {name: span.flat() for name, span in self.spans.items()})

    @cached_property
    def index(self) -> Index:
        """Where the objects are, by kind and key."""
        return Index(self.index_bytes, self.source)

    def slice(self, kind: str, key: str) -> str | None:
        """Give the raw JSON text of a ``node``, ``link`` or ``hyperedge``, or ``None`` when there is none."""
        found = self.index.find(kind, key)
        return None if found is None else utf8(self.text[found.start : found.end])


def read_graph(path: Path) -> GraphFile:
    """Read a graph.json. Raises :class:`FormatError` when it is none, ``OSError`` when it cannot be read."""
    with path.open("rb") as stream:
        if not path.stat().st_size:
            raise _empty(str(path))
        try:
            data: bytes | mmap.mmap = mmap.mmap(stream.fileno(), 0, access=mmap.ACCESS_READ)
        except (OSError, ValueError):
            data = stream.read()
    try:
        return parse_graph(data, str(path))
    finally:
        if isinstance(data, mmap.mmap) and not data.closed:
            data.close()


def parse_graph(data: bytes | mmap.mmap, source: str = "graph.json") -> GraphFile:
    """Read the bytes of a graph.json. ``source`` is what errors call it. Raises :class:`FormatError`."""
    digest = hashlib.sha256(data).hexdigest()
    text = str(data, "latin-1")
    if isinstance(data, mmap.mmap):
        data.close()
    del data
    if not text.strip(" \t\r\n"):
        raise _empty(source)
    parsed = parse_text(text, digest, source)
    return GraphFile(source, text, digest, *parsed)


def _empty(source: str) -> FormatError:
    return FormatError(f"{source} is empty.", "Run graphify again, or put a backup in its place.")
