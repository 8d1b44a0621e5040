"""Merging two bases that grew from a third, object by object; whoever merges gets the same bytes.

Nodes are matched by id, links by their triple (equal ones by file and place too), hyperedges by id, header members by
name. What one side alone changed, added or took out is so in the merge; what both changed is merged field by field.
Where both changed one field otherwise, the value counts that comes last in a fixed order, so that neither side has to
be the first. What one side took out and the other changed stays, and so does a node that the other side needs.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from functools import cached_property
from typing import Literal

from deeprefine_graphdb.graph.manifest import ObjectName
from deeprefine_graphdb.graph.three_way_fields import merged_object, merged_value, same
from deeprefine_graphdb.graph.three_way_model import Identity, Objects
from deeprefine_graphdb.graph.three_way_place import placed
from deeprefine_graphdb.graph.unecho_text import ends_of, listed
from deeprefine_graphdb.model.actions import Frozen
from deeprefine_graphdb.model.errors import GraphFormatError
from deeprefine_loaders.amend import Amendments, amend
from deeprefine_loaders.collector import collector_paused
from deeprefine_loaders.graphfile import GraphFile, parse_graph
from deeprefine_loaders.header import KIND_OF_SECTION
from deeprefine_loaders.identity import storable_text
from deeprefine_loaders.objects import read_object

MULTIGRAPH = "multigraph"
NESTED = "graph.hyperedges"


class MergeNote(Frozen):
    """What could not be had both ways.

    ``field``: both sides changed it; ``kept``: one took it out and the other changed it; ``needed``: one took out a
    node to which the other has a new link.
    """

    kind: Literal["field", "kept", "needed"]
    object: ObjectName
    key: str
    text: str


@dataclass(frozen=True)
class Merged:
    """Two bases merged, and what a person should hear of."""

    graph: GraphFile
    notes: tuple[MergeNote, ...] = ()


def three_way(ancestor: GraphFile | None, ours: GraphFile, theirs: GraphFile) -> Merged:
    """Merge two files that grew from a third one; ``None`` stands for an empty ancestor.

    A side that did not change has no part in it: the result is the other one, to the byte. Otherwise it is laid out as
    the one with more kinds of lists or else the lower digest is, with what the other one has put where it belongs.
    Raises :class:`GraphFormatError` when each of the two lacks a kind of list that the other has.
    """
    if ours.digest == theirs.digest or (ancestor is not None and theirs.digest == ancestor.digest):
        return Merged(ours)
    if ancestor is not None and ours.digest == ancestor.digest:
        return Merged(theirs)
    frame, other = sorted((ours, theirs), key=lambda file: (-len(_kinds(file)), file.digest))
    if missing := _kinds(other) - _kinds(frame):
        raise GraphFormatError(
            f"{frame.source} has no list of {missing.pop()}s at all, and {other.source} has."
        )
    with collector_paused():
        merge = _Merge(ancestor, frame, other)
        merge.decide()
        return Merged(merge.written(), tuple(merge.notes))


@dataclass
class _Merge:
    """The work of one merge. ``wanted`` has the text of every object that differs from the frame's, ``None``: gone."""

    ancestor: GraphFile | None
    frame: GraphFile
    other: GraphFile
    wanted: dict[Identity, str | None] = field(default_factory=dict)
    notes: list[MergeNote] = field(default_factory=list)

    @cached_property
    def objects(self) -> tuple[Objects, Objects, Objects]:
        """The objects of ancestor, frame and other."""
        files = [file for file in (self.ancestor, self.frame, self.other) if file is not None]
        several = {key for file in files for key in Objects.equal_triples(file)}
        empty = Objects({})
        first = empty if self.ancestor is None else Objects.of(self.ancestor, several)
        return first, Objects.of(self.frame, several), Objects.of(self.other, several)

    def decide(self) -> None:
        """Say what becomes of every object that differs between frame and other."""
        was, here, there = self.objects
        for identity in sorted(here.stands.keys() | there.stands.keys()):
            texts = was.text(identity), here.text(identity), there.text(identity)
            if not same(texts[1], texts[2]):
                self._decide(identity, *texts)
        self._bring_back_ends()

    def _decide(self, identity: Identity, was: str | None, here: str | None, there: str | None) -> None:
        if same(there, was):
            return
        if same(here, was):
            self.wanted[identity] = there
        elif here is None or there is None:
            self.wanted[identity] = here if there is None else there
            self._note("kept", identity, "One side took it out and the other changed it: it stays.")
        else:
            text, clashes = merged_object(was, here, there, self.frame.header)
            self.wanted[identity] = text
            for name, value in clashes:
                self._note("field", identity, f"Both sides changed {name}; it is {value} now.")

    def _bring_back_ends(self) -> None:
        """Let no link or hyperedge that one side added or changed lose a node that the other side took out."""
        was, here, there = self.objects
        gone = {
            identity.key: identity
            for identity in was.stands
            if identity.object == "node" and self._text(identity) is None
        }
        if not gone:
            return
        for identity in [*here.stands, *there.stands]:
            text = self._text(identity) if identity.object in {"link", "hyperedge"} else None
            if text is None or same(text, was.text(identity)):
                continue
            for end in _ends(text):
                node = gone.pop(end, None)
                if node is not None:
                    self.wanted[node] = here.text(node) or there.text(node) or was.text(node)
                    self._note(
                        "needed", node, "One side took it out and the other has a new link to it: it stays."
                    )

    def _text(self, identity: Identity) -> str | None:
        if identity in self.wanted:
            return self.wanted[identity]
        return self.objects[1].text(identity)

    def written(self) -> GraphFile:
        """Give the frame with everything in it that is wanted otherwise."""
        _, here, there = self.objects
        amendments = Amendments(header=dict(self._header()))
        changed: dict[Identity, str] = {}
        for identity, text in self.wanted.items():
            stands = here.stands.get(identity)
            if stands is not None:
                amendments.removed.add((stands.section, stands.ordinal))
            if text is not None:
                changed[identity] = text
        for section, items in placed(
            self.frame, self.other, here, there, changed, amendments.removed
        ).items():
            amendments.inserted[section] = items
        graph = amend(self.frame, amendments).graph
        parallel = self.frame.header.parallel_pairs or self.other.header.parallel_pairs
        says = graph.header.has_multigraph and not graph.header.multigraph
        if says and graph.header.parallel_pairs and not parallel:
            graph = amend(graph, Amendments(header={MULTIGRAPH: "true"})).graph
        return parse_graph(graph.text.encode("latin-1"), self.frame.source)

    def _header(self) -> Iterator[tuple[str, str | None]]:
        """Give the header members that are to be otherwise than the frame has them."""
        was, here, there = (_members(file) for file in (self.ancestor, self.frame, self.other))
        nested = any(file.header.section(NESTED) is not None for file in (self.frame, self.other))
        for name in sorted(here.keys() | there.keys()):
            texts = was.get(name), here.get(name), there.get(name)
            if same(texts[1], texts[2]) or same(texts[2], texts[0]) or (nested and name == "graph"):
                continue
            if same(texts[1], texts[0]):
                yield name, texts[2]
                continue
            text, clashes = merged_value(*texts, self.frame.header)
            if not same(text, texts[1]):
                yield name, text
            for clash, value in clashes:
                where = f"{name}.{clash}" if clash else name
                identity = Identity("header", f"header:{name}")
                self._note("field", identity, f"Both sides changed {where}; it is {value} now.")

    def _note(self, kind: Literal["field", "kept", "needed"], identity: Identity, says: str) -> None:
        shown = f"{identity.object} {identity.key}: {says}"
        self.notes.append(MergeNote(kind=kind, object=identity.object, key=identity.key, text=shown))


def _kinds(file: GraphFile) -> set[str]:
    return {KIND_OF_SECTION[section.name] for section in file.header.sections}


def _ends(text: str) -> Iterator[str]:
    if not text.startswith("{"):
        return
    members = read_object(text)
    yield from ends_of(members)
    yield from (storable_text(member) or "" for member in listed(members))


def _members(file: GraphFile | None) -> Mapping[str, str]:
    """Give the header members of a file by name."""
    if file is None:
        return {}
    return dict(Objects.header_of(file))
