"""The tables of an embedded store, as the statements of ``cypher/schema`` declare them."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache

from deeprefine_graphdb.model.errors import StatementError
from deeprefine_graphdb.stores import statements

_NODE = re.compile(r"CREATE NODE TABLE (\w+) \((.*)\)", re.DOTALL)
_REL = re.compile(r"CREATE REL TABLE (\w+) \((.*)\)", re.DOTALL)
_ENDS = re.compile(r"FROM (\w+) TO (\w+)")
_KEY = re.compile(r"PRIMARY KEY \((\w+)\)")


@dataclass(frozen=True)
class NodeTable:
    """A node table: its columns with their types, in order; ``key`` is the primary key."""

    name: str
    columns: Mapping[str, str]
    key: str
    create: str
    copy: str
    read: str


@dataclass(frozen=True)
class RelTable:
    """One pair of a relationship table: the tables of its two ends and its columns with their types, in order."""

    name: str
    source: str
    target: str
    columns: Mapping[str, str]
    create: str
    copy: str
    read: str


@cache
def node_tables() -> Mapping[str, NodeTable]:
    """Give every node table by name."""
    tables = {}
    for name in statements.names("schema", "kuzu"):
        if not name.startswith("schema/node_"):
            continue
        table, parts = _split(_NODE, name)
        key = next(found[1] for part in parts if (found := _KEY.fullmatch(part)))
        stem = name.removeprefix("schema/node_")
        tables[table] = NodeTable(table, _columns(parts), key, name, f"schema/copy_{stem}", _reader(stem))
    return tables


@cache
def rel_tables() -> Mapping[tuple[str, str, str], RelTable]:
    """Give every pair of every relationship table by (name, table it leaves, table it reaches)."""
    stems = {table.name: table.create.removeprefix("schema/node_") for table in node_tables().values()}
    tables = {}
    for name in statements.names("schema", "kuzu"):
        if not name.startswith("schema/rel_"):
            continue
        table, parts = _split(_REL, name)
        pairs = [(found[1], found[2]) for part in parts if (found := _ENDS.fullmatch(part))]
        for source, target in pairs:
            stem = name.removeprefix("schema/rel_")
            if len(pairs) > 1:
                stem += f"_{stems[source]}_{stems[target]}"
            tables[table, source, target] = RelTable(
                table, source, target, _columns(parts), name, f"schema/copy_{stem}", _reader(stem)
            )
    return tables


def _split(pattern: re.Pattern[str], name: str) -> tuple[str, list[str]]:
    found = pattern.fullmatch(statements.load(name, "kuzu").text)
    if found is None:
        raise StatementError(f"The statement {name} does not declare a table in the way that is read here.")
    return found[1], [" ".join(part.split()) for part in found[2].split(",")]


def _columns(parts: list[str]) -> dict[str, str]:
    columns = {}
    for part in parts:
        if not _ENDS.fullmatch(part) and not _KEY.fullmatch(part):
            name, kind = part.split(" ")
            columns[name] = kind
    return columns


def _reader(stem: str) -> str:
    """Give the statement that reads a whole table: the graph's own ones are read for a fold only."""
    graph = {"entity", "label", "alias", "loose", "store", "relates"}
    return f"schema/all_{stem}" if stem in graph else f"provenance/read_{stem}"
