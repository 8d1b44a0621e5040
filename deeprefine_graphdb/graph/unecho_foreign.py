"""Taking the echo of another log out of a graph: of a file that its refinements were exported to, and what came of it.

The base that the other log's exports were made from is seldom at hand. What stands in for it is the graph itself with
every object that carries a stamp as it was before, and with what was removed at its place: by that, nothing is gone
but what the other export took out.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Collection, Sequence
from contextlib import AbstractContextManager
from dataclasses import dataclass, replace
from typing import Any

from deeprefine_graphdb.graph.ancestor import State
from deeprefine_graphdb.graph.manifest import ManifestEntry
from deeprefine_graphdb.graph.prefixed import Restamped, renamed, restamped
from deeprefine_graphdb.graph.reverse import reversed_manifest
from deeprefine_graphdb.graph.texts import STAMP, stamp
from deeprefine_graphdb.graph.unecho import unecho
from deeprefine_graphdb.graph.unecho_found import Found, Mark, key_at
from deeprefine_graphdb.graph.unecho_model import Images, Unechoed
from deeprefine_graphdb.graph.unecho_text import ends_of, link_identity, listed
from deeprefine_loaders.amend import Amendments, amend
from deeprefine_loaders.basefile import BaseFile
from deeprefine_loaders.graphfile import GraphFile
from deeprefine_loaders.identity import edge_key, storable_text
from deeprefine_loaders.objects import edit_object, read_object

OpenBase = Callable[[str], AbstractContextManager[BaseFile] | None]
ImagesOver = Callable[[BaseFile], Images]


@dataclass(frozen=True)
class OtherLog:
    """What un-echoing needs of another log.

    ``states`` are its syncs and exports in order, ``refinements`` the ids of all its refinements. ``images`` gives
    what its actions did over a base, ``open_base`` a base by its digest where it is at hand. ``sidecar`` is the digest
    of the file that the manifest beside graph.json is of, where that counts.
    """

    states: Sequence[State]
    refinements: Collection[str]
    images: ImagesOver
    open_base: OpenBase
    sidecar: str | None = None


def unecho_foreign(graph: GraphFile, other: OtherLog) -> Unechoed | None:
    """Give a graph less what refinements of another log left in it, or ``None`` when there is nothing of them.

    The manifest of the answer is left empty. The very file of an export is taken back to the letter; else the export
    is the one whose stamps the graph carries. Without any stamp, and without a manifest beside the file, nothing
    tells that the graph came of an export, and what it lacks stays away.
    """
    for state in reversed(other.states):
        if state.file_digest == graph.digest and state.base_digest != graph.digest:
            without = reversed_manifest(graph, state.entries(), state.base_digest)
            if without is not None:
                return Unechoed(without)
    anew = restamped(graph)
    result = Unechoed(anew.graph)
    prefixes = {anew.prefix.get(mark.stamp, "") for mark in _marks(anew.graph, other)}
    if other.sidecar is not None:
        prefixes.add("")
    for prefix in sorted(prefixes):
        result = _joined(result, _unecho(result.base, anew, prefix, other))
    if result.base is anew.graph:
        return None
    return replace(result, base=anew.taken_back(result.base))


def has_echo(graph: BaseFile, refinements: Collection[str]) -> bool:
    """Tell whether a base has the stamp of one of these refinements in it, without parsing it."""
    needle = f'"{STAMP}"'.encode()
    tail = b""
    for chunk in graph.chunks():
        text = tail + chunk
        at = text.find(needle)
        while at >= 0:
            value = text[at + len(needle) : at + len(needle) + 80].decode("latin-1").lstrip(' :"\t\r\n')
            if value.partition(".")[0] in refinements:
                return True
            at = text.find(needle, at + 1)
        tail = text[-200:]
    return False


def _marks(graph: GraphFile, other: OtherLog) -> list[Mark]:
    return [
        mark for mark in Found(graph).marks if mark.valid and mark.by.rpartition(".")[0] in other.refinements
    ]


def _joined(before: Unechoed, after: Unechoed) -> Unechoed:
    return replace(
        after,
        unconfirmed=(*before.unconfirmed, *after.unconfirmed),
        echoes=(*before.echoes, *after.echoes),
        notes=(*(note for note in before.notes if note.kind != "foreign"), *after.notes),
    )


def _unecho(graph: GraphFile, anew: Restamped, prefix: str, other: OtherLog) -> Unechoed:
    """Take the echo out of the objects with one prefix."""
    marks = [mark for mark in _marks(graph, other) if anew.prefix.get(mark.stamp, "") == prefix]
    state = _written_last(marks, anew, other)
    entries = list(state.entries()) if state is not None else []
    if state is not None and not prefix:
        opened = other.open_base(state.base_digest)
        if opened is not None:
            with opened as kept:
                return unecho(kept, entries, graph, other.images(kept))
    entries += _from_elsewhere(marks, anew, entries, other)
    stand_in = _StandIn(graph, prefix, marks)
    base, manifest = stand_in.over(entries)

    def images(action: str) -> Sequence[ManifestEntry] | None:
        return () if action.rpartition(".")[0] in other.refinements else None

    return unecho(BaseFile.of(base), manifest, graph, images)


def _written_last(marks: Sequence[Mark], anew: Restamped, other: OtherLog) -> State | None:
    """Give the export that fits the stamps best: it has most of them and least besides, the latest of equals."""
    carried = {anew.original.get(mark.stamp, mark.stamp) for mark in marks}
    best: tuple[tuple[int, int], State] | None = None
    for state in reversed(other.states):
        if other.sidecar is not None and state.file_digest == other.sidecar:
            return state
        wrote = {_stamp_of(entry) for entry in state.entries()} - {""}
        if not carried & wrote:
            continue
        fits = (len(carried & wrote), -len(wrote - carried))
        if best is None or fits > best[0]:
            best = fits, state
        if carried == wrote:
            break
    return None if best is None else best[1]


def _from_elsewhere(
    marks: Sequence[Mark], anew: Restamped, have: Sequence[ManifestEntry], other: OtherLog
) -> list[ManifestEntry]:
    """Give the images of refinements whose stamps the graph carries and the chosen export does not have."""
    missing = {anew.original.get(mark.stamp, mark.stamp): mark.by for mark in marks}
    for entry in have:
        missing.pop(_stamp_of(entry), None)
    known = {(entry.object, entry.key) for entry in have}
    more: list[ManifestEntry] = []
    for state in reversed(other.states if missing else ()):
        wanted = {by.rpartition(".")[0] for by in missing.values()}
        for entry in state.entries():
            if entry.by.rpartition(".")[0] in wanted and (entry.object, entry.key) not in known:
                more.append(entry)
                known.add((entry.object, entry.key))
        for entry in more:
            missing.pop(_stamp_of(entry), None)
        if not missing:
            break
    return more


def _stamp_of(entry: ManifestEntry) -> str:
    if entry.disk is None or not entry.disk.startswith("{"):
        return ""
    return str(read_object(entry.disk).get(STAMP, ""))


class _StandIn:
    """Makes what stands in for a base that is not at hand, and the manifest over it."""

    def __init__(self, graph: GraphFile, prefix: str, marks: Sequence[Mark]) -> None:
        self._graph = graph
        self._prefix = prefix
        self._found = Found(graph)
        self._marks: defaultdict[str, list[Mark]] = defaultdict(list)
        for mark in marks:
            self._marks[mark.stamp].append(mark)
        self._ids = set(graph.nodes.id)
        self._stubs: set[str] = set()
        self._nodes: set[str] = set()
        self._claimed: set[str] = set()
        self._removed: set[tuple[str, int]] = set()
        self._inserted: defaultdict[str, list[tuple[int, int, str, int]]] = defaultdict(list)

    def over(self, given: Sequence[ManifestEntry]) -> tuple[GraphFile, list[ManifestEntry]]:
        """Give the stand-in and these entries as they are over it, under the names that the graph has."""
        self._stubs = {
            entry.key
            for entry in given
            if entry.object == "node" and entry.base and read_object(entry.base).get("external")
        }
        entries = [self._named(entry) for entry in given]
        self._nodes = self._ids | {
            entry.key for entry in entries if entry.object == "node" and entry.base is not None
        }
        kept = [entry for number, entry in enumerate(entries) if self._laid(number, entry)]
        amendments = Amendments(removed=self._removed)
        order: dict[str, list[int]] = {}
        for section, items in self._inserted.items():
            items.sort(key=lambda item: item[:2])
            amendments.inserted[section] = [(before, text) for before, _, text, _ in items]
            order[section] = [number for *_, number in items]
        amended = amend(self._graph, amendments)
        base = amended.graph
        keys: dict[int, str] = {}
        for section, numbers in order.items():
            for number, ordinal in zip(numbers, amended.inserted[section], strict=True):
                if number >= 0:
                    keys.setdefault(number, key_at(base, section, ordinal))
        successors = {given[number].key: key for number, key in keys.items()}
        reader = BaseFile.of(base)
        numbered = {id(entry): number for number, entry in enumerate(entries)}
        manifest = []
        for entry in kept:
            key = keys.get(numbered[id(entry)], entry.key)
            place = reader.place(entry.object, key) if entry.object != "header" else None
            successor = successors.get(entry.successor or "", entry.successor)
            manifest.append(entry.model_copy(update={"key": key, "place": place, "successor": successor}))
        return base, manifest

    def _laid(self, number: int, entry: ManifestEntry) -> bool:
        """Put an entry's before-image into the stand-in; tell whether the entry says anything about the graph."""
        if entry.object == "header":
            return True
        marks = self._marks.get(_stamp_of(entry), [])
        for mark in marks:
            at = (mark.place.section, mark.place.ordinal)
            if at in self._removed:
                continue
            self._removed.add(at)
            if entry.base is not None:
                self._inserted[at[0]].append((at[1], 0, entry.base, number))
        if marks or entry.base is None:
            return True
        if self._is_there(entry) or self._dangles(entry):
            return False
        section = self._section(entry)
        if section is None or entry.place is None:
            return False
        count = len(self._graph.spans[section].starts)
        before = min(self._first(entry.object, section) + entry.place[1], count)
        self._inserted[section].append((before, 1 + entry.place[1], entry.base, number))
        return True

    def _is_there(self, entry: ManifestEntry) -> bool:
        """Tell whether the graph has an object without a stamp of the other log in the place of a before-image."""
        members = read_object(entry.base or "{}") if (entry.base or "").startswith("{") else {}
        if entry.object == "node":
            return (storable_text(members.get("id")) or "") in self._ids
        if entry.object == "hyperedge":
            name = entry.key.partition(":")[2]
            return any(key.partition(":")[2] == name for key in self._graph.hyperedges.key)
        stem, occurrence = edge_key(*link_identity(members)), 0
        while (key := f"{stem}#{occurrence}" if occurrence else stem) in self._found.link_at:
            place = self._found.place("link", self._found.link_at[key])
            mark = self._found.mark_at.get(place)
            if key not in self._claimed and (mark is None or not mark.valid):
                self._claimed.add(key)
                return True
            occurrence += 1
        return False

    def _dangles(self, entry: ManifestEntry) -> bool:
        """Tell whether a before-image names an entity that the graph does not have."""
        members = read_object(entry.base or "{}") if (entry.base or "").startswith("{") else {}
        named = ends_of(members) if entry.object == "link" else tuple(map(storable_text, listed(members)))
        return entry.object != "node" and not self._nodes.issuperset(named)

    def _section(self, entry: ManifestEntry) -> str | None:
        name = entry.place[0] if entry.place is not None else ""
        if self._graph.header.section(name) is not None:
            return name
        others = self._graph.header.of_kind(entry.object)
        return others[0].name if others else None

    def _first(self, kind: str, section: str) -> int:
        """Give where the objects with the prefix begin: a merged graph has those of one file behind another's."""
        if not self._prefix or kind == "hyperedge" or self._graph.header.of_kind(kind)[0].name != section:
            return 0
        column = self._graph.nodes.id if kind == "node" else self._graph.links.source
        return next((at for at, name in enumerate(column) if name.startswith(self._prefix)), 0)

    def _named(self, entry: ManifestEntry) -> ManifestEntry:
        if not self._prefix or entry.object == "header":
            return entry
        update: dict[str, Any] = {}
        for name in ("base", "disk"):
            text = getattr(entry, name)
            if text is not None and text.startswith("{"):
                update[name] = self._text(text, entry.object)
        if entry.object == "node":
            update["key"] = storable_text(self._rename(entry.key)) or ""
            if entry.successor is not None:
                update["successor"] = storable_text(self._rename(entry.successor))
        elif entry.object == "link" and entry.base is None and update.get("disk"):
            update["key"] = edge_key(*link_identity(read_object(update["disk"])))
        elif entry.object == "hyperedge":
            slot, _, name = entry.key.partition(":")
            update["key"] = f"{slot}:{self._prefix}{name}"
        return entry.model_copy(update=update)

    def _text(self, raw: str, kind: str) -> str:
        """Give an object's text as graphify writes it under a prefix, and its stamp made anew."""
        members = read_object(raw)
        named = renamed(members, self._rename)
        if kind == "hyperedge" and members.get("id") is not None:
            named["id"] = f"{self._prefix}{members['id']}"
        if kind == "link":
            for name, true_name in (("source", "_src"), ("target", "_tgt")):
                named[name] = named[name] if named.get(true_name) is None else named[true_name]
        changes = {name: value for name, value in named.items() if value != members.get(name)}
        if kind == "node" and not members.get("external"):
            changes |= {
                "repo": self._prefix.removesuffix("::"),
                "local_id": members.get("local_id", str(members.get("id"))),
            }
        mark = members.get(STAMP)
        if isinstance(mark, str):
            changes[STAMP] = stamp(mark.rpartition(":")[0], {**named, **changes}, kind=kind)
        return edit_object(raw, changes, ("_src", "_tgt"), header=self._graph.header)

    def _rename(self, value: Any) -> Any:
        """Put the prefix before an id, but for what is external: that has one name in all repositories."""
        name = f"{self._prefix}{value}"
        bare = storable_text(value) or ""
        if name not in self._ids and (bare in self._ids or bare in self._stubs):
            return value
        return name
