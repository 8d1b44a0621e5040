"""Take elements out of a parsed file and put others in: text, columns and spans, without parsing it again."""

from __future__ import annotations

import hashlib
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from typing import Any

from .collector import collector_paused
from .columns import (
    HyperedgeColumns,
    HyperedgeReader,
    LinkColumns,
    LinkReader,
    NodeColumns,
    NodeReader,
    Spans,
)
from .errors import FormatError
from .graphfile import GraphFile, parse_graph
from .header import Header
from .identity import edge_key
from .parse import Parser
from .scan import Member, scan_object, scan_value, utf8
from .splice import Container, Cut, apply_cuts, cuts_for
from .steps import Keep, New, Step, ordinals_of, steps_of, write
from .style import write_string

_CHUNK = 1 << 22
_STEM = 24
"""Characters of an edge key before the mark of its occurrence."""


@dataclass
class Amendments:
    """What another file has that a file has not, and the other way round; texts are raw JSON.

    ``removed`` are (section, ordinal). ``inserted`` are, by section, the texts that go in, each with the ordinal of
    the element before which it goes (the section's count: at its end); those of one place go in as listed. An element
    is replaced by being removed and its successor being inserted before it. ``header`` are top-level members with
    the text of their value, ``None`` for one that goes.
    """

    removed: set[tuple[str, int]] = field(default_factory=set)
    inserted: dict[str, list[tuple[int, str]]] = field(default_factory=dict)
    header: dict[str, str | None] = field(default_factory=dict)


@dataclass(frozen=True)
class Amended:
    """The other file, and the ordinals there of what was inserted, by section and in the order given."""

    graph: GraphFile
    inserted: dict[str, list[int]]


def amend(graph: GraphFile, amendments: Amendments) -> Amended:
    """Give the file that differs from a parsed one by these amendments; the same as a parse of its bytes would.

    The name under which most links have their relation stays what it was. Raises :class:`FormatError` when a node's
    id would stand twice, ``KeyError`` for a section or header member that the file does not have.
    """
    with collector_paused():
        return _amend(graph, amendments)


def _amend(graph: GraphFile, amendments: Amendments) -> Amended:
    header = graph.header
    for name in (*amendments.inserted, *(name for name, _ in amendments.removed)):
        if header.section(name) is None:
            raise KeyError(f"the file has no section {name}")
    steps = {
        section.name: steps_of(
            section.count,
            {ordinal for name, ordinal in amendments.removed if name == section.name},
            amendments.inserted.get(section.name, ()),
        )
        for section in header.sections
    }
    text, spans, ends = write(graph, steps, _top_level(graph, amendments.header))
    parser = _Again(text, graph.source, ends)
    parser.nodes.columns = _nodes(graph, steps)
    parser.nodes.places = {node_id: at for at, node_id in enumerate(parser.nodes.columns.id)}
    if len(parser.nodes.places) != len(parser.nodes.columns.id):
        raise FormatError(f"{graph.source} would have two nodes with one id.")
    parser.links.columns = _links(graph, steps)
    parser.links.relation_members = Counter({header.relation_member: 1})
    parser.hyperedges.columns = _hyperedges(graph, steps, text, spans)
    parser.spans = spans
    parser.nodes.with_norm_label = _most(
        graph.nodes.norm_label, header.nodes_have_norm_label, parser.nodes.columns.norm_label
    )
    parser.nodes.with_community = _most(
        graph.nodes.community, header.nodes_have_community, parser.nodes.columns.community
    )
    parser.run()
    digest = hashlib.sha256()
    for start in range(0, len(text), _CHUNK):
        digest.update(text[start : start + _CHUNK].encode("latin-1"))
    hexdigest = digest.hexdigest()
    amended = GraphFile(graph.source, text, hexdigest, *parser.result(hexdigest))
    return Amended(amended, {name: ordinals_of(steps[name]) for name in amendments.inserted})


def without_section(graph: GraphFile, name: str, raw: str | None = None) -> GraphFile:
    """Give the file without an array of objects, or with another value in its place.

    Raises ``KeyError`` when the top level has no member of that name.
    """
    return parse_graph(apply_cuts(graph.text, _top_level(graph, {name: raw})).encode("latin-1"), graph.source)


class _Again(Parser):
    """Reads the top level of a file whose sections are known."""

    def __init__(self, text: str, source: str, ends: dict[int, int]) -> None:
        super().__init__(text, source)
        self._ends = ends

    def array(self, name: str, start: int) -> int:
        self.arrays[name] = (start, self._ends[start])
        return self._ends[start]


def _spliced(old: Sequence[Any], steps: Sequence[Step], new: Sequence[Any]) -> list[Any]:
    """Give a column with the steps of its section taken; ``new`` has the values of the new elements in order."""
    column: list[Any] = []
    fresh = iter(new)
    for step in steps:
        if isinstance(step, Keep):
            column.extend(old[step.first : step.behind])
        else:
            column.append(next(fresh))
    return column


def _values(steps: Sequence[Step]) -> list[Any]:
    return [scan_value(step.text, 0)[0] for step in steps if isinstance(step, New)]


def _changes(steps: Sequence[Step], count: int) -> bool:
    return list(steps) != ([Keep(0, count)] if count else [])


def _nodes(graph: GraphFile, steps: dict[str, list[Step]]) -> NodeColumns:
    if "nodes" not in steps or not _changes(steps["nodes"], len(graph.nodes.id)):
        return graph.nodes
    reader = NodeReader(graph.source)
    _take(reader.taker("nodes", Spans()), _values(steps["nodes"]))
    old, new = vars(graph.nodes), vars(reader.columns)
    return NodeColumns(**{name: _spliced(old[name], steps["nodes"], new[name]) for name in old})


def _links(graph: GraphFile, steps: dict[str, list[Step]]) -> LinkColumns:
    """Give the links of all sections. Equal triples are counted anew where one of them went or came."""
    columns = LinkColumns()
    touched: set[str] = set()
    first = 0
    for section in graph.header.of_kind("link"):
        behind = first + section.count
        reader = LinkReader(graph.source)
        _take(reader.taker(section.name, Spans()), _values(steps[section.name]))
        part = {name: values[first:behind] for name, values in vars(graph.links).items()}
        reader.columns.dangling = [False] * len(reader.columns.key)
        for name, values in vars(columns).items():
            values.extend(_spliced(part[name], steps[section.name], vars(reader.columns)[name]))
        kept = sum(step.behind - step.first for step in steps[section.name] if isinstance(step, Keep))
        if kept < section.count:
            touched |= {key[:_STEM] for key in _left_out(part["key"], steps[section.name])}
        touched |= {key[:_STEM] for key in reader.columns.key}
        first = behind
    _count_again(columns, touched)
    return columns


def _left_out(keys: list[str], steps: Sequence[Step]) -> Iterator[str]:
    place = 0
    for step in steps:
        if isinstance(step, Keep):
            yield from keys[place : step.first]
            place = step.behind
    yield from keys[place:]


def _count_again(columns: LinkColumns, touched: set[str]) -> None:
    seen: dict[str, int] = {}
    keys = columns.key
    if not touched:
        return
    for at in [at for at, key in enumerate(keys) if key[:_STEM] in touched]:
        stem = keys[at][:_STEM]
        occurrence = seen.get(stem, 0)
        seen[stem] = occurrence + 1
        keys[at] = edge_key(columns.source[at], columns.relation[at], columns.target[at], occurrence)


def _take(take: Callable[[list[Any], list[int], list[int]], None], values: list[Any]) -> None:
    if values:
        nowhere = [0] * len(values)
        take(values, nowhere, nowhere)


def _hyperedges(
    graph: GraphFile, steps: dict[str, list[Step]], text: str, spans: dict[str, Spans]
) -> HyperedgeColumns:
    sections = graph.header.of_kind("hyperedge")
    if not any(_changes(steps[section.name], section.count) for section in sections):
        return graph.hyperedges
    reader = HyperedgeReader(text)
    for section in sections:
        found = spans[section.name]
        starts, ends = found.starts.tolist(), found.ends.tolist()
        values = [scan_value(utf8(text[start:end]), 0)[0] for start, end in zip(starts, ends, strict=True)]
        reader.taker(section.name, Spans())(values, starts, ends)
    return reader.columns


def _most(before: list[str | None], said: bool, after: list[str | None]) -> int:
    """Give how many nodes have a member. Where ``null`` counted as having it, all or none, as was said before."""
    if (2 * (len(before) - before.count(None)) > len(before)) != said:
        return len(after) if said else 0
    return len(after) - after.count(None)


def _top_level(graph: GraphFile, changes: dict[str, str | None]) -> list[Cut]:
    if not changes:
        return []
    header = graph.header
    members = _top_members(graph.text, header)
    at = {member.name: number for number, member in enumerate(members)}
    missing = [name for name, raw in changes.items() if raw is None and name not in at]
    if missing:
        raise KeyError(f"the file has no member {missing[0]}")
    cuts = [
        Cut(members[at[name]].start, members[at[name]].end, raw)
        for name, raw in changes.items()
        if raw is not None and name in at
    ]
    new = [
        write_string(name, header.style) + header.layout.colon + raw
        for name, raw in changes.items()
        if raw is not None and name not in at
    ]
    gone = {at[name] for name, raw in changes.items() if raw is None}
    container = Container(
        header.start,
        header.end,
        len(members),
        lambda number: (members[number].key_start, members[number].end),
        header.layout,
    )
    return cuts + cuts_for(container, gone, new)


def _top_members(text: str, header: Header) -> list[Member]:
    ends = {section.start: section.end for section in header.sections}
    ends.update((member.start, member.end) for member in header.members)

    def value_end(_name: str, start: int) -> int:
        return ends[start] if start in ends else scan_value(text, start)[1]

    return scan_object(text, header.start, value_end)[0]
