"""Un-echoing nodes: what is added, renamed or merged away by us, and what of it the new base has."""

from __future__ import annotations

from deeprefine_graphdb.graph.unecho_case import Case, Known
from deeprefine_graphdb.graph.unecho_found import Mark
from deeprefine_graphdb.graph.unecho_model import Echo, Kept, Restored
from deeprefine_graphdb.graph.unecho_text import is_ast, is_stub, listed, restored, stripped
from deeprefine_loaders.identity import storable_text


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
    gone = case.gone_nodes.get(node_id)
    return gone is not None and is_stub(gone.members)


def keep_stub(case: Case, node_id: str, by: str) -> None:
    """Keep a node that graphify dropped since we took its last link away."""
    gone = case.gone_nodes[node_id]
    why = "graphify drops what nothing links to, and its last link is kept"
    case.draft.kept.append(Kept("node", node_id, by, gone.text, gone.place, why))
    case.node_ids.add(node_id)


def mark_text(known: Known) -> str:
    """Give the text that we wrote."""
    return known.entry.disk or ""


def _strip(case: Case, mark: Mark, words: str, kind: str = "stripped") -> None:
    text = stripped(mark.raw)
    case.draft.restored.append(Restored(mark.object, mark.place, mark.by, mark.raw, text))
    said = words.format(f"{mark.object} {mark.key}", by=mark.by)
    case.draft.note("adopted" if kind == "adopted" else "stripped", mark.object, mark.key, mark.by, said)


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
        mark = found.mark_at.get(found.place("node", number))
        if (mark is not None and mark.valid) or found.raw(found.place("node", number)) == entry.disk:
            return
        if entry.base is None:
            text = f"The node {entry.key} that {entry.by} added is in the file without our stamp: the base owns it now."
            case.draft.note("adopted", "node", entry.key, entry.by, text)
        elif entry.disk is None:
            text = f"The node {entry.key} that {entry.by} merged away is in the file again."
            case.draft.note("returned", "node", entry.key, entry.by, text)
        else:
            text = f"The node {entry.key} that {entry.by} changed is in the file without our stamp"
            case.draft.note("returned", "node", entry.key, entry.by, f"{text}: so the base has it now.")
    elif entry.base is not None and entry.disk is not None:
        text = f"The node {entry.key} that {entry.by} changed is not in the file any more."
        case.draft.note("gone", "node", entry.key, entry.by, text)
    elif entry.base is not None and entry.place is not None:
        if is_ast(known.base) and case.file_is_gone(known.base):
            name = known.base.get("source_file")
            text = f"The node {entry.key} that {entry.by} merged away went with its file {name}."
            case.draft.note("gone", "node", entry.key, entry.by, text)
            return
        why = "it was merged away in the file that we wrote"
        case.draft.kept.append(Kept("node", entry.key, entry.by, entry.base, entry.place, why))
        case.node_ids.add(entry.key)
