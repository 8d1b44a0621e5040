"""Objects of a graph.json as columns: plain lists, one entry an object, in file order."""

from __future__ import annotations

from array import array
from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass, field
from hashlib import blake2b
from typing import Any

from .errors import FormatError
from .fields import members_of_hyperedge, relation_member
from .identity import column_text, edge_key, hyperedge_key, shown_label, storable_text

Taker = Callable[[Any, int, int], None]
"""Is given a parsed element, its start and its end."""


@dataclass
class NodeColumns:
    """Nodes. Every entry is in storable form; all but ``id`` and ``label`` may be ``None``."""

    id: list[str] = field(default_factory=list)
    label: list[str] = field(default_factory=list)
    norm_label: list[str | None] = field(default_factory=list)
    file_type: list[str | None] = field(default_factory=list)
    source_file: list[str | None] = field(default_factory=list)
    source_location: list[str | None] = field(default_factory=list)
    community: list[str | None] = field(default_factory=list)
    origin: list[str | None] = field(default_factory=list)


@dataclass
class LinkColumns:
    """Links of both lists. ``source`` and ``target`` are entity ids in true direction, ``""`` when missing.

    ``dangling`` says that an end is no node of the file.
    """

    key: list[str] = field(default_factory=list)
    source: list[str] = field(default_factory=list)
    target: list[str] = field(default_factory=list)
    relation: list[str] = field(default_factory=list)
    confidence: list[str | None] = field(default_factory=list)
    dangling: list[bool] = field(default_factory=list)


@dataclass
class HyperedgeColumns:
    """Hyperedges of both slots. ``members`` are entity ids in file order, ``slot`` the section's name."""

    key: list[str] = field(default_factory=list)
    members: list[tuple[str, ...]] = field(default_factory=list)
    slot: list[str] = field(default_factory=list)


class Spans:
    """Start and end of every element of a section, in file order."""

    def __init__(self) -> None:
        self.starts = array("Q")
        self.ends = array("Q")

    def flat(self) -> array[int]:
        """Give start, end, start, end and so on."""
        both = array("Q", bytes(16 * len(self.starts)))
        both[::2], both[1::2] = self.starts, self.ends
        return both


class Pool:
    """Gives values as text, by a function of :mod:`identity`, and keeps one copy of equal texts."""

    def __init__(self, write: Callable[[Any], str | None]) -> None:
        self._write = write
        self._texts: dict[str, str] = {}
        self._numbers: dict[int, str] = {}

    def text(self, value: Any) -> str | None:
        """Give the text of a value, the same object for equal ones."""
        if type(value) is str:
            kept = self._texts.get(value)
            if kept is None:
                kept = self._texts[value] = self._write(value) or ""
            return kept
        if type(value) is int:
            kept = self._numbers.get(value)
            if kept is None:
                kept = self._numbers[value] = self._write(value) or ""
            return kept
        return self._write(value)


class NodeReader:
    """Takes nodes one by one. Its takers raise :class:`FormatError` for what is no node."""

    def __init__(self, source: str) -> None:
        self.columns = NodeColumns()
        self.places: dict[str, int] = {}
        self.with_norm_label = 0
        self.with_community = 0
        self._source = source

    def taker(self, section: str, spans: Spans) -> Taker:
        """Give what adds the nodes of a section; all names are bound once, since it runs for every node."""
        columns, places, pooled, blank = self.columns, self.places, Pool(column_text).text, {"label": None}
        add_id, add_label, add_norm = columns.id.append, columns.label.append, columns.norm_label.append
        add_type, add_file = columns.file_type.append, columns.source_file.append
        add_location, add_community = columns.source_location.append, columns.community.append
        add_origin, add_start, add_end = columns.origin.append, spans.starts.append, spans.ends.append

        def take(node: Any, start: int, end: int) -> None:
            count = len(places)
            if type(node) is not dict:
                raise self._wrong(section, count, start, "is not an object")
            get = node.get
            node_id = storable_text(get("id"))
            if node_id is None:
                raise self._wrong(section, count, start, "has no id")
            if places.setdefault(node_id, count) != count:
                raise FormatError(
                    f"{self._source} has two nodes with the id {node_id!r} (the second at byte {start}).",
                    "Remove or rename one of them, or run graphify again.",
                )
            label, norm = shown_label(node), get("norm_label", blank)
            if norm is blank:
                norm = None
            else:
                self.with_norm_label += 1
                norm = label if norm == label else column_text(norm)
            self.with_community += "community" in node
            add_id(node_id)
            add_label(node_id if label == node_id else label)
            add_norm(norm)
            add_type(pooled(get("file_type")))
            add_file(pooled(get("source_file")))
            add_location(pooled(get("source_location")))
            add_community(pooled(get("community")))
            add_origin(pooled(get("_origin")))
            add_start(start)
            add_end(end)

        return take

    def _wrong(self, section: str, count: int, start: int, what: str) -> FormatError:
        return FormatError(f"{self._source}: element {count} of {section} (at byte {start}) {what}.")


class LinkReader:
    """Takes links one by one. Its takers raise :class:`FormatError` for what is no link."""

    def __init__(self, source: str) -> None:
        self.columns = LinkColumns()
        self.relation_members: Counter[str] = Counter()
        self._source = source
        self._pool = Pool(column_text)
        self._ends = Pool(storable_text)
        self._seen: dict[str, int] = {}

    def taker(self, section: str, spans: Spans) -> Taker:
        """Give what adds the links of a section; all names are bound once, since it runs for every link."""
        columns, members, seen = self.columns, self.relation_members, self._seen
        pooled, end_text = self._pool.text, self._ends.text
        add_key, add_source, add_target = columns.key.append, columns.source.append, columns.target.append
        add_relation, add_confidence = columns.relation.append, columns.confidence.append
        add_start, add_end = spans.starts.append, spans.ends.append

        def take(link: Any, start: int, end: int) -> None:
            if type(link) is not dict:
                raise FormatError(
                    f"{self._source}: element {len(spans.starts)} of {section} (at byte {start}) is not an object."
                )
            get = link.get
            source, target = get("_src"), get("_tgt")
            source = end_text(get("source") if source is None else source) or ""
            target = end_text(get("target") if target is None else target) or ""
            member = "relation"
            relation = get(member)
            if relation is None:
                member = relation_member(link) or ""
                relation = get(member)
            members[member] += 1
            relation = pooled(relation) or ""
            key = edge_key(source, relation, target)
            if key in seen:
                seen[key] = occurrence = seen[key] + 1
                key = edge_key(source, relation, target, occurrence)
            else:
                seen[key] = 0
            add_key(key)
            add_source(source)
            add_target(target)
            add_relation(relation)
            add_confidence(pooled(get("confidence")))
            add_start(start)
            add_end(end)

        return take

    def finish(self, places: dict[str, int]) -> bool:
        """Mark the links that dangle; tell whether a pair of ends has more than one link."""
        columns = self.columns
        self._seen.clear()
        del self.relation_members[""]
        numbers = dict(places)
        for end in (*columns.source, *columns.target):
            if end not in numbers:
                numbers[end] = len(numbers)
        sources, targets = [numbers[end] for end in columns.source], [numbers[end] for end in columns.target]
        nodes, count = len(places), len(numbers)
        columns.dangling = [a >= nodes or b >= nodes for a, b in zip(sources, targets, strict=True)]
        pairs = {a * count + b if a < b else b * count + a for a, b in zip(sources, targets, strict=True)}
        return len(pairs) < len(sources)


class HyperedgeReader:
    """Takes hyperedges one by one, whatever they look like. ``text`` is the file as latin-1."""

    def __init__(self, text: str) -> None:
        self.columns = HyperedgeColumns()
        self._text = text
        self._used: set[str] = set()

    def taker(self, section: str, spans: Spans) -> Taker:
        """Give what adds the hyperedges of a slot."""

        def take(hyperedge: Any, start: int, end: int) -> None:
            identity = storable_text(hyperedge.get("id")) if isinstance(hyperedge, dict) else None
            if identity is None:
                identity = "text:" + _digest(self._text[start:end])
            occurrence = 0
            while (key := hyperedge_key(section, identity, occurrence)) in self._used:
                occurrence += 1
            self._used.add(key)
            self.columns.key.append(key)
            self.columns.members.append(members_of_hyperedge(hyperedge))
            self.columns.slot.append(section)
            spans.starts.append(start)
            spans.ends.append(end)

        return take


def _digest(text: str) -> str:
    return blake2b(text.encode("latin-1"), digest_size=12).hexdigest()
