"""Carrying out bound actions on a view: each gives the effect it had, object by object, before and after."""

from __future__ import annotations

from collections.abc import Callable

from deeprefine_graphdb.graph import texts
from deeprefine_graphdb.graph.merge import merge
from deeprefine_graphdb.graph.parallel import mark_parallel
from deeprefine_graphdb.graph.view import GraphView
from deeprefine_graphdb.model.actions import BoundAction, Effect, ObjectChange, Reference
from deeprefine_graphdb.model.errors import ActionRefused
from deeprefine_graphdb.model.graph import Alias, Edge, Entity
from deeprefine_loaders.identity import column_text, edge_key, norm_label
from deeprefine_loaders.objects import read_object

NextSeq = Callable[[], int]


def perform(view: GraphView, bound: BoundAction, next_seq: NextSeq) -> Effect:
    """Lay what an action does over the view and tell it.

    ``next_seq`` numbers added objects. The outcome is ``applied``, or ``already`` with its witness when there was
    nothing to do. Raises :class:`ActionRefused` when what the action was bound to is not there.
    """
    if bound.intent.kind == "insert":
        return _insert(view, bound, next_seq)
    if bound.intent.kind == "delete":
        return _delete(view, bound)
    if bound.intent.kind == "rename":
        return _rename(view, bound)
    return _merge(view, bound, next_seq)


def _effect(bound: BoundAction, changes: list[ObjectChange], note: str = "") -> Effect:
    return Effect(
        id=bound.id,
        action=bound.id,
        outcome="applied",
        note=note,
        bound={"subject": bound.subject.id, "object": bound.object.id},
        changes=tuple(changes),
    )


def _already(bound: BoundAction, witness: str, note: str) -> Effect:
    return _effect(bound, [], note).model_copy(update={"outcome": "already", "witness": witness})


def _insert(view: GraphView, bound: BoundAction, next_seq: NextSeq) -> Effect:
    relation = column_text(bound.intent.relation) or ""
    source, target = bound.subject.id, bound.object.id
    equal = [edge for edge in view.edges_between(source, target) if edge.relation == relation]
    if equal:
        return _already(bound, equal[0].key, "The edge is already there.")
    changes = []
    for end, other in ((bound.subject, bound.object), (bound.object, bound.subject)):
        if view.entity(end.id) is None:
            if not end.creates:
                raise ActionRefused(
                    f"The entity {end.label!r} ({end.id}) of action {bound.id} is not in the graph."
                )
            changes.append(_create(view, bound, end, other, next_seq))
    changes.append(_add_edge(view, bound, source, relation, target, next_seq))
    changes.extend(_inherit_community(view, bound))
    changes.extend(mark_parallel(view, bound.id, source, target))
    created = [end.label for end in (bound.subject, bound.object) if end.creates]
    return _effect(bound, changes, f"Created {' and '.join(dict.fromkeys(created))}." if created else "")


def _create(
    view: GraphView, bound: BoundAction, end: Reference, other: Reference, next_seq: NextSeq
) -> ObjectChange:
    label = bound.intent.subject if end == bound.subject else bound.intent.object
    community = _community(view, other.id)
    shown = column_text(label) or ""
    raw = texts.new_entity_text(view, bound.id, end.id, label, community)
    retired = view.entity_row(end.id)
    row = Entity(
        id=end.id,
        label=shown,
        norm_label=norm_label(shown) if view.base.header.nodes_have_norm_label else None,
        file_type="concept",
        source_file="",
        community=column_text(community),
        origin="semantic",
        raw=raw,
        added_by=bound.id,
        seq=next_seq(),
    )
    return view.put(row, "revived" if retired is not None else "added")


def _community(view: GraphView, entity_id: str) -> object:
    entity = view.entity(entity_id)
    if entity is None or entity.community is None:
        return None
    return read_object(view.object_text(entity)).get("community")


def _inherit_community(view: GraphView, bound: BoundAction) -> list[ObjectChange]:
    """Place an end that an earlier action created without a community beside the first placed one it is linked to."""
    changes = []
    for end, other in ((bound.subject, bound.object), (bound.object, bound.subject)):
        entity = view.entity(end.id)
        if entity is None or entity.community is not None or entity.added_by is None or entity.raw is None:
            continue
        community = _community(view, other.id)
        if community is not None and not end.creates and _same_refinement(entity.added_by, bound.id):
            raw = texts.new_entity_text(
                view, entity.added_by, entity.id, str(read_object(entity.raw)["label"]), community
            )
            changes.append(
                view.put(
                    entity.model_copy(update={"raw": raw, "community": column_text(community)}), "changed"
                )
            )
    return changes


def _same_refinement(action_id: str, other_id: str) -> bool:
    return action_id.rpartition(".")[0] == other_id.rpartition(".")[0]


def _add_edge(
    view: GraphView, bound: BoundAction, source: str, relation: str, target: str, next_seq: NextSeq
) -> ObjectChange:
    key = edge_key(source, relation, target)
    retired = any(edge.key == key for edge in view.edge_rows(source, target))
    row = Edge(
        key=key,
        origin_key=key,
        src=source,
        tgt=target,
        relation=relation,
        confidence="INFERRED",
        raw=texts.new_edge_text(view, bound.id, source, bound.intent.relation, target),
        added_by=bound.id,
        seq=next_seq(),
    )
    return view.put(row, "revived" if retired else "added")


def _delete(view: GraphView, bound: BoundAction) -> Effect:
    equal = [
        edge
        for edge in view.edges_between(bound.subject.id, bound.object.id)
        if edge.relation == column_text(bound.intent.relation)
    ]
    if bound.scope == "occurrence":
        equal = [edge for edge in equal if edge.key == bound.edge_key]
    if not equal:
        return _already(bound, "", "The edge is not there any more.")
    changes = [
        view.put(edge.model_copy(update={"retired_by": bound.id, "retired_as": "removed"}), "removed")
        for edge in equal
    ]
    return _effect(bound, changes)


def _rename(view: GraphView, bound: BoundAction) -> Effect:
    entity = view.entity(bound.subject.id)
    if entity is None:
        raise ActionRefused(f"The entity {bound.subject.label!r} ({bound.subject.id}) is not in the graph.")
    label = bound.intent.object
    shown = column_text(label) or ""
    if entity.label == shown:
        return _already(bound, entity.id, "The entity has this label already.")
    raw = texts.renamed_text(view, bound.id, entity, label)
    renamed = entity.model_copy(
        update={
            "label": shown,
            "norm_label": norm_label(shown) if entity.norm_label is not None else None,
            "raw": raw,
            "changed_by": bound.id,
        }
    )
    changes = [view.put(renamed, "changed")]
    changes.extend(add_alias(view, entity.label, entity.id))
    return _effect(bound, changes)


def add_alias(view: GraphView, label: str, entity_id: str) -> list[ObjectChange]:
    """Let a former label stand for an entity."""
    norm = norm_label(label)
    known = view.alias(norm)
    if entity_id in known.ids:
        return []
    return [view.put(Alias(norm=norm, ids=tuple(sorted({*known.ids, entity_id}))), "changed")]


def _merge(view: GraphView, bound: BoundAction, next_seq: NextSeq) -> Effect:
    old, new = view.entity(bound.subject.id), view.entity(bound.object.id)
    if old is None or new is None:
        missing = bound.subject if old is None else bound.object
        raise ActionRefused(f"The entity {missing.label!r} ({missing.id}) is not in the graph.")
    changes, note = merge(view, bound.id, old, new, next_seq)
    changes.extend(add_alias(view, old.label, new.id))
    return _effect(bound, changes, note)
