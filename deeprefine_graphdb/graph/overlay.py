"""Planned row states over a committed graph; the last state of each row is what is written."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any, Literal

from deeprefine_graphdb.model.graph import Alias, Edge, Entity, Loose, Names, Row

AnyRow = Entity | Edge | Alias | Loose
TableName = Literal["Entity", "RELATES", "Alias", "Loose"]


@dataclass
class Overlay:
    """Row states by key. An edge is found by either of its ends, which never change for one key.

    ``stored`` has the committed state of every laid-over row that was there before. What is laid over since
    :meth:`begin` can be taken back until it is kept.
    """

    entities: dict[str, Entity] = field(default_factory=dict)
    edges: dict[str, Edge] = field(default_factory=dict)
    names: dict[str, Names] = field(default_factory=dict)
    aliases: dict[str, Alias] = field(default_factory=dict)
    loose: dict[str, Loose] = field(default_factory=dict)
    stored: dict[tuple[str, str], AnyRow] = field(default_factory=dict)
    _at: defaultdict[str, dict[str, None]] = field(default_factory=lambda: defaultdict(dict))
    _past: list[tuple[dict[Any, Any], Any, Any]] | None = field(default=None, compare=False, repr=False)

    def put(self, row: AnyRow, committed: AnyRow | None) -> None:
        """Lay a row's state over the graph; ``committed`` is what stood beneath it before, if anything did."""
        table, key = table_of(row)
        if committed is not None and not self.holds(table, key):
            self._set(self.stored, (table, key), committed)
        if isinstance(row, Entity):
            self._set(self.entities, key, row)
        elif isinstance(row, Edge):
            self._set(self.edges, key, row)
            self._at[row.src][key] = None
            self._at[row.tgt][key] = None
        elif isinstance(row, Alias):
            self._set(self.aliases, key, row)
        else:
            self._set(self.loose, key, row)

    def put_names(self, names: Names) -> None:
        """Lay over who has a label."""
        self._set(self.names, names.norm, names)

    def begin(self) -> None:
        """Remember changes from here on."""
        self._past = []

    def keep(self) -> None:
        """Keep every change since :meth:`begin`."""
        self._past = None

    def take_back(self) -> None:
        """Take back every change since :meth:`begin`."""
        for rows, key, before in reversed(self._past or ()):
            if before is not None:
                rows[key] = before
                continue
            gone = rows.pop(key)
            if rows is self.edges:
                self._at[gone.src].pop(key, None)
                self._at[gone.tgt].pop(key, None)
        self._past = None

    def _set(self, rows: dict[Any, Any], key: Any, row: Row) -> None:
        if self._past is not None:
            self._past.append((rows, key, rows.get(key)))
        rows[key] = row

    def holds(self, table: TableName, key: str) -> bool:
        """Tell whether a row has been laid over the graph."""
        return self.row(table, key) is not None

    def row(self, table: TableName, key: str) -> AnyRow | None:
        """Give a row as it has been laid over the graph."""
        if table == "Entity":
            return self.entities.get(key)
        if table == "RELATES":
            return self.edges.get(key)
        return self.aliases.get(key) if table == "Alias" else self.loose.get(key)

    def rows(self) -> Iterator[AnyRow]:
        """Give every row that has been laid over the graph, but for the names, which follow from the entities."""
        yield from self.entities.values()
        yield from self.edges.values()
        yield from self.aliases.values()
        yield from self.loose.values()

    def edges_at(self, entity_id: str) -> Iterator[Edge]:
        """Give the laid-over edges of an entity, live and retired."""
        return (self.edges[key] for key in self._at.get(entity_id, ()))


def table_of(row: AnyRow) -> tuple[TableName, str]:
    """Give the table and the key of a row."""
    if isinstance(row, Entity):
        return "Entity", row.id
    if isinstance(row, Edge):
        return "RELATES", row.key
    if isinstance(row, Alias):
        return "Alias", row.norm
    return "Loose", row.key
