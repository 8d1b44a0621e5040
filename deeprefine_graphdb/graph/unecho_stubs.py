"""Un-echoing stubs: nodes that stand for something external, which graphify drops when nothing links to them."""

from __future__ import annotations

from collections.abc import Iterator

from deeprefine_graphdb.graph.unecho_case import Case
from deeprefine_graphdb.graph.unecho_model import Echo, Kept
from deeprefine_graphdb.graph.unecho_text import ends_of, is_stub
from deeprefine_loaders.objects import read_object


def is_lost_stub(case: Case, node_id: str) -> bool:
    """Tell whether a node that the file lacks is a stub of the base, and may have gone with a link of ours."""
    return node_id in case.lost_stubs or node_id in case.gone_stubs


def keep_stub(case: Case, node_id: str, by: str) -> None:
    """Keep a node that graphify dropped since we took its last link away."""
    why = "graphify drops what nothing links to, and its last link is kept"
    known = case.lost_stubs.pop(node_id, None)
    if known is not None:
        text, place, by = known.before, known.entry.place or ("nodes", 0), known.entry.by
    else:
        text, place = case.gone_stubs[node_id].text, case.gone_stubs[node_id].place
    case.draft.kept.append(Kept("node", node_id, by, text, place, why))
    case.node_ids.add(node_id)


def settle_stubs(case: Case) -> None:
    """Say which changed stubs are gone, and let go of those that only our links held. The links must be known."""
    for node_id, known in case.lost_stubs.items():
        text = f"The node {node_id} that {known.entry.by} changed is not in the file any more."
        case.draft.note("gone", "node", node_id, known.entry.by, text)
    stubs = _held_by_us(case)
    if not stubs:
        return
    others = set(_ends_of_others(case, set(stubs)))
    for node_id, by in stubs.items():
        if node_id not in others:
            place = case.found.place("node", case.found.node_at[node_id])
            raw = case.found.raw(place)
            case.draft.echoes.append(Echo("node", place, node_id, by, raw, added=False))
            case.node_ids.discard(node_id)
            text = f"The node {node_id} is gone: it stands for something external, and only {by} links to it."
            case.draft.note("gone", "node", node_id, by, text)


def _held_by_us(case: Case) -> dict[str, str]:
    """Give the stubs that a link of ours names and that a link of the base named which is gone: the action, by id."""
    ours: dict[str, str] = {}
    for echo in case.draft.echoes:
        if echo.object == "link":
            ours |= dict.fromkeys(ends_of(read_object(echo.raw)), echo.by)
    if not ours:
        return {}
    lost = {end for gone in case.gone_links for end in ends_of(gone.members)}
    return {
        node_id: by
        for node_id, by in ours.items()
        if node_id in lost and node_id in case.node_ids and _is_stub(case, node_id)
    }


def _is_stub(case: Case, node_id: str) -> bool:
    number = case.found.node_at.get(node_id)
    if number is None:
        return False
    place = case.found.place("node", number)
    return place not in case.found.mark_at and is_stub(case.found.members(place))


def _ends_of_others(case: Case, ids: set[str]) -> Iterator[str]:
    """Give the ends of all links at these ids that the new base has, and the members of all hyperedges."""
    found, draft = case.found, case.draft
    cut = {echo.place for echo in draft.echoes}
    restored = {item.place: item.text for item in draft.restored if item.object == "link"}
    for kept in draft.kept:
        if kept.object == "link":
            yield from ends_of(read_object(kept.text))
    for number in found.links_at(ids):
        place = found.place("link", number)
        if place not in cut:
            yield from ends_of(read_object(restored.get(place) or found.raw(place)))
    for members in found.graph.hyperedges.members:
        yield from members
