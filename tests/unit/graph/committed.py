"""A graph in memory on which effects are applied, held to what a store demands of a write."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TypeVar

from deeprefine_graphdb.graph.base_view import ParsedBase
from deeprefine_graphdb.graph.overlay import AnyRow, Overlay, table_of
from deeprefine_graphdb.graph.render import graph_bytes
from deeprefine_graphdb.graph.view import GraphView
from deeprefine_graphdb.model.graph import Alias, Edge, Entity, Loose, Names
from deeprefine_graphdb.stores.protocol import Touched
from deeprefine_loaders.basefile import BaseFile

Answer = TypeVar("Answer")


class Committed:
    """A base and the rows that were written over it."""

    def __init__(self, base: ParsedBase) -> None:
        self.view = GraphView(base)

    @property
    def base(self) -> BaseFile:
        return self.view.base

    def write(self, overlay: Overlay) -> None:
        """Write rows: a row is set if it is there and added if not, and an edge never changes its ends."""
        for row in overlay.rows():
            table, key = table_of(row)
            held = self._held(row)
            if not isinstance(row, Alias):
                assert (held is not None) == ((table, key) in overlay.stored), row
            if isinstance(row, Edge):
                laid = self.view.overlay.edges.get(key)
                assert laid is None or (laid.src, laid.tgt) == (row.src, row.tgt), row
            self.view.overlay.put(row, held)
        for names in overlay.names.values():
            self.view.overlay.put_names(names)

    def _held(self, row: AnyRow) -> AnyRow | None:
        if isinstance(row, Entity):
            return self.entity(row.id)
        if isinstance(row, Edge):
            return next((edge for edge in self.edges_between(row.src, row.tgt) if edge.key == row.key), None)
        return self.alias(row.norm) if isinstance(row, Alias) else self.loose(row.key)

    def bytes(self) -> bytes:
        """Give the file that an export would write."""
        return b"".join(graph_bytes(self.base, self.touched()))

    def entity(self, entity_id: str) -> Entity | None:
        return self.view.entity_row(entity_id)

    def names(self, norm: str) -> Names:
        return self.view.names(norm)

    def alias(self, norm: str) -> Alias:
        return self.view.alias(norm)

    def edges_between(self, source: str, target: str) -> Sequence[Edge]:
        return self.view.edge_rows(source, target)

    def edges_of(self, entity_id: str) -> Sequence[Edge]:
        return self.view.edges_of(entity_id)

    def neighbours(self, entity_id: str, limit: int) -> Sequence[Edge]:
        return self.view.neighbours(entity_id, limit)

    def loose(self, key: str) -> Loose | None:
        return self.view.loose(key)

    def loose_with(self, member: str) -> Sequence[Loose]:
        return self.view.loose_with(member)

    def touched(self) -> Touched:
        laid = self.view.overlay
        return Touched(
            tuple(row for row in laid.entities.values() if row.touched),
            tuple(row for row in laid.edges.values() if row.touched),
            tuple(row for row in laid.loose.values() if row.touched),
        )

    def several(self, reads: Sequence[Callable[[], Answer]]) -> list[Answer]:
        return [read() for read in reads]
