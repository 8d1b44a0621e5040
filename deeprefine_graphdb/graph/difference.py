"""What differs between two states of a graph, object by object."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Mapping
from typing import Literal

from deeprefine_graphdb.graph.manifest import ManifestEntry, ObjectName, objects_of
from deeprefine_graphdb.model.actions import Effect, Frozen
from deeprefine_loaders.basefile import BaseFile
from deeprefine_loaders.graphfile import GraphFile
from deeprefine_loaders.objects import read_object
from deeprefine_loaders.single import link_row, node_row


class Difference(Frozen):
    """One object that differs: its JSON text before and after, ``None`` where it is not there.

    ``name`` is what a person calls it, ``by`` the action that did it where that is known.
    """

    kind: Literal["added", "changed", "removed"]
    object: ObjectName
    key: str
    name: str
    by: str = ""
    before: str | None = None
    after: str | None = None


def of_manifests(before: Iterable[ManifestEntry], after: Iterable[ManifestEntry]) -> list[Difference]:
    """Compare two files that descend from one base, by how each differs from it."""
    old = {(entry.object, entry.key): entry for entry in before}
    new = {(entry.object, entry.key): entry for entry in after}
    found: list[Difference] = []
    for where in sorted(old.keys() | new.keys()):
        entries = [entry for entry in (new.get(where), old.get(where)) if entry is not None]
        base = next((entry.base for entry in entries if entry.base is not None), None)
        before_text = old[where].disk if where in old else base
        after_text = new[where].disk if where in new else base
        found.extend(_between(where, before_text, after_text, entries[0].by))
    return found


def of_files(before: GraphFile, after: GraphFile) -> list[Difference]:
    """Compare two files, object by object, by id and edge key; how they are laid out makes no difference."""
    old, new = dict(objects_of(before)), dict(objects_of(after))
    return [
        one
        for where in sorted(old.keys() | new.keys())
        if not _same(old.get(where), new.get(where))
        for one in _between(where, old.get(where), new.get(where), "")
    ]


def of_effects(effects: Iterable[Effect], base: BaseFile) -> list[Difference]:
    """Tell what effects changed in the file: nodes, links, hyperedges and header members with their texts."""
    first: dict[tuple[ObjectName, str], tuple[str, dict[str, object] | None]] = {}
    last: dict[tuple[ObjectName, str], tuple[str, dict[str, object] | None]] = {}
    for effect in effects:
        for change in effect.changes:
            if change.table == "Alias":
                continue
            image = change.after or change.before or {}
            where = (_object_of(change.table, image), change.key)
            first.setdefault(where, (effect.action, change.before))
            last[where] = (effect.action, change.after)
    found: list[Difference] = []
    for where in sorted(last):
        action, after = last[where]
        texts = (_text(where, first[where][1], base), _text(where, after, base))
        found.extend(_between(where, *texts, action))
    return found


def _same(before: str | None, after: str | None) -> bool:
    if before is None or after is None or before == after:
        return before == after
    return json.dumps(json.loads(before), sort_keys=True) == json.dumps(json.loads(after), sort_keys=True)


def _between(
    where: tuple[ObjectName, str], before: str | None, after: str | None, by: str
) -> Iterator[Difference]:
    if before == after:
        return
    text = after if after is not None else before
    yield Difference(
        kind=_kind(before is not None, after is not None),
        object=where[0],
        key=where[1],
        name=_name(where, text or ""),
        by=by,
        before=before,
        after=after,
    )


def _kind(before: bool, after: bool) -> Literal["added", "changed", "removed"]:
    return "changed" if before and after else "added" if after else "removed"


def _name(where: tuple[ObjectName, str], text: str) -> str:
    if where[0] == "header":
        return where[1].removeprefix("header:")
    members = read_object(text)
    if where[0] == "node":
        return node_row(members).label
    if where[0] == "link":
        source, target, relation, _ = link_row(members)
        return f"{source} -{relation}-> {target}"
    return str(members.get("label") or members.get("id") or where[1])


def _object_of(table: str, image: Mapping[str, object]) -> ObjectName:
    if table == "Entity":
        return "node"
    if table == "RELATES" or image.get("kind") == "link":
        return "link"
    return "header" if image.get("kind") == "header" else "hyperedge"


def _text(where: tuple[ObjectName, str], row: Mapping[str, object] | None, base: BaseFile) -> str | None:
    """Give the text of a live row: its own, else the base's. A header member that no action set is the base's too."""
    if row is not None and row.get("retired_by") is not None:
        return None
    if row is not None and row.get("raw") is not None:
        return str(row["raw"])
    if where[0] == "header":
        return base.member(where[1].removeprefix("header:"))
    return None if row is None else base.slice(*where)
