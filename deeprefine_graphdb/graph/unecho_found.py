"""The file now found: its objects by key, and the stamps that they carry."""

from __future__ import annotations

from bisect import bisect_right
from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass
from functools import cached_property
from typing import Any

from deeprefine_graphdb.graph.texts import STAMP, stamp
from deeprefine_graphdb.graph.unecho_model import ObjectKind, Place
from deeprefine_loaders.graphfile import GraphFile
from deeprefine_loaders.header import KIND_OF_SECTION
from deeprefine_loaders.objects import read_object
from deeprefine_loaders.scan import utf8

Pair = tuple[str, str]
_KINDS: dict[str, ObjectKind] = {"node": "node", "link": "link", "hyperedge": "hyperedge"}


@dataclass(frozen=True)
class Mark:
    """A stamp in the file, and the object that carries it. ``valid`` says that it was made for this object."""

    object: ObjectKind
    place: Place
    key: str
    raw: str
    members: dict[str, Any]
    stamp: str
    valid: bool

    @property
    def by(self) -> str:
        """The action that the stamp names."""
        return self.stamp.rpartition(":")[0]


class Found:
    """Reads the file now found."""

    def __init__(self, graph: GraphFile) -> None:
        self.graph = graph
        self.marks = self._marks()
        self.mark_at = {mark.place: mark for mark in self.marks}

    @cached_property
    def node_at(self) -> dict[str, int]:
        """Where the nodes stand, by id."""
        return {node_id: at for at, node_id in enumerate(self.graph.nodes.id)}

    @cached_property
    def link_at(self) -> dict[str, int]:
        """Numbers of the links among all links, by key."""
        return {key: at for at, key in enumerate(self.graph.links.key)}

    @cached_property
    def hyperedge_at(self) -> dict[str, int]:
        """Numbers of the hyperedges among all hyperedges, by key."""
        return {key: at for at, key in enumerate(self.graph.hyperedges.key)}

    @cached_property
    def unstamped_files(self) -> set[str | None]:
        """The source files of nodes that carry no stamp of their own."""
        files = Counter(self.graph.nodes.source_file)
        for mark in self.marks:
            if mark.object == "node" and mark.valid:
                files[self.graph.nodes.source_file[mark.place.ordinal]] -= 1
        return {name for name, count in files.items() if count > 0}

    def place(self, kind: str, number: int) -> Place:
        """Give the place of the object with this number among its kind."""
        for section in self.graph.header.of_kind(kind):
            if number < section.count:
                return Place(section.name, number)
            number -= section.count
        raise IndexError(f"{kind} {number}")

    def number(self, place: Place) -> int:
        """Give the number of an object among its kind."""
        number = place.ordinal
        for section in self.graph.header.of_kind(KIND_OF_SECTION[place.section]):
            if section.name == place.section:
                break
            number += section.count
        return number

    def raw(self, place: Place) -> str:
        """Give the text of the object at a place."""
        spans = self.graph.spans[place.section]
        return utf8(self.graph.text[spans.starts[place.ordinal] : spans.ends[place.ordinal]])

    def members(self, place: Place) -> dict[str, Any]:
        """Give the members of the object at a place."""
        return read_object(self.raw(place))

    def header_text(self, name: str) -> str | None:
        """Give the text of a top-level member's value."""
        member = self.graph.header.member(name)
        return None if member is None else utf8(self.graph.text[member.start : member.end])

    def links_on(self, pairs: Iterable[Pair]) -> dict[Pair, list[int]]:
        """Give the numbers of the links on each of these pairs (in order of the two ids), in whatever direction."""
        found: dict[Pair, list[int]] = {pair: [] for pair in pairs}
        ids = {end for pair in found for end in pair}
        if ids:
            links = self.graph.links
            for at, (source, target) in enumerate(zip(links.source, links.target, strict=True)):
                if source in ids and target in ids and (pair := pair_of(source, target)) in found:
                    found[pair].append(at)
        return found

    def links_at(self, ids: set[str]) -> list[int]:
        """Give the numbers of the links that have one of these ends."""
        if not ids:
            return []
        links = self.graph.links
        return [
            at
            for at, (source, target) in enumerate(zip(links.source, links.target, strict=True))
            if source in ids or target in ids
        ]

    def _marks(self) -> list[Mark]:
        text, needle = self.graph.text, f'"{STAMP}"'
        places: dict[Place, None] = {}
        position = text.find(needle)
        while position >= 0:
            place = self._place_at(position)
            if place is not None:
                places[place] = None
            position = text.find(needle, position + len(needle))
        return [mark for place in places if (mark := self._mark(place)) is not None]

    def _place_at(self, position: int) -> Place | None:
        for section in self.graph.header.sections:
            if section.start < position < section.end:
                spans = self.graph.spans[section.name]
                ordinal = bisect_right(spans.starts, position) - 1
                if (
                    ordinal >= 0
                    and position < spans.ends[ordinal]
                    and text_is_object(self.graph, section.name, ordinal)
                ):
                    return Place(section.name, ordinal)
        return None

    def _mark(self, place: Place) -> Mark | None:
        raw = self.raw(place)
        members = read_object(raw)
        if STAMP not in members:
            return None
        kind = KIND_OF_SECTION[place.section]
        columns = {
            "node": self.graph.nodes.id,
            "link": self.graph.links.key,
            "hyperedge": self.graph.hyperedges.key,
        }
        given = members[STAMP]
        text = given if isinstance(given, str) else ""
        own = text == stamp(text.rpartition(":")[0], members, kind=kind)
        key = columns[kind][self.number(place)]
        return Mark(_KINDS[kind], place, key, raw, members, text, own)


def text_is_object(graph: GraphFile, section: str, ordinal: int) -> bool:
    """Tell whether an element is an object; a hyperedge may be anything."""
    return graph.text.startswith("{", graph.spans[section].starts[ordinal])


def key_at(graph: GraphFile, section: str, ordinal: int) -> str:
    """Give the key of the element at a place of a file."""
    kind = KIND_OF_SECTION[section]
    columns = {"node": graph.nodes.id, "link": graph.links.key, "hyperedge": graph.hyperedges.key}
    for other in graph.header.of_kind(kind):
        if other.name == section:
            break
        ordinal += other.count
    return columns[kind][ordinal]


def pair_of(one: str, other: str) -> Pair:
    """Give two ids in order."""
    return (one, other) if one <= other else (other, one)
