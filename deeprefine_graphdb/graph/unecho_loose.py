"""Un-echoing hyperedges and the header."""

from __future__ import annotations

import json
from typing import Any

from deeprefine_graphdb.graph.manifest import ManifestEntry
from deeprefine_graphdb.graph.unecho_case import Case, Known
from deeprefine_graphdb.graph.unecho_found import Mark
from deeprefine_graphdb.graph.unecho_model import Echo, Kept, Restored
from deeprefine_graphdb.graph.unecho_text import listed, restored, stripped
from deeprefine_loaders.identity import storable_text
from deeprefine_loaders.objects import read_object

HEADER = "header:"


def unecho_hyperedges(case: Case) -> None:
    """Find the hyperedges that differ between the file and the new base. The nodes must be known.

    graphify never fuses hyperedges, writes a kept one as it was, in one slot or in both, and drops one that names a
    node which it has not.
    """
    settled: set[str] = set()
    for mark in case.marks("hyperedge"):
        whose, known = case.image(mark)
        if whose == "stray":
            case.draft.restored.append(
                Restored("hyperedge", mark.place, mark.by, mark.raw, stripped(mark.raw))
            )
            text = f"The stamp on the hyperedge {mark.key} was made for another object and is taken off."
            case.draft.note("stripped", "hyperedge", mark.key, mark.by, text)
        elif known is None:
            case.foreign(mark, whose)
        else:
            settled.add(_identity(known.entry.key))
            _restore(case, mark, known)
    for known in case.entries["hyperedge"]:
        if known.entry.base is not None and _identity(known.entry.key) not in settled:
            _absent(case, known)


def unecho_header(case: Case) -> None:
    """Find the top-level members that differ: one that still says what we wrote says what it said before."""
    for entry in case.header_entries():
        name = entry.key.removeprefix(HEADER)
        text = case.found.header_text(name)
        if text is None or entry.disk is None or not _equal(text, entry.disk):
            continue
        if entry.base is not None and _equal(text, entry.base):
            continue
        case.draft.header[name] = entry.base
        case.draft.header_entries.append(
            ManifestEntry(
                kind="added" if entry.base is None else "changed",
                object="header",
                key=entry.key,
                by=entry.by,
                base=entry.base,
                disk=text,
            )
        )


def _restore(case: Case, mark: Mark, known: Known) -> None:
    def alive(member: Any) -> bool:
        return storable_text(member) in case.node_ids or not _is_node(case, member)

    before = known.entry.base
    if before is None:
        case.draft.echoes.append(Echo("hyperedge", mark.place, mark.key, mark.by, mark.raw))
        return
    text = restored(mark.raw, before, known.after, case.found.graph.header, alive)
    if listed(read_object(before)) and not listed(read_object(text)):
        case.draft.echoes.append(Echo("hyperedge", mark.place, mark.key, mark.by, mark.raw, added=False))
        _gone(case, known, "none of its members is in the graph any more")
        return
    case.draft.restored.append(Restored("hyperedge", mark.place, mark.by, mark.raw, text))


def _is_node(case: Case, member: Any) -> bool:
    """Tell whether a member was a node of the former base; what dangled there may dangle still."""
    return case.base.place("node", storable_text(member) or "") is not None


def _absent(case: Case, known: Known) -> None:
    """Keep a hyperedge that the file lacks only if a member that we put in is why graphify dropped it."""
    entry, found = known.entry, case.found
    identity = _identity(entry.key)
    key = next((key for key in found.hyperedge_at if _identity(key) == identity), None)
    if key is not None:
        if found.raw(found.place("hyperedge", found.hyperedge_at[key])) != entry.disk:
            text = f"The hyperedge {entry.key} that {entry.by} changed is in the file as the base has it now."
            case.draft.note("returned", "hyperedge", entry.key, entry.by, text)
        return
    before, ours = listed(known.base), listed(known.disk)
    lost = [each for each in ours if each not in before and storable_text(each) not in found.node_at]
    members = [storable_text(each) or "" for each in before]
    if entry.disk is not None and not lost:
        _gone(case, known, "graphify dropped it")
    elif entry.place is None or not all(
        member in case.node_ids or not _is_node(case, member) for member in members
    ):
        _gone(case, known, "one of its members is not in the graph any more")
    else:
        why = "graphify drops a hyperedge of which a member is gone, and that member was ours"
        case.draft.kept.append(Kept("hyperedge", entry.key, entry.by, known.before, entry.place, why))


def _gone(case: Case, known: Known, why: str) -> None:
    entry = known.entry
    text = f"The hyperedge {entry.key} that {entry.by} changed is gone: {why}."
    case.draft.note("gone", "hyperedge", entry.key, entry.by, text)


def _identity(key: str) -> str:
    """Give a hyperedge's key without its slot: graphify writes the same list to one or both."""
    return key.partition(":")[2]


def _equal(one: str, other: str) -> bool:
    return bool(json.dumps(json.loads(one)) == json.dumps(json.loads(other)))
