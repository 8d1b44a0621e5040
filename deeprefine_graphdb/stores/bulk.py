"""Filling the empty database of a new generation: one COPY a table, from pyarrow columns, never into one in use."""

from __future__ import annotations

import importlib.util  # noqa: F401 - an engine that is handed pyarrow needs it imported, and does not do so itself
from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from itertools import accumulate, chain, compress
from typing import Any

import pyarrow as pa

from deeprefine_graphdb.model.errors import StatementError
from deeprefine_graphdb.model.graph import Alias, Edge, Entity, Loose, Row
from deeprefine_graphdb.model.write import NodeRow, RelRow, StoreState
from deeprefine_graphdb.stores import schema
from deeprefine_graphdb.stores.beside import beside
from deeprefine_graphdb.stores.engine import Engine
from deeprefine_graphdb.stores.memory import give_back
from deeprefine_graphdb.stores.protocol import Generation
from deeprefine_loaders.graphfile import GraphFile
from deeprefine_loaders.identity import norm_label

SMALL_POOL_BYTES = 512 << 20
POOL_BYTES_PER_LINK = 800
_TYPES: Mapping[str, Any] = {
    "STRING": pa.string(),
    "INT64": pa.int64(),
    "DOUBLE": pa.float64(),
    "BOOL": pa.bool_(),
    "STRING[]": pa.list_(pa.string()),
}
_REPETITIVE = frozenset({
    "file_type",
    "source_file",
    "community",
    "origin",
    "relation",
    "confidence",
})
_LARGE = frozenset({"Entity", "RELATES"})
"""Tables that are filled before the others are declared, since every table costs megabytes while it is open."""
Columns = dict[str, Any]


def pool_bytes(links: int) -> int:
    """Give the buffer pool that loading a graph with so many links needs."""
    return max(SMALL_POOL_BYTES, POOL_BYTES_PER_LINK * links)


def create_tables(engine: Engine, wanted: Callable[[str], bool] = lambda _: True) -> None:
    """Declare the tables whose names are wanted in a fresh database."""
    tables: list[schema.NodeTable | schema.RelTable] = [
        *schema.node_tables().values(),
        *schema.rel_tables().values(),
    ]
    for name in dict.fromkeys(table.create for table in tables if wanted(table.name)):
        engine.run(name, {})


def fill(engine: Engine, generation: Generation, state: StoreState) -> None:
    """Declare the tables in a fresh database and load everything of a generation into them.

    The engine refuses, with a ``RuntimeError``, an edge whose end is no entity and a key that is there twice.
    """
    nodes = schema.node_tables()
    create_tables(engine, _LARGE.__contains__)
    with beside(lambda: _edges(generation)) as edges:
        _copy_node(engine, nodes["Entity"], _entities(generation))
        _settle(engine)
    with beside(lambda: _labels(generation)) as labels:
        _copy_rel(engine, schema.rel_tables()["RELATES", "Entity", "Entity"], edges())
        del edges
        _settle(engine)
    create_tables(engine, _is_small)
    _copy_node(engine, nodes["Label"], labels())
    _copy_node(engine, nodes["Alias"], _of_rows(generation.aliases, nodes["Alias"].columns))
    _copy_node(engine, nodes["Loose"], _loose(generation))
    _copy_node(
        engine,
        nodes["Store"],
        {"key": ["store"], **{name: [value] for name, value in state.model_dump().items()}},
    )
    _provenance(engine, generation.nodes, generation.relations)


def copy_all(source: Engine, target: Engine) -> None:
    """Declare the tables in a fresh database and carry every row of a store over into them.

    While the largest table is copied the source is closed, so that only one database takes memory.
    """
    create_tables(target, _LARGE.__contains__)
    nodes = {table.name: (table.read, table.copy) for table in schema.node_tables().values()}
    rels = [(table.read, table.copy) for table in schema.rel_tables().values() if table.name != "RELATES"]
    edges = schema.rel_tables()["RELATES", "Entity", "Entity"]
    read, copy = nodes.pop("Entity")
    _run_copy(target, copy, _distinct(source.arrow(read)))
    _settle(target)
    rows = _distinct(source.arrow(edges.read))
    source.close()
    give_back()
    _run_copy(target, edges.copy, rows)
    del rows
    _settle(target)
    source.reopen()
    create_tables(target, _is_small)
    for read, copy in (*nodes.values(), *rels):
        _run_copy(target, copy, source.arrow(read))


def _is_small(table: str) -> bool:
    return table not in _LARGE


def _settle(engine: Engine) -> None:
    """Move what was copied into the file, and let go of the memory that it took."""
    engine.run("schema/checkpoint", {})
    engine.reopen()
    give_back()


def _distinct(rows: Any) -> Any:
    """Give a table whose repetitive columns hold each distinct text once."""
    for at, name in enumerate(rows.column_names):
        if name in _REPETITIVE:
            rows = rows.set_column(at, name, rows.column(at).dictionary_encode())
    return rows


def _entities(generation: Generation) -> Columns:
    base, table = generation.base.nodes, schema.node_tables()["Entity"]
    own = {row.id: row for row in generation.touched.entities}
    keep = _keep(base.id, own)
    names = (
        "id",
        "label",
        "norm_label",
        "file_type",
        "source_file",
        "source_location",
        "community",
        "origin",
    )
    columns = {name: _part(getattr(base, name), keep) for name in names}
    return _joined(columns, list(own.values()), table.columns)


def _edges(generation: Generation) -> Columns:
    base, table = generation.base.links, schema.rel_tables()["RELATES", "Entity", "Entity"]
    own = {row.key: row for row in generation.touched.edges}
    keep = _keep(base.key, own)
    if any(base.dangling):
        bound = [not dangling for dangling in base.dangling]
        keep = bound if keep is None else [one and other for one, other in zip(keep, bound, strict=True)]
    columns: Columns = {
        "key": _part(base.key, keep),
        "src": _part(base.source, keep),
        "tgt": _part(base.target, keep),
        "relation": _part(base.relation, keep),
        "confidence": _part(base.confidence, keep),
    }
    joined = _joined(columns, list(own.values()), table.columns)
    return {"from_key": joined["src"], "to_key": joined["tgt"], **joined}


def _loose(generation: Generation) -> Columns:
    base, table = generation.base, schema.node_tables()["Loose"]
    own = {row.key: row for row in generation.touched.loose}
    found: list[tuple[str, str, tuple[str, ...]]] = []
    links, hyperedges = base.links, base.hyperedges
    if any(links.dangling):
        ends = zip(links.key, links.source, links.target, strict=True)
        found.extend(
            (key, "link", (source, target)) for key, source, target in compress(ends, links.dangling)
        )
    found.extend(
        (key, "hyperedge", members) for key, members in zip(hyperedges.key, hyperedges.members, strict=True)
    )
    found = [one for one in found if one[0] not in own]
    columns: Columns = {
        "key": [key for key, _, _ in found],
        "kind": [kind for _, kind, _ in found],
        "members": [list(members) for _, _, members in found],
    }
    return _joined(columns, list(own.values()), table.columns)


def _labels(generation: Generation) -> Columns:
    """Group all live entities by the normal form of their label; within a form they are ordered by id."""
    live = list(_live_labels(generation.base, generation.touched.entities))
    ids, labels, files = ([entry[n] for entry in live] for n in range(3))
    groups: defaultdict[str, list[int]] = defaultdict(list)
    for at, norm in enumerate(map(norm_label, labels)):
        groups[norm].append(at)
    for group in groups.values():
        if len(group) > 1:
            group.sort(key=ids.__getitem__)
    offsets = pa.array([0, *accumulate(map(len, groups.values()))], pa.int32())
    order = pa.array(list(chain.from_iterable(groups.values())), pa.int32())
    lists = {
        name: pa.ListArray.from_arrays(offsets, pa.array(values, pa.string()).take(order))
        for name, values in (("ids", ids), ("labels", labels), ("files", files))
    }
    return {"norm": list(groups), **lists}


def _live_labels(base: GraphFile, touched: Sequence[Entity]) -> Iterator[tuple[str, str, str]]:
    own = {row.id for row in touched}
    for entity_id, label, file in zip(base.nodes.id, base.nodes.label, base.nodes.source_file, strict=True):
        if entity_id not in own:
            yield entity_id, label, file or ""
    for row in touched:
        if row.live:
            yield row.id, row.label, row.source_file or ""


def _provenance(engine: Engine, nodes: Iterable[NodeRow], relations: Iterable[RelRow]) -> None:
    tables, pairs = schema.node_tables(), schema.rel_tables()
    by_table: defaultdict[str, list[Mapping[str, Any]]] = defaultdict(list)
    by_pair: defaultdict[tuple[str, str, str], list[Mapping[str, Any]]] = defaultdict(list)
    for node in nodes:
        by_table[node.table].append({tables[node.table].key: node.key} | node.columns)
        if node.owner is not None:
            name, owner, key, outgoing = node.owner
            pair = (name, node.table, owner) if outgoing else (name, owner, node.table)
            ends = (node.key, key) if outgoing else (key, node.key)
            by_pair[pair].append({"from_key": ends[0], "to_key": ends[1]})
    for rel in relations:
        by_pair[rel.type, rel.from_table, rel.to_table].append(
            {"from_key": rel.from_key, "to_key": rel.to_key} | rel.columns
        )
    for table, rows in by_table.items():
        _copy_node(engine, tables[table], _of_mappings(rows, tables[table].columns, table))
    for pair, rows in by_pair.items():
        joined = pairs[pair]
        ends_too = {"from_key": "STRING", "to_key": "STRING", **joined.columns}
        _copy_rel(engine, joined, _of_mappings(rows, ends_too, joined.name))


def _of_mappings(rows: Sequence[Mapping[str, Any]], columns: Mapping[str, str], table: str) -> Columns:
    if unknown := {name for row in rows for name in row} - columns.keys():
        raise StatementError(f"The table {table} has no column {', '.join(sorted(unknown))}.")
    return {name: [row.get(name) for row in rows] for name in columns}


def _of_rows(rows: Sequence[Alias | Edge | Entity | Loose], columns: Mapping[str, str]) -> Columns:
    return {name: [_value(row, name) for row in rows] for name in columns}


def _value(row: Row, name: str) -> Any:
    value = getattr(row, name)
    return list(value) if isinstance(value, tuple) else value


def _keep(keys: Sequence[str], own: Mapping[str, object]) -> list[bool] | None:
    """Say which base rows stay: all (``None``) unless some are replaced."""
    return [key not in own for key in keys] if own else None


def _part(values: list[Any], keep: list[bool] | None) -> list[Any]:
    return values if keep is None else list(compress(values, keep))


def _joined(columns: Columns, own: Sequence[Any], types: Mapping[str, str]) -> Columns:
    """Put rows of our own behind base columns, one pyarrow column each; what the base lacks is NULL there."""
    count = len(next(iter(columns.values())))
    joined: Columns = {}
    for name, kind in types.items():
        rest = [_value(row, name) for row in own]
        if name in _REPETITIVE:
            joined[name] = pa.array([*columns[name], *rest], pa.string()).dictionary_encode()
            continue
        first = pa.array(columns[name], _TYPES[kind]) if name in columns else pa.nulls(count, _TYPES[kind])
        joined[name] = pa.concat_arrays([first, pa.array(rest, _TYPES[kind])]) if own else first
    return joined


def _copy_node(engine: Engine, table: schema.NodeTable, columns: Columns) -> None:
    _copy(engine, table.copy, columns, table.columns)


def _copy_rel(engine: Engine, table: schema.RelTable, columns: Columns) -> None:
    _copy(engine, table.copy, columns, {"from_key": "STRING", "to_key": "STRING", **table.columns})


def _copy(engine: Engine, name: str, columns: Columns, types: Mapping[str, str]) -> None:
    """Copy columns in the schema's order, since an engine maps them by position."""
    if columns.keys() != types.keys():
        raise StatementError(f"The columns for {name} are not those of the schema.")
    arrays = {column: _array(columns[column], _TYPES[kind]) for column, kind in types.items()}
    _run_copy(engine, name, pa.table(arrays))


def _run_copy(engine: Engine, name: str, rows: Any) -> None:
    """Copy a table of pyarrow and count what arrived: an empty chunk ends a COPY without an error."""
    full = [batch for batch in rows.to_batches() if batch.num_rows]
    if not full:
        return
    said = engine.run(name, {"rows": pa.Table.from_batches(full)})
    copied = int(str(said[0][0]).split()[0])
    if copied != rows.num_rows:
        raise RuntimeError(f"{name} copied {copied} of {rows.num_rows} rows")


def _array(values: Any, kind: Any) -> Any:
    return pa.array(values, kind) if isinstance(values, list) else values
