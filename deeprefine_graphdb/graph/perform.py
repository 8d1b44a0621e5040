"""Carrying out bound actions on a view: each gives the effect it had, object by object, before and after."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from hashlib import blake2b
from typing import NamedTuple

from deeprefine_graphdb.graph import texts
from deeprefine_graphdb.graph.merge import merge
from deeprefine_graphdb.graph.parallel import mark_parallel
from deeprefine_graphdb.graph.view import GraphView
from deeprefine_graphdb.model.actions import BoundAction, Effect, ObjectChange, Reference
from deeprefine_graphdb.model.errors import ActionRefused
from deeprefine_graphdb.model.graph import Alias, Edge, Entity
from deeprefine_loaders.identity import column_text, edge_key, norm_label, shown_label
from deeprefine_loaders.objects import edit_object, read_object

NextSeq = Callable[[], int]
EchoTexts = Mapping[tuple[str, str, str], str]
"""The text of an object as a file had it after our export, by (``node`` or ``link``, key, action that added it)."""
NO_ECHOES: EchoTexts = {}


@dataclass(frozen=True)
class End:
    """An end of an action on the graph as it is: an entity that is there, or one to be created with this label."""

    id: str
    label: str = ""
    creates: bool = False


class Ends(NamedTuple):
    """Both ends of an action."""

    subject: End
    object: End


def perform(view: GraphView, bound: BoundAction, next_seq: NextSeq) -> Effect:
    """Lay what an action does over the very graph that it was bound on, and tell it.

    ``next_seq`` numbers added objects. The outcome is ``applied``, or ``already`` with its witness when there was
    nothing to do. Raises :class:`ActionRefused` when what the action was bound to is not there.
    """
    kind = bound.intent.kind
    if kind == "insert":
        return insert(view, bound, Ends(_end(view, bound, "subject"), _end(view, bound, "object")), next_seq)
    subject, target = _there(view, bound.subject), _there(view, bound.object)
    if kind == "delete":
        edges = equal_edges(view, subject.id, column_text(bound.intent.relation) or "", target.id)
        if bound.scope == "occurrence":
            edges = [edge for edge in edges if edge.key == bound.edge_key]
        return delete(view, bound, Ends(End(subject.id), End(target.id)), edges)
    return (
        rename(view, bound, subject)
        if kind == "rename"
        else merge_into(view, bound, subject, target, next_seq)
    )


def _end(view: GraphView, bound: BoundAction, role: str) -> End:
    reference = bound.subject if role == "subject" else bound.object
    if view.entity(reference.id) is not None:
        return End(reference.id)
    if not reference.creates:
        _there(view, reference)
    return End(reference.id, label_to_create(bound, reference), creates=True)


def label_to_create(bound: BoundAction, reference: Reference) -> str:
    """Give the label that an end gets when the action has to create it: as proposed, or as it was called last."""
    if not reference.creates:
        return reference.label
    return bound.intent.subject if reference == bound.subject else bound.intent.object


def _there(view: GraphView, reference: Reference) -> Entity:
    entity = view.entity(reference.id)
    if entity is None:
        raise ActionRefused(f"The entity {reference.label!r} ({reference.id}) is not in the graph.")
    return entity


def equal_edges(view: GraphView, source: str, relation: str, target: str) -> list[Edge]:
    """Give the live edges of one triple, by key."""
    return [edge for edge in view.edges_between(source, target) if edge.relation == relation]


def already(bound: BoundAction, ends: Ends, witness: str | None, note: str) -> Effect:
    """Tell that there is nothing to do, and the key of what makes it so."""
    return _effect(bound, ends, (), note, outcome="already", witness=witness)


def _effect(
    bound: BoundAction,
    ends: Ends,
    changes: Sequence[ObjectChange],
    note: str = "",
    outcome: str = "applied",
    witness: str | None = None,
) -> Effect:
    return Effect(
        id=bound.id,
        action=bound.id,
        outcome=outcome,
        note=note,
        witness=witness,
        bound={"subject": ends.subject.id, "object": ends.object.id},
        changes=tuple(changes),
    )


def insert(
    view: GraphView, bound: BoundAction, ends: Ends, next_seq: NextSeq, echoes: EchoTexts = NO_ECHOES
) -> Effect:
    """Add an edge between two ends, creating those that are to be created.

    An object that the file still had as an echo of this very action gets the text that it had there.
    """
    relation = column_text(bound.intent.relation) or ""
    source, target = ends.subject.id, ends.object.id
    equal = equal_edges(view, source, relation, target)
    if equal:
        return already(bound, ends, equal[0].key, "The edge is already there.")
    changes = [
        create(view, bound, end, other.id, next_seq, echoes)[1]
        for end, other in ((ends.subject, ends.object), (ends.object, ends.subject))
        if end.creates and view.entity(end.id) is None
    ]
    changes.append(_add_edge(view, bound, source, relation, target, next_seq, echoes))
    changes.extend(_inherit_community(view, bound, ends))
    changes.extend(mark_parallel(view, bound.id, source, target))
    created = dict.fromkeys(column_text(end.label) or "" for end in ends if end.creates)
    return _effect(bound, ends, changes, f"Created {' and '.join(created)}." if created else "")


def create(
    view: GraphView,
    bound: BoundAction,
    end: End,
    other: str,
    next_seq: NextSeq,
    echoes: EchoTexts = NO_ECHOES,
) -> tuple[Entity, ObjectChange]:
    """Create an end, in the community of the entity ``other``."""
    raw = echoes.get(("node", end.id, bound.id)) or texts.new_entity_text(
        view, bound.id, end.id, end.label, _community(view, other)
    )
    members = read_object(raw)
    shown = shown_label(members)
    row = Entity(
        id=end.id,
        label=shown,
        norm_label=norm_label(shown) if view.base.header.nodes_have_norm_label else None,
        file_type=column_text(members.get("file_type")),
        source_file=column_text(members.get("source_file")),
        source_location=column_text(members.get("source_location")),
        community=column_text(members.get("community")),
        origin=column_text(members.get("_origin")),
        raw=raw,
        added_by=bound.id,
        seq=next_seq(),
    )
    return row, view.put(row, "added" if view.entity_row(end.id) is None else "revived")


def _community(view: GraphView, entity_id: str) -> object:
    entity = view.entity(entity_id)
    if entity is None or entity.community is None:
        return None
    return read_object(view.object_text(entity)).get("community")


def _inherit_community(view: GraphView, bound: BoundAction, ends: Ends) -> list[ObjectChange]:
    """Place an end that an earlier action created without a community beside the first placed one it is linked to."""
    changes = []
    for end, other in ((ends.subject, ends.object), (ends.object, ends.subject)):
        entity = view.entity(end.id)
        if entity is None or entity.community is not None or entity.added_by is None or entity.raw is None:
            continue
        community = _community(view, other.id)
        if community is not None and not end.creates and _same_refinement(entity.added_by, bound.id):
            raw = edit_object(entity.raw, {"community": community}, header=view.base.header)
            changes.append(
                view.put(
                    entity.model_copy(update={"raw": raw, "community": column_text(community)}), "changed"
                )
            )
    return changes


def _same_refinement(action_id: str, other_id: str) -> bool:
    return action_id.rpartition(".")[0] == other_id.rpartition(".")[0]


def _add_edge(
    view: GraphView,
    bound: BoundAction,
    source: str,
    relation: str,
    target: str,
    next_seq: NextSeq,
    echoes: EchoTexts,
) -> ObjectChange:
    key = edge_key(source, relation, target)
    retired = next((edge for edge in view.edge_rows(source, target) if edge.key == key), None)
    echo = echoes.get(("link", key, bound.id))
    row = Edge(
        key=key,
        origin_key=key,
        src=source,
        tgt=target,
        relation=relation,
        confidence="INFERRED" if echo is None else column_text(read_object(echo).get("confidence")),
        raw=echo or texts.new_edge_text(view, bound.id, source, bound.intent.relation, target),
        added_by=bound.id,
        seq=next_seq(),
    )
    return view.put_over(retired, row, "added" if retired is None else "revived")


def delete(view: GraphView, bound: BoundAction, ends: Ends, edges: Sequence[Edge], note: str = "") -> Effect:
    """Retire edges."""
    if not edges:
        return already(bound, ends, None, "The edge is not there any more.")
    changes = [
        view.put_over(
            edge, edge.model_copy(update={"retired_by": bound.id, "retired_as": "removed"}), "removed"
        )
        for edge in edges
    ]
    return _effect(bound, ends, changes, note)


def rename(view: GraphView, bound: BoundAction, entity: Entity) -> Effect:
    """Give an entity the new label; the old one goes on to stand for it."""
    ends = Ends(End(entity.id), End(entity.id))
    label = bound.intent.object
    shown = column_text(label) or ""
    if entity.label == shown:
        return already(bound, ends, entity.id, "The entity has this label already.")
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
    changes.extend(_add_alias(view, entity.label, entity.id))
    return _effect(bound, ends, changes)


def _add_alias(view: GraphView, label: str, entity_id: str) -> list[ObjectChange]:
    """Let a former label stand for an entity."""
    norm = norm_label(label)
    known = view.alias(norm)
    if entity_id in known.ids:
        return []
    return [view.put(Alias(norm=norm, ids=tuple(sorted({*known.ids, entity_id}))), "changed")]


def merge_into(view: GraphView, bound: BoundAction, old: Entity, new: Entity, next_seq: NextSeq) -> Effect:
    """Merge one entity into another; the name of the one goes on to stand for the other."""
    changes, note = merge(view, bound.id, old, new, next_seq, _mark(bound, old, new))
    changes.extend(_add_alias(view, old.label, new.id))
    return _effect(bound, Ends(End(old.id), End(new.id)), changes, note)


def _mark(bound: BoundAction, old: Entity, new: Entity) -> str:
    """Tell the edges that a merge re-points apart from those that it would re-point between other entities.

    The ends of an edge never change under one key, and on another base, or after an undo, the same action may merge
    other entities than it was bound to.
    """
    if (old.id, new.id) == (bound.subject.id, bound.object.id):
        return bound.id
    pair = f"{len(old.id)}:{old.id}{new.id}".encode("utf-8", "surrogatepass")
    return f"{bound.id}~{blake2b(pair, digest_size=4).hexdigest()}"
