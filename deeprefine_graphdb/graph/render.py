"""The bytes of graph.json: the base with what refinements touched spliced in."""

from __future__ import annotations

from collections.abc import Iterator

from deeprefine_graphdb.model.graph import Edge, Entity, Loose
from deeprefine_graphdb.stores.protocol import GraphReader, Touched
from deeprefine_loaders.basefile import BaseFile
from deeprefine_loaders.render import Edits, render, render_digest


def graph_bytes(base: BaseFile, touched: Touched) -> Iterator[bytes]:
    """Give the file that an export writes, in chunks."""
    return render(base, edits_of(base, touched))


def graph_digest(reader: GraphReader) -> str:
    """Give the digest of a graph: the SHA-256 of the bytes that an export would write."""
    return render_digest(reader.base, edits_of(reader.base, reader.touched()))


def edits_of(base: BaseFile, touched: Touched) -> Edits:
    """Turn touched rows into edits of the base: objects replaced, removed and appended, and header members."""
    edits = Edits()
    added: list[tuple[int, str, str, str]] = []
    for entity in touched.entities:
        _edit(base, edits, added, "node", entity.id, entity, "nodes")
    for edge in touched.edges:
        _edit(base, edits, added, "link", edge.key, edge, base.header.links_section)
    for row in touched.loose:
        if row.kind == "header":
            if row.live and row.raw is not None:
                edits.header[row.key.removeprefix("header:")] = row.raw
        elif row.raw is not None:
            edits.replaced[row.kind, row.key] = row.raw
    for _, _, section, raw in sorted(added):
        edits.appended.setdefault(section, []).append(raw)
    return edits


def _edit(
    base: BaseFile,
    edits: Edits,
    added: list[tuple[int, str, str, str]],
    kind: str,
    key: str,
    row: Entity | Edge | Loose,
    section: str,
) -> None:
    in_base = base.place(kind, key) is not None
    if row.live and row.raw is not None and row.added_by is None and in_base:
        edits.replaced[kind, key] = row.raw
        return
    if in_base and (not row.live or row.added_by is not None):
        edits.removed.add((kind, key))
    if row.live and row.raw is not None and row.added_by is not None:
        added.append((row.seq or 0, key, section, row.raw))
