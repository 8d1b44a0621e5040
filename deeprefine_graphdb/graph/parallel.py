"""Keeping graphify's readers from fusing links: the file says multigraph as soon as a pair has two of them."""

from __future__ import annotations

from deeprefine_graphdb.graph.view import GraphView
from deeprefine_graphdb.model.actions import ObjectChange
from deeprefine_graphdb.model.graph import Loose

MULTIGRAPH = "header:multigraph"


def mark_parallel(view: GraphView, action_id: str, source: str, target: str) -> list[ObjectChange]:
    """Say ``multigraph: true`` in the header when a pair has more than one link and the header does not say so yet."""
    if says_multigraph(view):
        return []
    links = len(view.edges_between(source, target))
    if source != target and not view.base.header.directed:
        links += len(view.edges_between(target, source))
    return say_multigraph(view, action_id) if links > 1 else []


def say_multigraph(view: GraphView, action_id: str) -> list[ObjectChange]:
    """Let the header say ``multigraph: true`` unless it does already."""
    if says_multigraph(view):
        return []
    row = Loose(key=MULTIGRAPH, kind="header", raw="true", changed_by=action_id)
    return [view.put(row, "changed")]


def says_multigraph(view: GraphView) -> bool:
    """Tell whether the written file says ``multigraph: true``."""
    if view.base.header.multigraph:
        return True
    row = view.loose(MULTIGRAPH)
    return row is not None and row.live
