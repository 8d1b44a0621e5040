"""Take elements out of a parsed file and put others in: text, columns and spans, without parsing it again."""

from __future__ import annotations

import hashlib
from array import array
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from typing import Any, NamedTuple

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
from .graphfile import GraphFile
from .header import Header, Section
from .identity import edge_key
from .parse import Parser
from .scan import Member, scan_object, scan_value, utf8
from .splice import Container, Cut, cuts_for
from .style import write_string

_CHUNK = 1 << 22
_PAIRS = 1 << 14
_GROWTH = 1 << 25
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


class _Keep(NamedTuple):
    first: int
    behind: int


class _New(NamedTuple):
    before: int
    number: int
    text: str


_Step = _Keep | _New


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
    steps = {section.name: _steps(section, amendments) for section in header.sections}
    text, spans, ends = _write(graph, steps, _top_level(graph, amendments.header))
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
    return Amended(amended, {name: _ordinals(steps[name]) for name in amendments.inserted})


class _Again(Parser):
    """Reads the top level of a file whose sections are known."""

    def __init__(self, text: str, source: str, ends: dict[int, int]) -> None:
        super().__init__(text, source)
        self.links = _KnownLinks(source)
        self._ends = ends

    def array(self, name: str, start: int) -> int:
        self.arrays[name] = (start, self._ends[start])
        return self._ends[start]


class _KnownLinks(LinkReader):
    """Links that are there already. Most have their ends and share no pair, so what is quick for these is used."""

    def finish(self, places: dict[str, int]) -> bool:
        columns = self.columns
        ends = list(zip(columns.source, columns.target, strict=True))
        columns.dangling = [source not in places or target not in places for source, target in ends]
        pairs: set[tuple[str, str]] = set()
        for start in range(0, len(ends), _PAIRS):
            some = ends[start : start + _PAIRS]
            pairs.update((source, target) if source < target else (target, source) for source, target in some)
            if len(pairs) < start + len(some):
                return True
        return False


def _steps(section: Section, amendments: Amendments) -> list[_Step]:
    """Say in order what the section is made of: runs of its own elements, and new ones."""
    name, count = section.name, section.count
    removed = {ordinal for where, ordinal in amendments.removed if where == name}
    inserted = sorted(
        ((before, number, text) for number, (before, text) in enumerate(amendments.inserted.get(name, ()))),
        key=lambda item: item[:2],
    )
    steps: list[_Step] = []
    first = 0

    def keep(behind: int) -> None:
        if first < behind:
            steps.append(_Keep(first, behind))

    places = sorted({*removed, *(before for before, _, _ in inserted)})
    at = 0
    for place in places:
        keep(place)
        first = place
        while at < len(inserted) and inserted[at][0] == place:
            steps.append(_New(*inserted[at]))
            at += 1
        if place in removed:
            first = place + 1
    keep(count)
    return steps


def _ordinals(steps: Sequence[_Step]) -> list[int]:
    ordinals: dict[int, int] = {}
    at = 0
    for step in steps:
        if isinstance(step, _New):
            ordinals[step.number] = at
            at += 1
        else:
            at += step.behind - step.first
    return [ordinals[number] for number in range(len(ordinals))]


def _write(
    graph: GraphFile, steps: dict[str, list[_Step]], cuts: list[Cut]
) -> tuple[str, dict[str, Spans], dict[int, int]]:
    """Give the text, the spans of all elements, and where each section ends by where it starts."""
    spans = {name: Spans() for name in graph.spans}
    ends: dict[int, int] = {}
    text = ""
    waiting: list[str] = []
    size = 0
    for part in _parts(graph, steps, cuts, spans, ends):
        waiting.append(part)
        size += len(part)
        if size > _GROWTH:
            # A string that grows by few large pieces is not there twice, as its parts and their join would be.
            text += "".join(waiting)
            waiting, size = [], 0
    text += "".join(waiting)
    return text, spans, ends


def _parts(
    graph: GraphFile,
    steps: dict[str, list[_Step]],
    cuts: list[Cut],
    spans: dict[str, Spans],
    ends: dict[int, int],
) -> Iterator[str]:
    text = graph.text
    length = place = 0
    changes: list[Section | Cut] = [*graph.header.sections, *cuts]
    for change in sorted(changes, key=lambda change: (change.start, change.end)):
        yield from _chunks(text, place, change.start)
        length += change.start - place
        place = change.end
        if isinstance(change, Cut):
            new = _latin(change.text)
            length += len(new)
            yield new
            continue
        start = length
        old, found = graph.spans[change.name], spans[change.name]
        for piece, step in _pieces(text, change, old, steps[change.name]):
            if isinstance(step, _Keep):
                _shift(old, step, length - old.starts[step.first], found)
                yield from _chunks(text, old.starts[step.first], old.ends[step.behind - 1])
                length += old.ends[step.behind - 1] - old.starts[step.first]
                continue
            if step is not None:
                found.add([length], [length + len(piece)])
            length += len(piece)
            yield piece
        ends[start] = length
    yield from _chunks(text, place, len(text))


def _chunks(text: str, start: int, end: int) -> Iterator[str]:
    for place in range(start, end, _CHUNK):
        yield text[place : min(place + _CHUNK, end)]


def _pieces(
    text: str, section: Section, spans: Spans, steps: list[_Step]
) -> Iterator[tuple[str, _Step | None]]:
    """Give the parts of a section in order, each with its step if it is one; a run's text is left to the caller."""
    layout, count = section.layout, section.count
    if not steps:
        yield "[]", None
        return
    yield "[" + (text[section.start + 1 : spans.starts[0]] if count else layout.open), None
    for at, step in enumerate(steps):
        before = step.first if isinstance(step, _Keep) else step.before
        if at:
            own = 0 < before < count
            yield text[spans.ends[before - 1] : spans.starts[before]] if own else layout.separator, None
        yield "" if isinstance(step, _Keep) else _latin(step.text), step
    yield (text[spans.ends[count - 1] : section.end - 1] if count else layout.close) + "]", None


def _shift(spans: Spans, step: _Keep, by: int, into: Spans) -> None:
    starts, ends = spans.starts[step.first : step.behind], spans.ends[step.first : step.behind]
    if by:
        starts, ends = array("Q", [at + by for at in starts]), array("Q", [at + by for at in ends])
    into.starts.extend(starts)
    into.ends.extend(ends)


def _latin(text: str) -> str:
    return text if text.isascii() else text.encode("utf-8").decode("latin-1")


def _spliced(old: Sequence[Any], steps: Sequence[_Step], new: Sequence[Any]) -> list[Any]:
    """Give a column with the steps of its section taken; ``new`` has the values of the new elements in order."""
    column: list[Any] = []
    fresh = iter(new)
    for step in steps:
        if isinstance(step, _Keep):
            column.extend(old[step.first : step.behind])
        else:
            column.append(next(fresh))
    return column


def _values(steps: Sequence[_Step]) -> list[Any]:
    return [scan_value(step.text, 0)[0] for step in steps if isinstance(step, _New)]


def _changes(steps: Sequence[_Step], count: int) -> bool:
    return list(steps) != ([_Keep(0, count)] if count else [])


def _nodes(graph: GraphFile, steps: dict[str, list[_Step]]) -> NodeColumns:
    if "nodes" not in steps or not _changes(steps["nodes"], len(graph.nodes.id)):
        return graph.nodes
    reader = NodeReader(graph.source)
    _take(reader.taker("nodes", Spans()), _values(steps["nodes"]))
    old, new = vars(graph.nodes), vars(reader.columns)
    return NodeColumns(**{name: _spliced(old[name], steps["nodes"], new[name]) for name in old})


def _links(graph: GraphFile, steps: dict[str, list[_Step]]) -> LinkColumns:
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
        kept = sum(step.behind - step.first for step in steps[section.name] if isinstance(step, _Keep))
        if kept < section.count:
            touched |= {key[:_STEM] for key in _left_out(part["key"], steps[section.name])}
        touched |= {key[:_STEM] for key in reader.columns.key}
        first = behind
    _count_again(columns, touched)
    return columns


def _left_out(keys: list[str], steps: Sequence[_Step]) -> Iterator[str]:
    place = 0
    for step in steps:
        if isinstance(step, _Keep):
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
    graph: GraphFile, steps: dict[str, list[_Step]], text: str, spans: dict[str, Spans]
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
