"""From an action as proposed to a bound one: its names resolved, its kind settled, its references recorded."""

from __future__ import annotations

import hashlib
from collections.abc import Sequence

from deeprefine_graphdb.graph.resolve import find, find_present, resolve, rivals
from deeprefine_graphdb.graph.texts import entity_id_for
from deeprefine_graphdb.graph.view import GraphView
from deeprefine_graphdb.model.actions import (
    Action,
    BoundAction,
    DeleteEdge,
    Fingerprint,
    InsertEdge,
    Intent,
    Reference,
    ReplaceNode,
)
from deeprefine_graphdb.model.errors import ActionRefused
from deeprefine_graphdb.model.graph import Edge, Entity
from deeprefine_loaders.identity import column_text, norm_label, shown_label
from deeprefine_loaders.objects import read_object

NEAREST_NAMED = 5


def bind(view: GraphView, action: Action, action_id: str) -> BoundAction:
    """Resolve the names of an action on a view.

    Raises :class:`ActionRefused` (or its kinds :class:`AmbiguousName`, :class:`UnknownName`) when the action cannot be
    carried out as written; the message says what stands in the way and what is near.
    """
    if isinstance(action, InsertEdge):
        return _bind_insert(view, action, action_id)
    if isinstance(action, DeleteEdge):
        return _bind_delete(view, action, action_id)
    return _bind_replace(view, action, action_id)


def reference_to(view: GraphView, entity: Entity) -> Reference:
    """Record what an end stands for, so that it can be found again on another base."""
    base_label = base_label_of(view, entity)
    namesakes = {*rivals(view, entity.id, entity.label), *rivals(view, entity.id, base_label)}
    return Reference(
        id=entity.id,
        label=entity.label,
        base_label=base_label,
        norm_label=norm_label(entity.label),
        source_file=entity.source_file,
        file_type=entity.file_type,
        rivals=tuple(sorted(namesakes)),
        created_by=entity.added_by,
    )


def base_label_of(view: GraphView, entity: Entity) -> str:
    """Give the label that an entity has in the base, or the one that it has now when it is not in the base."""
    if entity.raw is None:
        return entity.label
    text = view.base.slice("node", entity.id)
    return shown_label(read_object(text)) if text is not None else entity.label


def _bind_insert(view: GraphView, action: InsertEdge, action_id: str) -> BoundAction:
    subject = find(view, action.subject)
    target = find(view, action.object)
    subject_ref = (
        reference_to(view, subject) if subject is not None else _reference_to_new(view, action.subject)
    )
    if target is not None:
        object_ref = reference_to(view, target)
    elif subject is None and _norm(action.object) == _norm(action.subject):
        object_ref = subject_ref
    else:
        object_ref = _reference_to_new(view, action.object, taken=subject_ref.id)
    return BoundAction(
        id=action_id,
        action=action,
        intent=Intent(kind="insert", subject=action.subject, relation=action.relation, object=action.object),
        subject=subject_ref,
        object=object_ref,
    )


def _norm(name: str) -> str:
    return norm_label(column_text(name) or "")


def _reference_to_new(view: GraphView, label: str, taken: str = "") -> Reference:
    shown = column_text(label) or ""
    return Reference(
        id=free_id(view, entity_id_for(label), taken),
        label=shown,
        base_label=shown,
        norm_label=norm_label(shown),
        source_file="",
        file_type="concept",
        creates=True,
    )


def free_id(view: GraphView, wanted: str, taken: str = "") -> str:
    """Give the id itself, or with the first number behind it that makes it one that nothing has; never ``taken``."""
    entity_id, n = wanted, 1
    while entity_id == taken or _is_taken(view, entity_id):
        n += 1
        entity_id = f"{wanted}_{n}"
    return entity_id


def _is_taken(view: GraphView, entity_id: str) -> bool:
    """Tell whether an id is named by a link or hyperedge, or an entity has it or was merged away under it."""
    row = view.entity_row(entity_id)
    if row is not None and (row.live or row.retired_as == "merged"):
        return True
    return bool(view.loose_with(entity_id))


def _bind_delete(view: GraphView, action: DeleteEdge, action_id: str) -> BoundAction:
    subject, target = resolve(view, action.subject), resolve(view, action.object)
    relation = column_text(action.relation)
    equal = [edge for edge in view.edges_between(subject.id, target.id) if edge.relation == relation]
    if not equal:
        raise ActionRefused(
            f"There is no edge {action.subject!r} -{action.relation}-> {action.object!r} to delete.",
            _nearest_edges(view, subject, target, action.relation),
        )
    if action.edge_key is None and len(equal) > 1:
        keys = ", ".join(edge.key for edge in equal)
        raise ActionRefused(
            f"There are {len(equal)} equal edges {action.subject!r} -{action.relation}-> {action.object!r}: {keys}.",
            "Give the key of the one you mean as the fourth argument.",
        )
    edge = (
        equal[0]
        if action.edge_key is None
        else next((edge for edge in equal if action.edge_key in {edge.key, edge.origin_key}), None)
    )
    if edge is None:
        raise ActionRefused(
            f"No edge {action.subject!r} -{action.relation}-> {action.object!r} has the key {action.edge_key!r}.",
            f"Its keys are: {', '.join(edge.key for edge in equal)}.",
        )
    return BoundAction(
        id=action_id,
        action=action,
        intent=Intent(kind="delete", subject=action.subject, relation=action.relation, object=action.object),
        subject=reference_to(view, subject),
        object=reference_to(view, target),
        scope="triple" if len(equal) == 1 else "occurrence",
        fingerprint=_fingerprint(view, edge, equal),
        edge_key=edge.key,
    )


def _nearest_edges(view: GraphView, subject: Entity, target: Entity, relation: str) -> str:
    forward, backward = view.edges_between(subject.id, target.id), view.edges_between(target.id, subject.id)
    same = [f"other case: {e.relation!r}" for e in forward if e.relation.casefold() == relation.casefold()]
    reversed_ = [f"reversed: {e.relation!r}" for e in backward]
    other = [f"{e.relation!r}" for e in forward if e.relation.casefold() != relation.casefold()]
    near = list(dict.fromkeys(same + other + reversed_))[:NEAREST_NAMED]
    return (
        f"Between these two the graph has: {', '.join(near)}."
        if near
        else "Nothing links these two in the graph."
    )


def _fingerprint(view: GraphView, edge: Edge, equal: Sequence[Edge]) -> Fingerprint:
    raw = view.object_text(edge)
    members = read_object(raw)
    return Fingerprint(
        raw_digest=text_digest(raw),
        source_file=column_text(members.get("source_file")),
        source_location=column_text(members.get("source_location")),
        context=column_text(members.get("context")),
        origin=column_text(members.get("_origin")),
        confidence=edge.confidence,
        count=len(equal),
        rivals=tuple(text_digest(view.object_text(other)) for other in equal if other.key != edge.key),
    )


def text_digest(raw: str) -> str:
    """Give the SHA-256 of an object's text, in hex."""
    return hashlib.sha256(raw.encode("utf-8", "surrogatepass")).hexdigest()


def _bind_replace(view: GraphView, action: ReplaceNode, action_id: str) -> BoundAction:
    old = resolve(view, action.old)
    new = find_present(view, action.new)
    merges = new is not None and new.id != old.id
    subject = reference_to(view, old)
    return BoundAction(
        id=action_id,
        action=action,
        intent=Intent(kind="merge" if merges else "rename", subject=old.label, object=action.new),
        subject=subject,
        object=reference_to(view, new) if new is not None and merges else _renamed(view, subject, action.new),
    )


def _renamed(view: GraphView, subject: Reference, label: str) -> Reference:
    """Record the name that an entity gets; the rivals are those that have it as well, so that no new one is missed."""
    shown = column_text(label) or ""
    norm = norm_label(shown)
    others = tuple(entity_id for entity_id in view.names(norm).ids if entity_id != subject.id)
    return subject.model_copy(update={"label": shown, "norm_label": norm, "rivals": others})
