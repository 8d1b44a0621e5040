"""Finding again what an end of an action stood for. Names are never resolved anew while an id lives."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from deeprefine_graphdb.graph.bind import base_label_of, text_digest
from deeprefine_graphdb.graph.questions import merged
from deeprefine_graphdb.graph.resolve import candidates, follow_merges
from deeprefine_graphdb.graph.view import GraphView
from deeprefine_graphdb.model.actions import BoundAction, Fingerprint, Reference
from deeprefine_graphdb.model.graph import Edge, Entity
from deeprefine_loaders.identity import column_text, norm_label
from deeprefine_loaders.objects import read_object


@dataclass(frozen=True)
class Found:
    """The entity. ``merged``: an earlier action merged the id into it; ``relabelled``: others gave it another name."""

    entity: Entity
    note: str = ""
    merged: bool = False
    relabelled: bool = False


@dataclass(frozen=True)
class Gone:
    """No entity is it any more."""


@dataclass(frozen=True)
class Several:
    """Several entities could be it; ids in order."""

    ids: tuple[str, ...]


@dataclass(frozen=True)
class Another:
    """The id is there, but stands for another entity."""

    entity: Entity


Located = Found | Gone | Several | Another


def ours(reference: Reference) -> bool:
    """Tell whether an end is an entity that a refinement created."""
    return reference.creates or reference.created_by is not None


def locate(view: GraphView, reference: Reference, label: str, *, new_label: str | None = None) -> Located:
    """Find what an end of an action is now.

    By id, followed through merges, while its label or its source file still agrees. An end that a refinement created
    is found by its name ``label``; any other by source file and label or by label alone among those that did not
    stand beside it. ``new_label`` is a name that agrees as well: the one that the action would give.
    """
    row = view.entity_row(reference.id)
    if row is not None and (row.live or row.retired_as == "merged"):
        note = _agreement(view, reference, row, new_label)
        now = row if row.live else follow_merges(view, row.id)
        if note is not None and now is not None:
            return Found(now, note, merged=not row.live, relabelled=bool(note))
        if now is not None and not ours(reference):
            return Another(now)
    return _by_name(view, label) if ours(reference) else _by_file_or_label(view, reference)


def _agreement(view: GraphView, reference: Reference, row: Entity, new_label: str | None) -> str | None:
    """Give ``None`` when an entity is not what the reference is about, else what is to be noted."""
    known = {reference.norm_label, norm_label(reference.base_label)}
    same = (
        norm_label(row.label) in known
        or row.label == new_label
        or (reference.created_by is not None and row.added_by == reference.created_by)
        or norm_label(base_label_of(view, row)) in known
    )
    if same:
        return ""
    if reference.source_file and row.source_file == reference.source_file:
        return f"What was {reference.label!r} is called {row.label!r} now."
    return None


def _by_name(view: GraphView, label: str) -> Located:
    text = column_text(label) or ""
    entity = view.entity(text)
    if entity is not None:
        return Found(entity)
    return _one_of([entity for i in candidates(view, text) if (entity := view.entity(i)) is not None], "")


def _by_file_or_label(view: GraphView, reference: Reference) -> Located:
    labels = {reference.label, reference.base_label}
    files: dict[str, str] = {}
    for norm in sorted({norm_label(label) for label in labels}):
        rows = view.names(norm)
        files.update(
            (i, file)
            for i, file, label in zip(rows.ids, rows.files, rows.labels, strict=True)
            if label in labels
        )
        for entity_id in view.alias(norm).ids:
            entity = view.entity(entity_id)
            if entity is not None:
                files.setdefault(entity_id, entity.source_file or "")
    left = sorted(set(files) - set(reference.rivals))
    near = [i for i in left if reference.source_file and files[i] == reference.source_file]
    for ids in (near, left if not reference.rivals else []):
        found = [entity for i in ids if (entity := _base_entity(view, i, labels)) is not None]
        if found:
            return _one_of(found, f"{reference.label!r} has the id {found[0].id!r} now.")
    return Gone()


def _base_entity(view: GraphView, entity_id: str, labels: set[str]) -> Entity | None:
    """Give an entity that the base itself has under one of the labels: what a refinement named so is another one."""
    entity = view.entity(entity_id)
    if entity is None or entity.added_by is not None:
        return None
    return entity if base_label_of(view, entity) in labels else None


def _one_of(found: Sequence[Entity], note: str) -> Located:
    if len(found) > 1:
        return Several(tuple(entity.id for entity in found))
    return Found(found[0], note) if found else Gone()


class ActiveMerges:
    """The merges of all active refinements, to find what an id that the base has lost was merged into."""

    def __init__(self, bound: Iterable[BoundAction]) -> None:
        self._into: dict[str, Reference] = {}
        for action in bound:
            if action.intent.kind == "merge" and not ours(action.subject):
                self._into.setdefault(action.subject.id, action.object)

    def survivor(self, view: GraphView, reference: Reference) -> Located:
        """Find what merges made of an entity that the base has lost, wherever they stand in the order.

        What a refinement created is not looked for: where it is not, it was not created yet, and merging it later
        says nothing about now.
        """
        passed: set[str] = set()
        while not ours(reference) and reference.id not in passed:
            passed.add(reference.id)
            view.asked.add(merged(reference.id))
            into = self._into.get(reference.id)
            if into is None:
                return Gone()
            reference = into
            located = locate(view, reference, reference.label)
            if not isinstance(located, Gone):
                return located
        return Gone()


def pick_edges(
    view: GraphView, equal: Sequence[Edge], fingerprint: Fingerprint, edge_key: str | None
) -> list[Edge] | None:
    """Find the one of equal edges that a fingerprint is of; none when it is gone, ``None`` when it is not clear.

    The exact text decides, then source file and location, then the source file. Edges that stood beside it with the
    text that they have now are others. The key tells apart only what is equal to the letter.
    """
    digests = {edge.key: _digests(view, edge) for edge in equal}
    exact = [edge for edge in equal if fingerprint.raw_digest in digests[edge.key]]
    if exact:
        return [next((edge for edge in exact if edge.key == edge_key), exact[0])]
    left = [edge for edge in equal if digests[edge.key].isdisjoint(fingerprint.rivals)]
    if not left:
        return []
    members = {edge.key: read_object(view.object_text(edge)) for edge in left}
    tiers = (
        [("source_file", fingerprint.source_file), ("source_location", fingerprint.source_location)],
        [("source_file", fingerprint.source_file)],
    )
    for tier in tiers:
        if any(not value for _, value in tier):
            continue
        near = [
            e for e in left if all(column_text(members[e.key].get(name)) == value for name, value in tier)
        ]
        if near:
            return near if len(near) == 1 else None
    return None


def _digests(view: GraphView, edge: Edge) -> set[str]:
    """Give the digests of an edge's text as it is and as it was in the base before anything re-pointed it."""
    texts = (view.object_text(edge), view.base.slice("link", edge.origin_key))
    return {text_digest(text) for text in texts if text is not None}
