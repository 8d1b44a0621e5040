"""Where in the new base's text an object goes that the file has elsewhere, otherwise or not at all."""

from __future__ import annotations

from bisect import bisect_left
from collections import defaultdict
from dataclasses import dataclass, replace

from deeprefine_graphdb.graph.unecho_case import Case, node_id
from deeprefine_graphdb.graph.unecho_match import STEM, Matches
from deeprefine_graphdb.graph.unecho_model import Kept, Place, Restored
from deeprefine_graphdb.graph.unecho_text import canonical, in_graphify_order, link_identity
from deeprefine_loaders.amend import Amendments
from deeprefine_loaders.fields import members_of_hyperedge
from deeprefine_loaders.header import KIND_OF_SECTION
from deeprefine_loaders.identity import edge_key, storable_text
from deeprefine_loaders.objects import new_object, read_object

_SURE = 10
"""Elements that hardly stand in order by accident."""


@dataclass(frozen=True)
class Placed:
    """The amendments, and what was put in, by section and in the order of the amendments."""

    amendments: Amendments
    items: dict[str, list[Restored | Kept]]


def place_all(case: Case, matches: Matches) -> Placed:
    """Say where everything goes.

    That is its sorted place where the file is sorted as graphify sorts, else the place behind what it stood behind in
    the former base, else the end.
    """
    draft = case.draft
    removed = {(place.section, place.ordinal) for place in draft.places()}
    items: defaultdict[str, list[Restored | Kept]] = defaultdict(list)
    for item in draft.restored:
        goes_back = item.base_place and case.found.graph.header.section(item.base_place[0])
        items[goes_back.name if goes_back else item.place.section].append(item)
    for kept in draft.kept:
        section = _section(case, kept)
        items[section].append(_in_style(case, kept, section))
    amendments = Amendments(removed=removed, header=dict(draft.header))
    placed: dict[str, list[Restored | Kept]] = {}
    for section, given in items.items():
        cut = {ordinal for name, ordinal in removed if name == section}
        if _is_sorted(case, section):
            order = _sorted_places(case, section, given, cut)
        else:
            order = _Behind(case, matches, section, given, cut).places()
        amendments.inserted[section] = [(before, item.text) for before, item in order]
        placed[section] = [item for _, item in order]
    return Placed(amendments, placed)


def _section(case: Case, kept: Kept) -> str:
    header = case.found.graph.header
    name = kept.base_place[0]
    if header.section(name) is not None:
        return name
    others = header.of_kind(KIND_OF_SECTION[name])
    return others[0].name if others else name


def _in_style(case: Case, kept: Kept, section: str) -> Kept:
    """Write a before-image anew if the file is laid out otherwise than the former base was."""
    now, was = case.found.graph.header, case.base.header
    here, there = now.section(section), was.section(kept.base_place[0])
    if here and there and here.object_layout == there.object_layout:
        return kept
    if not kept.text.startswith("{"):
        return kept
    members = read_object(kept.text)
    if _is_sorted(case, section):
        members = in_graphify_order(members)
    return replace(kept, text=new_object(members, now, section))


def _is_sorted(case: Case, section: str) -> bool:
    found, base = case.found.graph.header, case.base.header
    kind = KIND_OF_SECTION[section]
    if kind == "hyperedge":
        return False
    if section not in {"nodes", found.links_section}:
        return False
    now, before = (
        (found.nodes_sorted, base.nodes_sorted) if kind == "node" else (found.links_sorted, base.links_sorted)
    )
    here = found.section(section)
    return now and (before or (here is not None and here.count > _SURE))


def _sorted_places(
    case: Case, section: str, items: list[Restored | Kept], cut: set[int]
) -> list[tuple[int, Restored | Kept]]:
    count = len(case.found.graph.spans[section].starts)
    stay = [ordinal for ordinal in range(count) if ordinal not in cut]
    wanted = sorted(((canonical(read_object(item.text)), at) for at, item in enumerate(items)))
    placed: list[tuple[int, Restored | Kept]] = []
    known: dict[int, str] = {}

    def text_at(ordinal: int) -> str:
        if ordinal not in known:
            known[ordinal] = canonical(case.found.members(Place(section, ordinal)))
        return known[ordinal]

    for key, at in wanted:
        number = bisect_left(stay, key, key=text_at)
        placed.append((stay[number] if number < len(stay) else count, items[at]))
    return placed


class _Behind:
    """Places of items behind what they stood behind in the former base."""

    def __init__(
        self, case: Case, matches: Matches, section: str, items: list[Restored | Kept], cut: set[int]
    ) -> None:
        self._case = case
        self._matches = matches
        self._section = section
        self._items = items
        self._cut = cut
        self._coming = {item.base_place: item for item in items if item.base_place is not None}
        self._before: dict[tuple[str, int], int] = {}
        self._changed = {
            item.stood: item.place.ordinal
            for item in case.draft.restored
            if item.stood is not None and item.place.section == section
        }

    def places(self) -> list[tuple[int, Restored | Kept]]:
        count = len(self._case.found.graph.spans[self._section].starts)
        order: list[tuple[int, int, int, Restored | Kept]] = []
        for item in self._items:
            if item.base_place is not None:
                order.append((self._behind(item.base_place), 0, item.base_place[1], item))
            elif isinstance(item, Restored) and not item.moved:
                order.append((item.place.ordinal, 1, 0, item))
            else:
                order.append((count, 2, 0, item))
        order.sort(key=lambda each: each[:3])
        return [(before, item) for before, _, _, item in order]

    def _behind(self, place: tuple[str, int]) -> int:
        """Give the ordinal of the file before which what stood here goes."""
        section, ordinal = place
        passed: list[tuple[str, int]] = []
        before = 0
        while True:
            if (section, ordinal) in self._before:
                before = self._before[section, ordinal]
                break
            passed.append((section, ordinal))
            ordinal -= 1
            if ordinal < 0:
                break
            if (section, ordinal) in self._coming:
                continue
            here = self._changed.get((section, ordinal))
            if here is None:
                here = self._here(section, ordinal)
            if here is not None:
                before = here + 1
                break
        self._before.update(dict.fromkeys(passed, before))
        return before

    def _here(self, section: str, ordinal: int) -> int | None:
        """Give the ordinal, in the section in question, of the element of the former base that stood there."""
        case = self._case
        raw = case.base.read(*case.base.span(section, ordinal)).decode("utf-8")
        kind = KIND_OF_SECTION[section]
        number: int | None = None
        if kind == "node":
            number = case.found.node_at.get(node_id(read_object(raw)))
        elif kind == "link":
            stem = edge_key(*link_identity(read_object(raw)))[:STEM]
            for key, matched in self._matches.of(stem).items():
                if case.base.place("link", key) == (section, ordinal):
                    number = matched
        else:
            number = self._hyperedge(raw, section)
        if number is None:
            return None
        place = case.found.place(kind, number)
        return place.ordinal if place.section == self._section else None

    def _hyperedge(self, raw: str, section: str) -> int | None:
        members = read_object(raw) if raw.startswith("{") else {}
        identity = storable_text(members.get("id"))
        for key, number in self._case.found.hyperedge_at.items():
            if identity is not None and key == f"{section}:{identity}":
                return number
            place = self._case.found.place("hyperedge", number)
            if (
                place.section == section
                and self._case.found.raw(place) == raw
                and members_of_hyperedge(members)
            ):
                return number
        return None
