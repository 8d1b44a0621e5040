"""Entities that have left the graph but that the history still speaks of: they stay, retired."""

from __future__ import annotations

from collections.abc import Container, Iterable, Iterator

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
    for record in records:
        if record.kind in {TraceBody.KIND, RefinementBody.KIND}:
            names.update((column(entity), column(name)) for entity, name in _named(record))
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


def _named(record: NewRecord) -> Iterator[tuple[str, str]]:
    body = read_body(record)
    if isinstance(body, TraceBody):
        for step in body.steps:
            yield from step.retrieved()
    elif isinstance(body, RefinementBody):
        effects = {effect.action: effect for effect in read_effects(record)}
        for bound in body.actions:
            labels = {bound.subject.id: bound.subject.label, bound.object.id: bound.object.label}
            for entity, _ in touched(bound, effects.get(bound.id)):
                yield entity, labels.get(entity, entity)
