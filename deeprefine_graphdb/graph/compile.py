"""From planned row states to the Cypher statements that write them, each row once and blind."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from deeprefine_graphdb.graph.overlay import Overlay
from deeprefine_graphdb.graph.setwise import RETIRING, remake_all, retire_all, setwise_groups
from deeprefine_graphdb.model.graph import Edge, Entity, Row
from deeprefine_graphdb.model.write import Statement

_RENAMING = frozenset({"label", "norm_label", "raw", "changed_by"})
_Narrow = tuple[tuple[str, frozenset[str]], ...]
_WAYS: Mapping[type[Row], tuple[str, tuple[str, ...], _Narrow]] = {
    Entity: (
        "graph/entity_set",
        ("id",),
        (("graph/entity_retire", RETIRING), ("graph/entity_rename", _RENAMING)),
    ),
    Edge: ("graph/edge_set", ("key", "src", "tgt"), (("graph/edge_retire", RETIRING),)),
}
"""A row's type → the statement that writes all of it, its identity, and statements that write some columns."""


def compile_overlay(overlay: Overlay) -> tuple[Statement, ...]:
    """Give the statements that bring a store from the committed rows to the overlay's.

    Retiring comes before creating, since a statement that binds one end only must not see an edge of its own
    transaction; entities come before the edges that need them.
    """
    groups = setwise_groups(overlay)
    done = {edge.key for group in groups for edge in (*group.moved, *group.remade)}
    edges = [edge for edge in overlay.edges.values() if edge.key not in done]
    return (
        *(statement for group in groups for statement in retire_all(group, overlay)),
        *(_stored(overlay, edge, edge.key) for edge in edges if _is_stored(overlay, edge)),
        *_entity_statements(overlay),
        *(statement for group in groups for statement in remake_all(group)),
        *(_statement("graph/edge_add", edge) for edge in edges if not _is_stored(overlay, edge)),
        *(
            _statement("graph/loose_set" if ("Loose", row.key) in overlay.stored else "graph/loose_add", row)
            for row in overlay.loose.values()
        ),
        *(_statement("graph/names_set", row) for row in overlay.names.values()),
        *(_statement("graph/alias_set", row) for row in overlay.aliases.values()),
    )


def _entity_statements(overlay: Overlay) -> Iterator[Statement]:
    for entity in overlay.entities.values():
        stored = ("Entity", entity.id) in overlay.stored
        yield _stored(overlay, entity, entity.id) if stored else _statement("graph/entity_add", entity)


def _stored(overlay: Overlay, row: Entity | Edge, key: str) -> Statement:
    """Write a row that is there by the narrowest statement that has all that changed.

    Every column that is set takes time, and memory until the next fold.
    """
    before = overlay.stored["Entity" if isinstance(row, Entity) else "RELATES", key]
    changed = {name for name in type(row).model_fields if getattr(row, name) != getattr(before, name)}
    whole, identity, narrow = _WAYS[type(row)]
    for name, columns in narrow:
        if changed <= columns:
            return Statement(name=name, params={c: getattr(row, c) for c in (*identity, *sorted(columns))})
    return _statement(whole, row)


def _is_stored(overlay: Overlay, edge: Edge) -> bool:
    return ("RELATES", edge.key) in overlay.stored


def _statement(name: str, row: Row) -> Statement:
    params = {
        column: list(value) if isinstance(value, tuple) else value
        for column, value in row.model_dump().items()
    }
    return Statement(name=name, params=params)
