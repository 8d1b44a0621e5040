"""The objects of a file under names that are the same in every file that has them."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping
from dataclasses import dataclass
from typing import NamedTuple

from deeprefine_graphdb.graph.manifest import ObjectName, places_of
from deeprefine_loaders.graphfile import GraphFile
from deeprefine_loaders.objects import read_object
from deeprefine_loaders.scan import utf8

STEM = 24
"""Characters of an edge key before the mark of its occurrence."""


class Identity(NamedTuple):
    """What an object is matched by. ``twin`` tells apart links with one triple, ``""`` where there is but one."""

    object: ObjectName
    key: str
    twin: str = ""


class Stands(NamedTuple):
    """Where an object stands in its file: section, ordinal there, and the span of its text."""

    section: str
    ordinal: int
    start: int
    end: int


@dataclass(frozen=True)
class Objects:
    """The nodes, links and hyperedges of a file by identity."""

    stands: Mapping[Identity, Stands]
    file: GraphFile | None = None

    @classmethod
    def of(cls, file: GraphFile, several: Collection[str]) -> Objects:
        """Name the objects of a file. ``several`` are the triples (as key stems) that some file has more than once."""
        found: dict[Identity, Stands] = {}
        for obj, key, section, ordinal, start, end in places_of(file):
            stands = Stands(section, ordinal, start, end)
            identity = Identity(obj, key)
            if obj == "link" and key[:STEM] in several:
                identity = Identity(obj, key[:STEM], _place_of(file, stands))
            elif obj == "hyperedge":
                bare = Identity(obj, key.removeprefix(f"{stands.section}:"))
                identity = bare if bare not in found else identity
            found[_unused(found, identity)] = stands
        return cls(found, file)

    @staticmethod
    def equal_triples(file: GraphFile) -> set[str]:
        """Give the stems of the keys of links whose triple stands more than once in a file."""
        return {key[:STEM] for key in file.links.key if len(key) > STEM}

    @staticmethod
    def header_of(file: GraphFile) -> Iterator[tuple[str, str]]:
        """Give the header members of a file, each with the text of its value."""
        for member in file.header.members:
            if file.header.section(member.name) is None:
                yield member.name, utf8(file.text[member.start : member.end])

    def text(self, identity: Identity) -> str | None:
        """Give the text of an object, ``None`` where the file does not have it."""
        stands = self.stands.get(identity)
        if stands is None or self.file is None:
            return None
        return utf8(self.file.text[stands.start : stands.end])


def _place_of(file: GraphFile, stands: Stands) -> str:
    """Tell links with one triple apart by the source file and the place there that they are from."""
    text = utf8(file.text[stands.start : stands.end])
    if not text.startswith("{"):
        return text
    members = read_object(text)
    return f"{members.get('source_file')}@{members.get('source_location')}"


def _unused(found: Mapping[Identity, Stands], identity: Identity) -> Identity:
    number = 1
    unused = identity
    while unused in found:
        unused = identity._replace(twin=f"{identity.twin}#{number}")
        number += 1
    return unused
