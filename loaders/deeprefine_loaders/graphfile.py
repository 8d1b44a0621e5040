"""Read graph.json into columns, and keep where the text of each object stands."""

from __future__ import annotations

import hashlib
import threading
from collections.abc import Callable
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path

from .collector import collector_paused
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
    return _parse(*_decode(path.read_bytes()), str(path))


def parse_graph(data: bytes, source: str = "graph.json") -> GraphFile:
    """Read the bytes of a graph.json. ``source`` is what errors call it. Raises :class:`FormatError`."""
    return _parse(*_decode(data), source)


def _decode(data: bytes) -> tuple[str, Callable[[], str]]:
    """Give the bytes as latin-1, and what waits for their SHA-256; the bytes themselves go when that is there."""
    digest = hashlib.sha256()
    hashing = threading.Thread(target=digest.update, args=(data,))
    hashing.start()

    def wait() -> str:
        hashing.join()
        return digest.hexdigest()

    return data.decode("latin-1"), wait


def _parse(text: str, digest: Callable[[], str], source: str) -> GraphFile:
    if not text or text.isspace():
        raise FormatError(f"{source} is empty.", "Run graphify again, or put a backup in its place.")
    with collector_paused():
        parsed = parse_text(text, digest, source)
        return GraphFile(source, text, parsed.header.digest, *parsed)
