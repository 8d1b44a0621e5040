"""Change a JSON container by the places of its items, and leave every other character alone."""

from __future__ import annotations

from collections.abc import Callable, Collection, Sequence
from typing import NamedTuple

from .header import Layout


class Cut(NamedTuple):
    """Put ``text`` in the place of what stands from ``start`` to before ``end``."""

    start: int
    end: int
    text: str


class Container(NamedTuple):
    """An array or object: its span with brackets, how many items it has, where they stand, and its layout."""

    start: int
    end: int
    size: int
    span: Callable[[int], tuple[int, int]]
    layout: Layout


def cuts_for(container: Container, removed: Collection[int], appended: Sequence[str]) -> list[Cut]:
    """Give the cuts that take items out by ordinal and put new ones behind the last.

    White space between two items that stay is kept; a container that ends up empty has none.
    """
    layout, count = container.layout, container.size
    gone = sorted(set(removed))
    if len(gone) == count:
        if not appended and not count:
            return []
        inside = layout.open + layout.separator.join(appended) + layout.close if appended else ""
        return [Cut(container.start + 1, container.end - 1, inside)]
    cuts: list[Cut] = []
    at = 0
    while at < len(gone):
        first = last = gone[at]
        while at + 1 < len(gone) and gone[at + 1] == last + 1:
            at += 1
            last = gone[at]
        at += 1
        if first == 0:
            cuts.append(Cut(container.span(0)[0], container.span(last + 1)[0], ""))
        else:
            cuts.append(Cut(container.span(first - 1)[1], container.span(last)[1], ""))
    if appended:
        end = container.span(count - 1)[1]
        cuts.append(Cut(end, end, "".join(layout.separator + item for item in appended)))
    return cuts


def apply_cuts(text: str, cuts: Sequence[Cut]) -> str:
    """Give a text with cuts made that do not overlap."""
    parts = []
    place = 0
    for cut in sorted(cuts, key=lambda cut: (cut.start, cut.end)):
        parts += [text[place : cut.start], cut.text]
        place = cut.end
    parts.append(text[place:])
    return "".join(parts)
