"""The text of a file with elements taken out and others put in, step by step, and where each element then stands."""

from __future__ import annotations

from array import array
from collections.abc import Collection, Iterator, Sequence
from typing import NamedTuple

from .columns import Spans
from .graphfile import GraphFile
from .header import Section
from .splice import Cut

_CHUNK = 1 << 22
_GROWTH = 1 << 25


class Keep(NamedTuple):
    """A run of the section's own elements: the first, and the one behind the last."""

    first: int
    behind: int


class New(NamedTuple):
    """A new element before an old one; ``number`` counts the new ones of the section as they were given."""

    before: int
    number: int
    text: str


Step = Keep | New


def steps_of(count: int, removed: Collection[int], given: Sequence[tuple[int, str]]) -> list[Step]:
    """Say in order what a section of ``count`` elements is made of: runs of its own elements, and new ones.

    ``removed`` are ordinals, ``given`` are texts, each with the ordinal of the element before which it goes.
    """
    inserted = sorted(
        ((before, number, text) for number, (before, text) in enumerate(given)),
        key=lambda item: item[:2],
    )
    steps: list[Step] = []
    first = 0

    def keep(behind: int) -> None:
        if first < behind:
            steps.append(Keep(first, behind))

    places = sorted({*removed, *(before for before, _, _ in inserted)})
    at = 0
    for place in places:
        keep(place)
        first = place
        while at < len(inserted) and inserted[at][0] == place:
            steps.append(New(*inserted[at]))
            at += 1
        if place in removed:
            first = place + 1
    keep(count)
    return steps


def ordinals_of(steps: Sequence[Step]) -> list[int]:
    """Give the ordinals that new elements have in the end, as they were given."""
    ordinals: dict[int, int] = {}
    at = 0
    for step in steps:
        if isinstance(step, New):
            ordinals[step.number] = at
            at += 1
        else:
            at += step.behind - step.first
    return [ordinals[number] for number in range(len(ordinals))]


def write(
    graph: GraphFile, steps: dict[str, list[Step]], cuts: list[Cut]
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
    steps: dict[str, list[Step]],
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
            if isinstance(step, Keep):
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
    text: str, section: Section, spans: Spans, steps: list[Step]
) -> Iterator[tuple[str, Step | None]]:
    """Give the parts of a section in order, each with its step if it is one; a run's text is left to the caller."""
    layout, count = section.layout, section.count
    if not steps:
        yield "[]", None
        return
    yield "[" + (text[section.start + 1 : spans.starts[0]] if count else layout.open), None
    for at, step in enumerate(steps):
        before = step.first if isinstance(step, Keep) else step.before
        if at:
            own = 0 < before < count
            yield text[spans.ends[before - 1] : spans.starts[before]] if own else layout.separator, None
        yield "" if isinstance(step, Keep) else _latin(step.text), step
    yield (text[spans.ends[count - 1] : section.end - 1] if count else layout.close) + "]", None


def _shift(spans: Spans, step: Keep, by: int, into: Spans) -> None:
    starts, ends = spans.starts[step.first : step.behind], spans.ends[step.first : step.behind]
    if by:
        starts, ends = array("Q", [at + by for at in starts]), array("Q", [at + by for at in ends])
    into.starts.extend(starts)
    into.ends.extend(ends)


def _latin(text: str) -> str:
    return text if text.isascii() else text.encode("utf-8").decode("latin-1")
