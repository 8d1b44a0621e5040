"""How an action that cannot or should not be carried out could be written instead."""

from __future__ import annotations

from collections.abc import Iterable

from deeprefine_graphdb.graph.naming import display_name
from deeprefine_graphdb.graph.resolve import find
from deeprefine_graphdb.graph.view import GraphView
from deeprefine_graphdb.model.actions import Action, DeleteEdge
from deeprefine_graphdb.model.errors import AmbiguousName
from deeprefine_graphdb.model.graph import Entity
from deeprefine_graphdb.review.names import plain


def with_name(action: Action, part: str, name: str) -> Action:
    """Give an action with one of its names written otherwise."""
    return action.model_copy(update={part: name})


def best_candidate(view: GraphView, candidates: Iterable[str], other: Entity | None) -> str | None:
    """Give the candidate name whose entity is nearest to the other end: linked, of its file, of its community."""
    ranked = []
    for place, name in enumerate(candidates):
        entity = known(view, name)
        if entity is not None:
            ranked.append((-_nearness(view, entity, other), place, name))
    return min(ranked)[2] if ranked else None


def respelled(view: GraphView, name: str) -> Entity | None:
    """Find the one entity whose label is the name with or without the marks of a call or a method."""
    bare = plain(name)
    found = {}
    for spelling in (bare, f"{bare}()", f".{bare}", f".{bare}()"):
        if spelling not in {name, ""}:
            entity = known(view, spelling)
            if entity is not None:
                found[entity.id] = entity
    return next(iter(found.values())) if len(found) == 1 else None


def known(view: GraphView, name: str) -> Entity | None:
    """Give the one entity of a name, ``None`` when there is none or more than one."""
    try:
        return find(view, name)
    except AmbiguousName:
        return None


def qualified(view: GraphView, entity: Entity) -> str:
    """Give a name of an entity that says where it is from and resolves, or else its id."""
    if entity.source_file:
        name = f"{entity.source_file}::{entity.label}"
        found = known(view, name)
        if found is not None and found.id == entity.id:
            return name
    return entity.id


def existing_edge(view: GraphView, action: DeleteEdge) -> DeleteEdge | None:
    """Give the deletion of the nearest edge there is: in other case, reversed, or of another relation."""
    source, target = known(view, action.subject), known(view, action.object)
    if source is None or target is None:
        return None
    forward = view.edges_between(source.id, target.id)
    backward = view.edges_between(target.id, source.id)
    folded = action.relation.casefold()
    ranked = [
        *(edge for edge in forward if edge.relation.casefold() == folded),
        *(edge for edge in backward if edge.relation.casefold() == folded),
        *forward,
        *backward,
    ]
    if not ranked:
        return None
    best = ranked[0]
    ends = {source.id: display_name(view, source), target.id: display_name(view, target)}
    pair = view.edges_between(best.src, best.tgt)
    equal = [edge for edge in pair if edge.relation == best.relation]
    return DeleteEdge(
        subject=ends[best.src],
        relation=best.relation,
        object=ends[best.tgt],
        edge_key=best.key if len(equal) > 1 else None,
    )


def _nearness(view: GraphView, entity: Entity, other: Entity | None) -> int:
    if other is None:
        return 0
    linked = bool(view.edges_between(entity.id, other.id) or view.edges_between(other.id, entity.id))
    same_file = bool(entity.source_file) and entity.source_file == other.source_file
    same_community = entity.community is not None and entity.community == other.community
    return 4 * linked + 2 * same_file + same_community
