"""Write a file as its base with objects replaced, taken out and added, in one pass."""

from __future__ import annotations

import hashlib
from collections import defaultdict
from collections.abc import Iterator
from dataclasses import dataclass, field
from functools import partial

from .basefile import BaseFile
from .header import Layout
from .splice import Container, Cut, cuts_for
from .style import deeper, layout_at, unit_of, write_string


@dataclass
class Edits:
    """What is different from the base; objects by (kind, key), texts as raw JSON.

    ``appended`` are new objects by section, which go behind the base's own; a section that the file lacks is
    made. ``header`` are top-level members by name with the text of their value.
    """

    replaced: dict[tuple[str, str], str] = field(default_factory=dict)
    removed: set[tuple[str, str]] = field(default_factory=set)
    appended: dict[str, list[str]] = field(default_factory=dict)
    header: dict[str, str] = field(default_factory=dict)


def render(base: BaseFile, edits: Edits) -> Iterator[bytes]:
    """Give the file in chunks; without edits these are the base's very bytes.

    Raises ``KeyError`` for an object that the base does not have, ``ValueError`` for a header member that is
    a section and for new hyperedges under ``graph`` where the file has none.
    """
    place = 0
    for cut in sorted(_cuts(base, edits), key=lambda cut: (cut.start, cut.end)):
        yield from base.chunks(place, cut.start)
        if cut.text:
            yield cut.text.encode("utf-8")
        place = cut.end
    yield from base.chunks(place)


def render_digest(base: BaseFile, edits: Edits) -> str:
    """Give the SHA-256 of what :func:`render` gives, in hex."""
    if not (edits.replaced or edits.removed or edits.header or any(edits.appended.values())):
        return base.digest
    digest = hashlib.sha256()
    for chunk in render(base, edits):
        digest.update(chunk)
    return digest.hexdigest()


def _cuts(base: BaseFile, edits: Edits) -> list[Cut]:
    cuts: list[Cut] = []
    for (kind, key), raw in edits.replaced.items():
        if (kind, key) not in edits.removed:
            cuts.append(Cut(*base.span(*_place(base, kind, key)), raw))
    removed: defaultdict[str, set[int]] = defaultdict(set)
    for kind, key in edits.removed:
        section, ordinal = _place(base, kind, key)
        removed[section].add(ordinal)
    for found in base.header.sections:
        name = found.name
        container = Container(found.start, found.end, found.count, partial(base.span, name), found.layout)
        cuts += cuts_for(container, removed[name], edits.appended.get(name, ()))
    return cuts + _top_level(base, edits)


def _place(base: BaseFile, kind: str, key: str) -> tuple[str, int]:
    place = base.place(kind, key)
    if place is None:
        raise KeyError(f"the base has no {kind} {key}")
    return place


def _top_level(base: BaseFile, edits: Edits) -> list[Cut]:
    """Give the cuts of header members and of sections that the file does not have yet."""
    header = base.header
    sections = {section.name for section in header.sections}
    cuts: list[Cut] = []
    new: dict[str, str] = {}
    for name, raw in edits.header.items():
        if name in sections:
            raise ValueError(f"{name} is a section, not a header member")
        member = header.member(name)
        if member is None:
            new[name] = raw
        else:
            cuts.append(Cut(member.start, member.end, raw))
    for name, objects in edits.appended.items():
        if name in sections or not objects:
            continue
        slot = header.member(name)
        if name == "graph.hyperedges":
            raise ValueError("the file has no hyperedges under graph")
        if slot is None:
            new[name] = _array(objects, deeper(header.layout, unit_of(header.layout, header.style)))
        else:
            cuts.append(Cut(slot.start, slot.end, _array(objects, layout_at(header.style, 2))))
    members = header.members
    items = [write_string(name, header.style) + header.layout.colon + raw for name, raw in new.items()]
    if items:
        end = max(member.end for member in members)
        cuts.append(Cut(end, end, "".join(header.layout.separator + item for item in items)))
    return cuts


def _array(objects: list[str], layout: Layout) -> str:
    return "[" + layout.open + layout.separator.join(objects) + layout.close + "]"
