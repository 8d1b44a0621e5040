"""Rows of the graph as an engine gives them, or as the base has them, as the models that everyone else sees."""

from __future__ import annotations

from typing import Any

from deeprefine_graphdb.model.graph import Alias, Edge, Entity, Loose, Names
from deeprefine_graphdb.model.write import StoreState
from deeprefine_loaders.basefile import BaseFile
from deeprefine_loaders.objects import read_object
from deeprefine_loaders.single import link_row, node_row

_PROVENANCE = ("raw", "added_by", "changed_by", "retired_by", "retired_as", "successor", "seq")
ENTITY_COLUMNS = (
    "id",
    "label",
    "norm_label",
    "file_type",
    "source_file",
    "source_location",
    "community",
    "origin",
    *_PROVENANCE,
)
EDGE_COLUMNS = ("key", "origin_key", "src", "tgt", "relation", "confidence", *_PROVENANCE)
LIVE_EDGE_COLUMNS = tuple(
    name for name in EDGE_COLUMNS if name not in {"retired_by", "retired_as", "successor"}
)
LOOSE_COLUMNS = ("key", "kind", "members", *_PROVENANCE)
STATE_COLUMNS = (
    "store_id",
    "format",
    "knowledge_base",
    "base_digest",
    "file_digest",
    "revision",
    "seq",
    "head",
    "state",
    "tail",
)


def entity(row: tuple[Any, ...]) -> Entity:
    """Make an entity of its columns."""
    return Entity(**dict(zip(ENTITY_COLUMNS, row, strict=True)))


def base_entity(base: BaseFile, entity_id: str) -> Entity | None:
    """Make an entity as it is in the base, or give ``None`` when the base does not have it."""
    text = base.slice("node", entity_id)
    return None if text is None else Entity(id=entity_id, **node_row(read_object(text))._asdict())


def base_edge(base: BaseFile, key: str) -> Edge | None:
    """Make an edge as it is in the base, or give ``None`` when the base does not have it."""
    text = base.slice("link", key)
    if text is None:
        return None
    source, target, relation, confidence = link_row(read_object(text))
    return Edge(key=key, origin_key=key, src=source, tgt=target, relation=relation, confidence=confidence)


def edge(row: tuple[Any, ...]) -> Edge:
    """Make an edge of its columns."""
    return Edge(**dict(zip(EDGE_COLUMNS, row, strict=True)))


def live_edge(row: tuple[Any, ...]) -> Edge:
    """Make an edge of the columns that are read of one known to be live: what only a retired one has is left out.

    The origin key may be ``None``, which stands for the key.
    """
    columns = dict(zip(LIVE_EDGE_COLUMNS, row, strict=True))
    if columns["origin_key"] is None:
        columns["origin_key"] = columns["key"]
    return Edge(**columns)


def loose(row: tuple[Any, ...]) -> Loose:
    """Make a loose part of its columns."""
    columns = dict(zip(LOOSE_COLUMNS, row, strict=True))
    return Loose(**columns | {"members": tuple(columns["members"] or ())})


def names(row: tuple[Any, ...]) -> Names:
    """Make the entry of a name of its columns."""
    norm, ids, labels, files = row
    return Names(norm=norm, ids=tuple(ids), labels=tuple(labels), files=tuple(files))


def alias(row: tuple[Any, ...]) -> Alias:
    """Make the entry of a former name of its columns."""
    norm, ids = row
    return Alias(norm=norm, ids=tuple(ids))


def state(row: tuple[Any, ...]) -> StoreState:
    """Make the state of a store of its columns."""
    return StoreState(**dict(zip(STATE_COLUMNS, row, strict=True)))
