"""Objects of a graph.json as columns: plain lists, one entry an object, in file order."""

from __future__ import annotations

from array import array
from collections import Counter
from collections.abc import Callable, Iterable
from contextlib import suppress
from dataclasses import dataclass, field
from hashlib import blake2b
from typing import Any

from .errors import FormatError
from .fields import members_of_hyperedge, relation_member
from .identity import JSON_PREFIX, column_text, edge_key, hyperedge_key, shown_label, storable_text

Taker = Callable[[list[Any], list[int], list[int]], None]
"""Is given parsed elements, where each starts and where each ends."""

_TEXTS = frozenset({str, type(None)})
_PAIRS = 1 << 14
_WHOLE = frozenset({int, type(None)})


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

    def add(self, starts: list[int], ends: list[int]) -> None:
        """Add elements in file order."""
        self.starts.extend(starts)
        self.ends.extend(ends)

    def flat(self) -> array[int]:
        """Give start, end, start, end and so on."""
        both = array("Q", bytes(16 * len(self.starts)))
        both[::2], both[1::2] = self.starts, self.ends
        return both


class Pool:
    """Gives values as text, by a function of :mod:`identity`, and keeps one copy of equal texts."""

    def __init__(self, write: Callable[[Any], str | None]) -> None:
        self._write = write
        self._of_text = _Known(write)
        self._of_whole = _Known(write)

    def know(self, texts: Iterable[str]) -> None:
        """Take texts of strings that read the same, so that equal ones become these objects."""
        self._of_text.update((text, text) for text in texts if not text.startswith(JSON_PREFIX))

    def column(self, values: list[Any]) -> list[str | None]:
        """Give the texts of values, the same object for equal ones."""
        with suppress(TypeError):
            # Only strings, and None, have a text there: what is found needs no look at its type.
            texts = list(map(self._of_text.get, values))
            if None not in texts:
                return texts
        types = set(map(type, values))
        if types <= _TEXTS:
            return list(map(self._of_text.__getitem__, values))
        if types <= _WHOLE:
            return list(map(self._of_whole.__getitem__, values))
        return [self._one(value) for value in values]

    def _one(self, value: Any) -> str | None:
        if type(value) is str or value is None:
            return self._of_text[value]
        return self._of_whole[value] if type(value) is int else self._write(value)


class _Known(dict[Any, "str | None"]):
    """Texts of values of one type, which are made when they are first asked for."""

    def __init__(self, write: Callable[[Any], str | None]) -> None:
        self._write = write

    def __missing__(self, value: Any) -> str | None:
        text = self[value] = self._write(value)
        return text


class NodeReader:
    """Takes nodes in batches. Its takers raise :class:`FormatError` for what is no node."""

    def __init__(self, source: str) -> None:
        self.columns = NodeColumns()
        self.places: dict[str, int] = {}
        self.with_norm_label = 0
        self.with_community = 0
        self._source = source
        self._pool = Pool(column_text)

    def taker(self, section: str, spans: Spans) -> Taker:
        """Give what adds the nodes of a section."""

        def take(nodes: list[Any], starts: list[int], ends: list[int]) -> None:
            _check_objects(self._source, section, nodes, len(spans.starts), starts)
            columns, column = self.columns, self._pool.column
            ids = self._ids(section, nodes, starts)
            labels = self._labels(nodes, ids)
            columns.id.extend(ids)
            columns.label.extend(labels)
            columns.norm_label.extend(self._norms(nodes, labels))
            columns.file_type.extend(column([node.get("file_type") for node in nodes]))
            columns.source_file.extend(column([node.get("source_file") for node in nodes]))
            columns.source_location.extend(column([node.get("source_location") for node in nodes]))
            columns.community.extend(column([node.get("community") for node in nodes]))
            columns.origin.extend(column([node.get("_origin") for node in nodes]))
            self.with_norm_label += sum("norm_label" in node for node in nodes)
            self.with_community += sum("community" in node for node in nodes)
            spans.add(starts, ends)

        return take

    def _ids(self, section: str, nodes: list[dict[str, Any]], starts: list[int]) -> list[str]:
        known, count = self.places, len(self.places)
        ids = [storable_text(node.get("id")) for node in nodes]
        for at, node_id in enumerate(ids):
            if node_id is None:
                raise _wrong(self._source, section, count + at, starts[at], "has no id")
            if known.setdefault(node_id, count + at) != count + at:
                raise FormatError(
                    f"{self._source} has two nodes with the id {node_id!r} (the second at byte {starts[at]}).",
                    "Remove or rename one of them, or run graphify again.",
                )
        return [node_id for node_id in ids if node_id is not None]

    @staticmethod
    def _labels(nodes: list[dict[str, Any]], ids: list[str]) -> list[str]:
        """Give the labels that are shown; one that is the id is the very same object."""
        labels = [
            label if type(label) is str and label.isascii() else shown_label(node)
            for node, label in zip(nodes, [node.get("label") for node in nodes], strict=True)
        ]
        return [node_id if label == node_id else label for node_id, label in zip(ids, labels, strict=True)]

    @staticmethod
    def _norms(nodes: list[dict[str, Any]], labels: list[str]) -> list[str | None]:
        norms = [node.get("norm_label") for node in nodes]
        return [
            label if norm == label else column_text(norm) for label, norm in zip(labels, norms, strict=True)
        ]


class LinkReader:
    """Takes links in batches. Its takers raise :class:`FormatError` for what is no link."""

    def __init__(self, source: str) -> None:
        self.columns = LinkColumns()
        self.relation_members: Counter[str] = Counter()
        self._source = source
        self._pool = Pool(column_text)
        self._ends = Pool(storable_text)
        self._seen: dict[str, int] = {}

    def know(self, ids: Iterable[str]) -> None:
        """Take the ids of nodes, so that the ends of links become the very same objects."""
        self._ends.know(ids)

    def taker(self, section: str, spans: Spans) -> Taker:
        """Give what adds the links of a section."""

        def take(links: list[Any], starts: list[int], ends: list[int]) -> None:
            _check_objects(self._source, section, links, len(spans.starts), starts)
            columns, column = self.columns, self._pool.column
            sources, targets = self._end_ids(links, "_src", "source"), self._end_ids(links, "_tgt", "target")
            relations = [text or "" for text in column(self._relations(links))]
            columns.key.extend(self._keys(sources, relations, targets))
            columns.source.extend(sources)
            columns.target.extend(targets)
            columns.relation.extend(relations)
            columns.confidence.extend(column([link.get("confidence") for link in links]))
            spans.add(starts, ends)

        return take

    def _end_ids(self, links: list[dict[str, Any]], true_name: str, name: str) -> list[str]:
        given = [link.get(true_name) for link in links]
        plain = [link.get(name) for link in links]
        if given.count(None) < len(given):
            plain = [other if end is None else end for end, other in zip(given, plain, strict=True)]
        return [end or "" for end in self._ends.column(plain)]

    def _relations(self, links: list[dict[str, Any]]) -> list[Any]:
        relations = [link.get("relation") for link in links]
        if None not in relations:
            self.relation_members["relation"] += len(links)
            return relations
        members = [relation_member(link) for link in links]
        self.relation_members.update(member for member in members if member is not None)
        return [None if member is None else link[member] for link, member in zip(links, members, strict=True)]

    def _keys(self, sources: list[str], relations: list[str], targets: list[str]) -> list[str]:
        keys = list(map(edge_key, sources, relations, targets))
        seen = self._seen
        for at, key in enumerate(keys):
            if key in seen:
                seen[key] = occurrence = seen[key] + 1
                keys[at] = edge_key(sources[at], relations[at], targets[at], occurrence)
            else:
                seen[key] = 0
        return keys

    def finish(self, places: dict[str, int]) -> bool:
        """Mark the links that dangle; tell whether a pair of ends has more than one link."""
        columns = self.columns
        self._seen.clear()
        sources, targets, count = columns.source, columns.target, len(columns.source)
        columns.dangling = [False] * count
        if not all(map(places.__contains__, sources)) or not all(map(places.__contains__, targets)):
            columns.dangling = [
                a not in places or b not in places for a, b in zip(sources, targets, strict=True)
            ]
        pairs: set[tuple[str, str]] = set()
        for start in range(0, count, _PAIRS):
            some = zip(sources[start : start + _PAIRS], targets[start : start + _PAIRS], strict=True)
            pairs.update((a, b) if a < b else (b, a) for a, b in some)
            if len(pairs) < min(start + _PAIRS, count):
                return True
        return False


class HyperedgeReader:
    """Takes hyperedges in batches, whatever they look like. ``text`` is the file as latin-1."""

    def __init__(self, text: str) -> None:
        self.columns = HyperedgeColumns()
        self._text = text
        self._used: set[str] = set()

    def taker(self, section: str, spans: Spans) -> Taker:
        """Give what adds the hyperedges of a slot."""

        def take(hyperedges: list[Any], starts: list[int], ends: list[int]) -> None:
            for hyperedge, start, end in zip(hyperedges, starts, ends, strict=True):
                self._add(section, hyperedge, start, end)
            spans.add(starts, ends)

        return take

    def _add(self, section: str, hyperedge: Any, start: int, end: int) -> None:
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


def _check_objects(source: str, section: str, elements: list[Any], count: int, starts: list[int]) -> None:
    if set(map(type, elements)) != {dict}:
        at = next(at for at, element in enumerate(elements) if type(element) is not dict)
        raise _wrong(source, section, count + at, starts[at], "is not an object")


def _wrong(source: str, section: str, number: int, start: int, what: str) -> FormatError:
    return FormatError(f"{source}: element {number} of {section} (at byte {start}) {what}.")


def _digest(text: str) -> str:
    return blake2b(text.encode("latin-1"), digest_size=12).hexdigest()
