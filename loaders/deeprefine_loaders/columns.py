"""Objects of a graph.json as columns: plain lists, one entry an object, in file order."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, field
from hashlib import blake2b
from typing import Any

from .errors import FormatError
from .fields import ends_of, members_of_hyperedge, relation_member, relation_of
from .identity import edge_key, hyperedge_key, shown_label, storable_text


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


class Pool:
    """Keeps one copy of equal texts."""

    def __init__(self) -> None:
        self._texts: dict[Any, str] = {}

    def text(self, value: Any) -> str | None:
        """Give the storable form of a value, the same object for equal ones."""
        if value is None:
            return None
        if type(value) is str or type(value) is int:
            kept = self._texts.get(value)
            if kept is None:
                kept = self._texts[value] = storable_text(value) or ""
            return kept
        return storable_text(value)


class NodeReader:
    """Takes nodes one by one. Raises :class:`FormatError` for what is no node."""

    def __init__(self, source: str) -> None:
        self.columns = NodeColumns()
        self.places: dict[str, int] = {}
        self.with_norm_label = 0
        self.with_community = 0
        self._source = source
        self._pool = Pool()

    def take(self, node: Any, start: int, _end: int) -> None:
        """Add a node."""
        columns, count = self.columns, len(self.places)
        if type(node) is not dict:
            raise FormatError(f"{self._source}: element {count} of nodes (at byte {start}) is not an object.")
        node_id = storable_text(node.get("id"))
        if node_id is None:
            raise FormatError(f"{self._source}: element {count} of nodes (at byte {start}) has no id.")
        if self.places.setdefault(node_id, count) != count:
            raise FormatError(
                f"{self._source} has two nodes with the id {node_id!r} (the second at byte {start}).",
                "Remove or rename one of them, or run graphify again.",
            )
        get, pooled = node.get, self._pool.text
        label, norm = shown_label(node), storable_text(get("norm_label"))
        columns.id.append(node_id)
        columns.label.append(node_id if label == node_id else label)
        columns.norm_label.append(label if norm == label else norm)
        columns.file_type.append(pooled(get("file_type")))
        columns.source_file.append(pooled(get("source_file")))
        columns.source_location.append(pooled(get("source_location")))
        columns.community.append(pooled(get("community")))
        columns.origin.append(pooled(get("_origin")))
        self.with_norm_label += "norm_label" in node
        self.with_community += "community" in node


class LinkReader:
    """Takes links one by one. Raises :class:`FormatError` for what is no link."""

    def __init__(self, source: str) -> None:
        self.columns = LinkColumns()
        self.relation_members: Counter[str] = Counter()
        self.section = "links"
        self._source = source
        self._pool = Pool()
        self._ids: dict[str, str] = {}
        self._seen: dict[str, int] = {}

    def take(self, link: Any, start: int, _end: int) -> None:
        """Add a link."""
        columns = self.columns
        if type(link) is not dict:
            raise FormatError(
                f"{self._source}: an element of {self.section} (at byte {start}) is not an object."
            )
        source, target = ends_of(link)
        source, target = self._ids.setdefault(source, source), self._ids.setdefault(target, target)
        relation = link.get("relation")
        if type(relation) is str:
            self.relation_members["relation"] += 1
        else:
            member = relation_member(link)
            if member:
                self.relation_members[member] += 1
            relation = relation_of(link)
        relation = self._pool.text(relation) or ""
        key = edge_key(source, relation, target)
        occurrence = self._seen.get(key, -1) + 1
        self._seen[key] = occurrence
        columns.key.append(edge_key(source, relation, target, occurrence) if occurrence else key)
        columns.source.append(source)
        columns.target.append(target)
        columns.relation.append(relation)
        columns.confidence.append(self._pool.text(link.get("confidence")))

    def finish(self, places: dict[str, int]) -> bool:
        """Mark the links that dangle; tell whether a pair of ends has more than one link."""
        columns = self.columns
        known = places.__contains__
        columns.dangling = [
            not (known(source) and known(target))
            for source, target in zip(columns.source, columns.target, strict=True)
        ]
        numbers = {end: number for number, end in enumerate(self._ids)}
        self._seen, self._ids = {}, {}
        count = len(numbers)
        pairs = set()
        for source, target in zip(columns.source, columns.target, strict=True):
            first, second = numbers[source], numbers[target]
            pairs.add(first * count + second if first < second else second * count + first)
        return len(pairs) < len(columns.source)


class HyperedgeReader:
    """Takes hyperedges one by one, whatever they look like."""

    def __init__(self, text: str) -> None:
        self.columns = HyperedgeColumns()
        self.slot = "hyperedges"
        self._text = text
        self._used: set[str] = set()

    def take(self, hyperedge: Any, start: int, end: int) -> None:
        """Add a hyperedge."""
        identity = storable_text(hyperedge.get("id")) if isinstance(hyperedge, dict) else None
        if identity is None:
            identity = "text:" + _digest(self._text[start:end])
        occurrence = 0
        while (key := hyperedge_key(self.slot, identity, occurrence)) in self._used:
            occurrence += 1
        self._used.add(key)
        self.columns.key.append(key)
        self.columns.members.append(members_of_hyperedge(hyperedge))
        self.columns.slot.append(self.slot)


def _digest(text: str) -> str:
    return blake2b(text.encode("latin-1"), digest_size=12).hexdigest()
