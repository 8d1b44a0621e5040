"""Un-echoing nodes: what is added, renamed or merged away by us, and what of it the new base has."""

from __future__ import annotations

from deeprefine_graphdb.graph.unecho_case import Case, Known
from deeprefine_graphdb.graph.unecho_found import Mark
from deeprefine_graphdb.graph.unecho_model import Echo, Kept, Place, Restored
from deeprefine_graphdb.graph.unecho_text import is_ast, is_stub, link_identity, listed, restored, stripped
from deeprefine_loaders.identity import storable_text
from deeprefine_loaders.objects import read_object


def unecho_nodes(case: Case) -> None:
    """Find the nodes that differ between the file and the new base, and the ids of the new base's nodes."""
    added: dict[str, Mark] = {}
    for mark in case.marks("node"):
        whose, known = case.image(mark)
        if whose == "stray":
            _strip(case, mark, "The stamp on {} was made for another object and is taken off.")
        elif known is None:
            case.foreign(mark, whose)
        elif known.entry.base is None:
            added[mark.key] = mark
        else:
            text = restored(mark.raw, known.entry.base, mark_text(known), case.found.graph.header)
            case.draft.restored.append(Restored("node", mark.place, mark.by, mark.raw, text))
    adopted = _linked_by_others(case, set(added))
    for node_id, mark in added.items():
        if node_id in adopted:
            _strip(
                case, mark, "{} was added by {by}, and the file links to it: the base owns it now.", "adopted"
            )
        else:
            case.draft.echoes.append(Echo("node", mark.place, node_id, mark.by, mark.raw))
    case.node_ids = set(case.found.node_at) - (added.keys() - adopted)
    for known in case.entries["node"]:
        _entry(case, known)


def is_lost_stub(case: Case, node_id: str) -> bool:
    """Tell whether a node that the file lacks only stands for something external: it goes with its last link."""
    return node_id in case.lost_stubs or node_id in case.gone_stubs


def keep_stub(case: Case, node_id: str, by: str) -> None:
    """Keep a node that graphify dropped since we took its last link away."""
    why = "graphify drops what nothing links to, and its last link is kept"
    known = case.lost_stubs.pop(node_id, None)
    if known is not None:
        text, place, by = known.entry.base or "", known.entry.place or ("nodes", 0), known.entry.by
    else:
        text, place = case.gone_stubs[node_id].text, case.gone_stubs[node_id].place
    case.draft.kept.append(Kept("node", node_id, by, text, place, why))
    case.node_ids.add(node_id)


def settle_stubs(case: Case) -> None:
    """Let go of stubs that only our links held, and say which changed ones are gone. The links must be known."""
    for node_id, known in case.lost_stubs.items():
        _gone(case, known, f"The node {node_id} that {known.entry.by} changed is not in the file any more.")
    found, draft = case.found, case.draft
    held_by_us: dict[str, str] = {}
    cut = {echo.place for echo in draft.echoes}
    for echo in draft.echoes:
        if echo.object == "link":
            source, _, target = link_identity(read_object(echo.raw))
            held_by_us |= {end: echo.by for end in (source, target) if end in case.node_ids}
    lost = (
        {end for gone in case.gone_links for end in link_identity(gone.members)[::2]} if held_by_us else set()
    )
    stubs = {
        end: by
        for end, by in held_by_us.items()
        if end in lost and end in found.node_at and _is_stub_here(case, end)
    }
    moved = {item.place: item.text for item in draft.restored if item.object == "link"}
    held = {
        end
        for kept in draft.kept
        if kept.object == "link"
        for end in link_identity(read_object(kept.text))[::2]
    }
    for number in found.links_at(set(stubs)):
        place = found.place("link", number)
        if place not in cut:
            held |= set(link_identity(read_object(moved.get(place) or found.raw(place)))[::2])
    for members in found.graph.hyperedges.members if stubs else ():
        held |= set(members)
    for node_id, by in stubs.items():
        if node_id not in held:
            place = found.place("node", found.node_at[node_id])
            draft.echoes.append(Echo("node", place, node_id, by, found.raw(place), added=False))
            case.node_ids.discard(node_id)
            text = f"The node {node_id} is gone: it stands for something external, and only {by} links to it."
            draft.note("gone", "node", node_id, by, text)


def _is_stub_here(case: Case, node_id: str) -> bool:
    place = case.found.place("node", case.found.node_at[node_id])
    return place not in case.found.mark_at and is_stub(case.found.members(place))


def _gone(case: Case, known: Known, text: str) -> None:
    case.draft.note("gone", "node", known.entry.key, known.entry.by, text)


def mark_text(known: Known) -> str:
    """Give the text that we wrote."""
    return known.entry.disk or ""


def _strip(case: Case, mark: Mark, words: str, kind: str = "stripped") -> None:
    text = stripped(mark.raw)
    case.draft.restored.append(Restored(mark.object, mark.place, mark.by, mark.raw, text))
    said = words.format(f"{mark.object} {mark.key}", by=mark.by)
    case.draft.note("adopted" if kind == "adopted" else "stripped", mark.object, mark.key, mark.by, said)


def _exact(case: Case, known: Known, place: Place) -> None:
    """Settle a node that stands in the file as the manifest says and never had a stamp."""
    entry = known.entry
    if place in case.found.mark_at:
        return
    if entry.base is None:
        raw = entry.disk or ""
        case.draft.echoes.append(Echo("node", place, entry.key, entry.by, raw, added=False))
        case.node_ids.discard(entry.key)
    else:
        why = "the file has a stub in its place"
        case.draft.restored.append(Restored("node", place, entry.by, entry.disk or "", entry.base, why=why))


def _linked_by_others(case: Case, added: set[str]) -> set[str]:
    """Find added nodes that a link or hyperedge names which is not ours: these would dangle without them."""
    found, links = case.found, case.found.graph.links
    adopted: set[str] = set()
    for number in found.links_at(added):
        mark = found.mark_at.get(found.place("link", number))
        if mark is None or case.image(mark)[1] is None:
            adopted |= {links.source[number], links.target[number]} & added
    for number, members in enumerate(found.graph.hyperedges.members if added else ()):
        named = added.intersection(members)
        if named:
            mark = found.mark_at.get(found.place("hyperedge", number))
            known = case.image(mark)[1] if mark is not None else None
            ours = set(map(storable_text, listed(known.disk))) if known is not None else set()
            adopted |= named - ours
    return adopted


def _entry(case: Case, known: Known) -> None:
    entry, found = known.entry, case.found
    number = found.node_at.get(entry.key)
    if number is not None:
        place = found.place("node", number)
        mark = found.mark_at.get(place)
        if mark is not None and mark.valid:
            return
        if case.is_exact(known, place):
            _exact(case, known, place)
        elif case.is_minted(known):
            why = f"graphify put a stub in its place, since {entry.by} merged it away"
            case.draft.restored.append(
                Restored("node", place, entry.by, found.raw(place), entry.base or "", why=why)
            )
        elif entry.base is None:
            text = f"The node {entry.key} that {entry.by} added is in the file without our stamp: the base owns it now."
            case.draft.note("adopted", "node", entry.key, entry.by, text)
        elif entry.disk is None:
            text = f"The node {entry.key} that {entry.by} merged away is in the file again."
            case.draft.note("returned", "node", entry.key, entry.by, text)
        else:
            text = f"The node {entry.key} that {entry.by} changed is in the file without our stamp"
            case.draft.note("returned", "node", entry.key, entry.by, f"{text}: so the base has it now.")
    elif entry.base is not None and entry.disk is not None:
        if is_stub(known.base):
            case.lost_stubs[entry.key] = known
            return
        _gone(case, known, f"The node {entry.key} that {entry.by} changed is not in the file any more.")
    elif entry.base is not None and entry.place is not None:
        if is_ast(known.base) and case.file_is_gone(known.base):
            name = known.base.get("source_file")
            _gone(case, known, f"The node {entry.key} that {entry.by} merged away went with its file {name}.")
            return
        why = "it was merged away in the file that we wrote"
        case.draft.kept.append(Kept("node", entry.key, entry.by, entry.base, entry.place, why))
        case.node_ids.add(entry.key)
