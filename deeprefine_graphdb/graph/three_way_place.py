"""Where in a file the objects go that come from another one."""

from __future__ import annotations

from bisect import bisect_left
from collections import defaultdict
from collections.abc import Collection, Mapping

from deeprefine_graphdb.graph.three_way_model import Identity, Objects, Stands
from deeprefine_graphdb.graph.unecho_text import canonical, in_graphify_order
from deeprefine_loaders.graphfile import GraphFile
from deeprefine_loaders.header import KIND_OF_SECTION
from deeprefine_loaders.objects import new_object, read_object
from deeprefine_loaders.scan import utf8

_SURE = 10
"""Elements that hardly stand in order by accident."""
Item = tuple[int, str]
"""The ordinal of the element before which a text goes, and the text."""


def placed(
    frame: GraphFile,
    other: GraphFile,
    here: Objects,
    there: Objects,
    texts: Mapping[Identity, str],
    cut: Collection[tuple[str, int]],
) -> dict[str, list[Item]]:
    """Say by section of the frame where texts go, those of changed objects and those of objects of the other file.

    A changed object stays where it stands, and a new one goes behind what it stands behind in the other file; where
    the frame is sorted as graphify sorts, all go to their sorted place. ``cut`` are the elements that are taken out.
    """
    sections: defaultdict[str, list[Identity]] = defaultdict(list)
    for identity in texts:
        sections[_section(frame, here.stands.get(identity) or there.stands[identity])].append(identity)
    at = {stands[:2]: identity for identity, stands in there.stands.items()}
    found: dict[str, list[Item]] = {}
    for section, identities in sections.items():
        written = {
            identity: texts[identity]
            if identity in here.stands
            else _in_style(frame, other, there.stands[identity], section, texts[identity])
            for identity in identities
        }
        if _is_sorted(frame, other, section):
            gone = {ordinal for name, ordinal in cut if name == section}
            found[section] = _by_order(frame, section, list(written.values()), gone)
        else:
            found[section] = _by_neighbours(here, there, at, section, written)
    return found


def _section(frame: GraphFile, stands: Stands) -> str:
    if frame.header.section(stands.section) is not None:
        return stands.section
    others = frame.header.of_kind(KIND_OF_SECTION[stands.section])
    return others[0].name if others else stands.section.removeprefix("graph.")


def _is_sorted(frame: GraphFile, other: GraphFile, section: str) -> bool:
    here = frame.header.section(section)
    if here is None or section not in {"nodes", frame.header.links_section}:
        return False
    nodes = section == "nodes"
    now, there = (
        (file.header.nodes_sorted if nodes else file.header.links_sorted) for file in (frame, other)
    )
    return now and (there or here.count > _SURE)


def _by_order(frame: GraphFile, section: str, texts: list[str], gone: Collection[int]) -> list[Item]:
    spans = frame.spans[section]
    stay = [ordinal for ordinal in range(len(spans.starts)) if ordinal not in gone]

    def order_of(ordinal: int) -> str:
        return canonical(read_object(utf8(frame.text[spans.starts[ordinal] : spans.ends[ordinal]])))

    items: list[Item] = []
    for key, text in sorted((canonical(read_object(text)), text) for text in texts):
        number = bisect_left(stay, key, key=order_of)
        items.append((stay[number] if number < len(stay) else len(spans.starts), text))
    return items


def _by_neighbours(
    here: Objects,
    there: Objects,
    at: Mapping[tuple[str, int], Identity],
    section: str,
    texts: Mapping[Identity, str],
) -> list[Item]:
    order: list[tuple[int, int, int, str]] = []
    for identity, text in texts.items():
        stands = here.stands.get(identity)
        if stands is not None:
            order.append((stands.ordinal, 1, 0, text))
            continue
        from_there = there.stands[identity]
        order.append((_behind(here, at, section, from_there), 0, from_there.ordinal, text))
    return [(before, text) for before, _, _, text in sorted(order, key=lambda item: item[:3])]


def _behind(here: Objects, at: Mapping[tuple[str, int], Identity], section: str, stands: Stands) -> int:
    """Give the ordinal behind the nearest element before it that stands in the section of the frame too."""
    for ordinal in range(stands.ordinal - 1, -1, -1):
        found = here.stands.get(at[stands.section, ordinal])
        if found is not None and found.section == section:
            return found.ordinal + 1
    return 0


def _in_style(frame: GraphFile, other: GraphFile, stands: Stands, section: str, text: str) -> str:
    """Write an object of the other file anew if the frame is laid out otherwise."""
    here, there = frame.header.section(section), other.header.section(stands.section)
    if here is None or there is None or here.object_layout == there.object_layout or not text.startswith("{"):
        return text
    members = read_object(text)
    return new_object(
        in_graphify_order(members) if _is_sorted(frame, other, section) else members, frame.header, section
    )
