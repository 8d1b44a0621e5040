"""The exact difference between the base and an exported file, object by object."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import TYPE_CHECKING, Literal

from deeprefine_graphdb.graph.texts import STAMP
from deeprefine_graphdb.model.actions import Frozen
from deeprefine_graphdb.model.graph import Edge, Entity, Loose
from deeprefine_graphdb.stores.protocol import Touched
from deeprefine_loaders.basefile import BaseFile
from deeprefine_loaders.objects import read_object
from deeprefine_loaders.scan import utf8

if TYPE_CHECKING:
    from deeprefine_loaders.graphfile import GraphFile

ObjectName = Literal["node", "link", "hyperedge", "header"]


class ManifestEntry(Frozen):
    """One object that differs: its text in the base and in the file (``None`` where it is not), and how it went.

    ``key`` is an entity's id, an edge's base or inserted key, or a loose object's key. ``place`` is the section and
    ordinal in the base. ``by`` is the action that did it, ``successor`` the key of what took its place.
    """

    kind: Literal["added", "changed", "removed", "moved", "folded"]
    object: ObjectName
    key: str
    by: str
    base: str | None = None
    disk: str | None = None
    place: tuple[str, int] | None = None
    successor: str | None = None


def manifest_of(base: BaseFile, touched: Touched) -> list[ManifestEntry]:
    """Give the manifest of the file that an export of these rows over this base writes, ordered by object and key."""
    entries = [
        *(entry for row in touched.entities if (entry := _of_entity(base, row)) is not None),
        *_of_edges(base, touched.edges),
        *(entry for row in touched.loose if (entry := _of_loose(base, row)) is not None),
    ]
    return sorted(entries, key=lambda entry: (entry.object, entry.key, entry.by))


def _of_entity(base: BaseFile, row: Entity) -> ManifestEntry | None:
    text = base.slice("node", row.id)
    place = base.place("node", row.id)
    if row.live:
        kind: Literal["added", "changed"] = "changed" if text is not None else "added"
        by = row.changed_by or row.added_by or ""
        return ManifestEntry(
            kind=kind, object="node", key=row.id, by=by, base=text, disk=row.raw, place=place
        )
    if text is None:
        return None
    return ManifestEntry(
        kind="removed",
        object="node",
        key=row.id,
        by=row.retired_by or "",
        base=text,
        place=place,
        successor=row.successor,
    )


def _of_edges(base: BaseFile, rows: Iterable[Edge]) -> Iterator[ManifestEntry]:
    by_key = {row.key: row for row in rows}
    told: set[str] = set()
    for row in by_key.values():
        text = base.slice("link", row.key)
        if text is None:
            continue
        end = _end_of_moves(by_key, row)
        told.add(end.key)
        place = base.place("link", row.key)
        if end.live:
            moved = end.key != row.key
            yield ManifestEntry(
                kind="moved" if moved else "changed",
                object="link",
                key=row.key,
                by=(end.added_by or end.changed_by or "")
                if moved
                else (row.added_by or row.changed_by or ""),
                base=text,
                disk=end.raw,
                place=place,
                successor=end.key if moved else None,
            )
        else:
            yield ManifestEntry(
                kind="folded" if end.retired_as == "folded" else "removed",
                object="link",
                key=row.key,
                by=end.retired_by or "",
                base=text,
                place=place,
                successor=end.successor,
            )
    for row in by_key.values():
        if row.live and row.key not in told and row.added_by is not None:
            yield ManifestEntry(kind="added", object="link", key=row.key, by=row.added_by, disk=row.raw)


def _end_of_moves(by_key: dict[str, Edge], row: Edge) -> Edge:
    seen = {row.key}
    while row.retired_as == "moved" and row.successor in by_key and row.successor not in seen:
        seen.add(row.successor)
        row = by_key[row.successor]
    return row


def _of_loose(base: BaseFile, row: Loose) -> ManifestEntry | None:
    if row.raw is None or not row.live:
        return None
    name = row.key.removeprefix("header:")
    text = base.member(name) if row.kind == "header" else base.slice(row.kind, row.key)
    return ManifestEntry(
        kind="changed" if text is not None else "added",
        object=row.kind,
        key=row.key,
        by=row.changed_by or "",
        base=text,
        disk=row.raw,
        place=None if row.kind == "header" else base.place(row.kind, row.key),
    )


def manifest_between(base: GraphFile, file: GraphFile) -> Iterator[ManifestEntry]:
    """Give the manifest of a file over a base that it was not written from, by comparing their objects."""
    old, new = dict(objects_of(base)), dict(objects_of(file))
    places = BaseFile.of(base)
    for obj, key in sorted(old.keys() | new.keys()):
        before, after = old.get((obj, key)), new.get((obj, key))
        if before == after:
            continue
        members = read_object(after) if after is not None and obj != "header" else {}
        yield ManifestEntry(
            kind="changed" if before and after else "added" if after else "removed",
            object=obj,
            key=key,
            by=str(members.get(STAMP) or "").rpartition(":")[0],
            base=before,
            disk=after,
            place=None if before is None or obj == "header" else places.place(obj, key),
        )


def places_of(graph: GraphFile) -> Iterator[tuple[ObjectName, str, str, int, int, int]]:
    """Give every node, link and hyperedge of a file: kind, key, section, place in it, and where its text stands."""
    columns: dict[ObjectName, list[str]] = {
        "node": graph.nodes.id,
        "link": graph.links.key,
        "hyperedge": graph.hyperedges.key,
    }
    for kind, keys in columns.items():
        at = 0
        for section in graph.header.of_kind(kind):
            spans = graph.spans[section.name]
            for ordinal, (start, end) in enumerate(zip(spans.starts, spans.ends, strict=True)):
                yield kind, keys[at], section.name, ordinal, start, end
                at += 1


def objects_of(graph: GraphFile) -> Iterator[tuple[tuple[ObjectName, str], str]]:
    """Give the text of every node, link and hyperedge of a file by kind and key, and of every header member."""
    for kind, key, _, _, start, end in places_of(graph):
        yield (kind, key), utf8(graph.text[start:end])
    for member in graph.header.members:
        if graph.header.section(member.name) is None:
            yield ("header", f"header:{member.name}"), utf8(graph.text[member.start : member.end])
