"""Merging one entity into another: every link, hyperedge and dangling link that named the one names the other."""

from __future__ import annotations

from collections.abc import Callable
from typing import Literal

from deeprefine_graphdb.graph import texts
from deeprefine_graphdb.graph.parallel import say_multigraph
from deeprefine_graphdb.graph.view import GraphView
from deeprefine_graphdb.model.actions import ObjectChange
from deeprefine_graphdb.model.graph import Edge, Entity, Loose

Went = Literal["moved", "folded", "collapsed"]


def merge(
    view: GraphView, action_id: str, old: Entity, new: Entity, next_seq: Callable[[], int], mark: str
) -> tuple[list[ObjectChange], str]:
    """Merge ``old`` into ``new``; give the changes and a note on what was folded or dropped.

    An edge whose equal already stands at ``new`` is folded into it; an edge between the two would become a self loop
    and is dropped; every other edge of ``old`` is retired and stands again at ``new`` under the key
    ``<its key>@<mark>``. The mark names the action and, where these are not the entities that it was bound to, them.
    """
    changes: list[ObjectChange] = []
    at_new = {(edge.src, edge.relation, edge.tgt): edge.key for edge in view.edges_of(new.id)}
    pairs = {_pair(view, src, tgt) for src, _, tgt in at_new}
    folded = collapsed = 0
    parallel = False
    for edge in view.edges_of(old.id):
        src = new.id if edge.src == old.id else edge.src
        tgt = new.id if edge.tgt == old.id else edge.tgt
        if src == tgt and edge.src != edge.tgt:
            changes.append(_retire(view, edge, action_id, "collapsed", None))
            collapsed += 1
            continue
        equal = at_new.get((src, edge.relation, tgt))
        if equal is not None:
            changes.append(_retire(view, edge, action_id, "folded", equal))
            folded += 1
            continue
        moved = _moved(view, action_id, edge, old.id, new.id, next_seq, f"{edge.key}@{mark}")
        changes.append(_retire(view, edge, action_id, "moved", moved.key))
        changes.append(view.put_over(None, moved, "added"))
        at_new[src, edge.relation, tgt] = moved.key
        pair = _pair(view, src, tgt)
        parallel = parallel or pair in pairs
        pairs.add(pair)
    changes.extend(_repoint_loose(view, action_id, old.id, new.id))
    gone = old.model_copy(update={"retired_by": action_id, "retired_as": "merged", "successor": new.id})
    changes.append(view.put(gone, "merged"))
    if parallel:
        changes.extend(say_multigraph(view, action_id))
    return changes, _note(folded, collapsed)


def _pair(view: GraphView, source: str, target: str) -> tuple[str, str]:
    return (source, target) if view.base.header.directed or source <= target else (target, source)


def _retire(view: GraphView, edge: Edge, action_id: str, how: Went, successor: str | None) -> ObjectChange:
    row = edge.model_copy(update={"retired_by": action_id, "retired_as": how, "successor": successor})
    return view.put_over(edge, row, how)


def _moved(
    view: GraphView, action_id: str, edge: Edge, old: str, new: str, next_seq: Callable[[], int], key: str
) -> Edge:
    return Edge(
        key=key,
        origin_key=edge.origin_key,
        src=new if edge.src == old else edge.src,
        tgt=new if edge.tgt == old else edge.tgt,
        relation=edge.relation,
        confidence=edge.confidence,
        raw=texts.moved_text(view, action_id, edge, old, new),
        added_by=action_id,
        seq=next_seq(),
    )


def _repoint_loose(view: GraphView, action_id: str, old: str, new: str) -> list[ObjectChange]:
    changes = []
    for row in view.loose_with(old):
        write = texts.rejoined_text if row.kind == "hyperedge" else texts.moved_text
        members = tuple(dict.fromkeys(new if member == old else member for member in row.members))
        if row.kind == "link":
            members = tuple(new if member == old else member for member in row.members)
        changes.append(_changed_loose(view, row, members, write(view, action_id, row, old, new), action_id))
    return changes


def _changed_loose(
    view: GraphView, row: Loose, members: tuple[str, ...], raw: str, action_id: str
) -> ObjectChange:
    return view.put(
        row.model_copy(update={"members": members, "raw": raw, "changed_by": action_id}), "changed"
    )


def _note(folded: int, collapsed: int) -> str:
    parts = []
    if folded:
        parts.append(f"{folded} duplicate {'edge' if folded == 1 else 'edges'} folded")
    if collapsed:
        parts.append(
            f"{collapsed} {'edge' if collapsed == 1 else 'edges'} between the two dropped as self loops"
        )
    return f"{', '.join(parts).capitalize()}." if parts else ""
