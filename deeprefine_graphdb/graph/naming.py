"""From an entity to the name that a model sees, which is one that resolves back to it."""

from __future__ import annotations

from collections.abc import Iterable

from deeprefine_graphdb.graph.resolve import candidates
from deeprefine_graphdb.graph.view import GraphView
from deeprefine_graphdb.model.graph import Edge, Entity, Triple
from deeprefine_loaders.identity import norm_label


def display_name(view: GraphView, entity: Entity) -> str:
    """Give the label where it stands for this entity alone, else ``file::label`` where that does, else the id."""
    options = [entity.label]
    if entity.source_file:
        options.append(f"{entity.source_file}::{entity.label}")
    for name in options:
        if view.entity(name) is not None:
            if name == entity.id:
                return name
            continue
        if candidates(view, name) == (entity.id,):
            return name
    return entity.id


def prefetch_names(view: GraphView, entity_ids: Iterable[str]) -> None:
    """Read at once what showing the names of entities will ask a view."""
    ids = list(dict.fromkeys(entity_ids))
    view.prefetch(f"entity:{entity_id}" for entity_id in ids)
    labels = {entity.label for entity in map(view.entity, ids) if entity is not None}
    view.prefetch(
        question for label in sorted(labels) for question in (f"entity:{label}", f"names:{norm_label(label)}")
    )


def triple_of(view: GraphView, edge: Edge) -> Triple:
    """Give an edge as the model sees it; both ends must be live."""
    source, target = view.entity(edge.src), view.entity(edge.tgt)
    return Triple(
        subject=display_name(view, source) if source is not None else edge.src,
        relation=edge.relation,
        object=display_name(view, target) if target is not None else edge.tgt,
        key=edge.key,
        subject_id=edge.src,
        object_id=edge.tgt,
    )
