"""Entities that have left the graph but that the history still speaks of: they stay, retired."""

from __future__ import annotations

from collections.abc import Container, Iterable, Iterator, Mapping

from deeprefine_graphdb.model.actions import BoundAction, Effect
from deeprefine_graphdb.model.graph import Entity
from deeprefine_graphdb.model.write import NewRecord
from deeprefine_graphdb.provenance.nodes import column, touched
from deeprefine_graphdb.provenance.records import RefinementBody, TraceBody, read_body, read_effects
from deeprefine_loaders.identity import norm_label

BY_SYNC = "sync:"
BY_UNDO = "undo:"
LEFT_BEHIND = (BY_SYNC, BY_UNDO)
"""What ``retired_by`` begins with on rows that no action of the log retired."""


def left_behind(records: Iterable[NewRecord], present: Container[str], revision: int) -> list[Entity]:
    """Give the rows of entities that records name and a graph does not have, ordered by id.

    ``present`` holds the ids of the graph, live and retired. The rows are retired by ``sync:<revision>`` and have
    the last name that the history knows them by.
    """
    names: dict[str, str] = {}
    ends: dict[str, BoundAction] = {}
    for record in records:
        if record.kind in {TraceBody.KIND, RefinementBody.KIND}:
            names.update((column(entity), column(name)) for entity, name in _named(record, ends))
        else:
            for entity, name in _touched_again(record, ends, present):
                names.setdefault(column(entity), column(name))
    return [
        Entity(
            id=entity,
            label=name,
            norm_label=norm_label(name),
            retired_by=f"{BY_SYNC}{revision}",
            retired_as="removed",
        )
        for entity, name in sorted(names.items())
        if entity not in present
    ]


def _touched_again(
    record: NewRecord, ends: Mapping[str, BoundAction], present: Container[str]
) -> Iterator[tuple[str, str]]:
    """Give what actions were bound to when they were derived again; most of it is there, and is not parsed."""
    for dumped in record.effects:
        bound = ends.get(str(dumped.get("action")))
        if bound is None or all(
            column(str(end)) in present for end in dict(dumped.get("bound", {})).values()
        ):
            continue
        effect = Effect.model_validate(dumped)
        for entity, how in touched(bound, effect):
            yield entity, (bound.object if how == "object" else bound.subject).label


def _named(record: NewRecord, ends: dict[str, BoundAction]) -> Iterator[tuple[str, str]]:
    """Give the entities of a record with their names, and put the actions of a refinement into ``ends``."""
    body = read_body(record)
    if isinstance(body, TraceBody):
        for step in body.steps:
            yield from step.retrieved()
    elif isinstance(body, RefinementBody):
        effects = {effect.action: effect for effect in read_effects(record)}
        for bound in body.actions:
            ends[bound.id] = bound
            labels = {bound.subject.id: bound.subject.label, bound.object.id: bound.object.label}
            for entity, _ in touched(bound, effects.get(bound.id)):
                yield entity, labels.get(entity, entity)
