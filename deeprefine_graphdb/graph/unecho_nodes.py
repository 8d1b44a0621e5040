"""Un-echoing nodes: what is added, renamed or merged away by us, and what of it the new base has."""

from __future__ import annotations

from deeprefine_graphdb.graph.unecho_case import Case, Known
from deeprefine_graphdb.graph.unecho_found import Mark
from deeprefine_graphdb.graph.unecho_model import Echo, Kept, Place, Restored
from deeprefine_graphdb.graph.unecho_text import is_ast, is_stub, listed, restored, stripped
from deeprefine_loaders.identity import storable_text


def unecho_nodes(case: Case) -> None:
    """Find the nodes that differ between the file and the new base, and the ids of the new base's nodes."""
    added: dict[str, Mark] = {}
    for mark in case.marks("node"):
        whose, known = case.image(mark)
        if whose == "stray":
            _strip(case, mark)
            text = f"The stamp on the node {mark.key} was made for another object and is taken off."
            case.draft.note("stripped", "node", mark.key, mark.by, text)
        elif known is None:
            case.foreign(mark, whose)
        elif known.entry.base is None:
            added[mark.key] = mark
        else:
            text = restored(mark.raw, known.before, known.after, case.found.graph.header)
            case.draft.restored.append(Restored("node", mark.place, mark.by, mark.raw, text))
    adopted = _linked_by_others(case, set(added))
    for node_id, mark in added.items():
        if node_id in adopted:
            _strip(case, mark)
            text = f"The node {node_id} that {mark.by} added is linked to in the file: the base owns it now."
            case.draft.note("adopted", "node", node_id, mark.by, text)
        else:
            case.draft.echoes.append(Echo("node", mark.place, node_id, mark.by, mark.raw))
    case.node_ids = set(case.found.node_at) - (added.keys() - adopted)
    for known in case.entries["node"]:
        _entry(case, known)


def _gone(case: Case, known: Known, text: str) -> None:
    case.draft.note("gone", "node", known.entry.key, known.entry.by, text)


def _strip(case: Case, mark: Mark) -> None:
    case.draft.restored.append(Restored("node", mark.place, mark.by, mark.raw, stripped(mark.raw)))


def _exact(case: Case, known: Known, place: Place) -> None:
    """Settle a node that stands in the file as the manifest says and never had a stamp."""
    entry = known.entry
    if place in case.found.mark_at:
        return
    if entry.base is None:
        case.draft.echoes.append(Echo("node", place, entry.key, entry.by, known.after, added=False))
        case.node_ids.discard(entry.key)
    else:
        why = "" if is_stub(known.base) else "the file has a stub in its place"
        case.draft.restored.append(Restored("node", place, entry.by, known.after, entry.base, why=why))


def _is_bare(case: Case, known: Known, place: Place) -> bool:
    """Tell whether a stub that we merged away is there again with less than it had.

    graphify makes it anew where the base's would have been kept, and a run without clusters fills nothing in.
    """
    if known.entry.disk is not None or not is_stub(known.base):
        return False
    members = case.found.members(place)
    return len(members) < len(known.base) and all(
        known.base.get(name) == value for name, value in members.items()
    )


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
                Restored("node", place, entry.by, found.raw(place), known.before, why=why)
            )
        elif _is_bare(case, known, place):
            case.draft.restored.append(Restored("node", place, entry.by, found.raw(place), known.before))
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
