"""A graph in memory that answers what retrieval asks of a store, and tells whether it is open."""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import TypeVar, cast

from deeprefine_graphdb.model.graph import Alias, Edge, Entity, Names
from deeprefine_graphdb.model.write import StoreState
from deeprefine_graphdb.stores.protocol import GraphStore, Touched
from deeprefine_loaders.identity import edge_key, norm_label

Triple = tuple[str, str, str]
Answer = TypeVar("Answer")


def entity(entity_id: str, label: str = "", source_file: str | None = None) -> Entity:
    return Entity(id=entity_id, label=label or entity_id, source_file=source_file)


def edge(source: str, relation: str, target: str, occurrence: int = 0) -> Edge:
    key = edge_key(source, relation, target, occurrence)
    return Edge(key=key, origin_key=key, src=source, tgt=target, relation=relation)


class MemoryStore:
    """Rows by id and key. Changing one and raising ``revision`` is what a refinement does."""

    def __init__(self, triples: Iterable[Triple] = (), entities: Iterable[Entity] = ()) -> None:
        self.entities = {row.id: row for row in entities}
        self.edges: dict[str, Edge] = {}
        for triple in triples:
            self.add(*triple)
        self.revision = 0
        self.base_digest = "base"
        self.is_open = False
        self.opened = 0
        self.streamed = 0

    def add(self, source: str, relation: str, target: str, added_by: str | None = None) -> str:
        for end in (source, target):
            self.entities.setdefault(end, entity(end))
        occurrence = 0
        while (row := edge(source, relation, target, occurrence)).key in self.edges:
            occurrence += 1
        self.edges[row.key] = row.model_copy(update={"added_by": added_by})
        return row.key

    def retire(self, key: str, by: str | None = "r.1") -> None:
        self.edges[key] = self.edges[key].model_copy(update={"retired_by": by})

    def relabel(self, entity_id: str, label: str, raw: str | None = "{}") -> None:
        self.entities[entity_id] = self.entities[entity_id].model_copy(update={"label": label, "raw": raw})

    @contextlib.contextmanager
    def open(self) -> Iterator[GraphStore]:
        assert not self.is_open
        self.is_open = True
        self.opened += 1
        try:
            yield cast("GraphStore", self)
        finally:
            self.is_open = False

    def state(self) -> StoreState:
        return StoreState(store_id="memory", base_digest=self.base_digest, revision=self.revision)

    def entity(self, entity_id: str) -> Entity | None:
        assert self.is_open
        return self.entities.get(entity_id)

    def names(self, norm: str) -> Names:
        rows = sorted(
            (e for e in self.entities.values() if e.live and norm_label(e.label) == norm), key=lambda e: e.id
        )
        return Names(
            norm=norm,
            ids=tuple(e.id for e in rows),
            labels=tuple(e.label for e in rows),
            files=tuple(e.source_file or "" for e in rows),
        )

    def alias(self, norm: str) -> Alias:
        return Alias(norm=norm)

    def live(self) -> list[Edge]:
        return [row for _, row in sorted(self.edges.items()) if row.live]

    def edges_between(self, source: str, target: str) -> Sequence[Edge]:
        return [row for _, row in sorted(self.edges.items()) if (row.src, row.tgt) == (source, target)]

    def edges_of(self, entity_id: str) -> Sequence[Edge]:
        return [row for row in self.live() if entity_id in {row.src, row.tgt}]

    def neighbours(self, entity_id: str, limit: int) -> Sequence[Edge]:
        assert self.is_open
        rows = self.edges_of(entity_id)
        out = [row for row in rows if row.src == entity_id][:limit]
        into = [row for row in rows if row.src != entity_id][:limit]
        return sorted(out + into, key=lambda row: row.key)

    def several(self, reads: Sequence[Callable[[], Answer]]) -> list[Answer]:
        return [read() for read in reads]

    def touched(self) -> Touched:
        return Touched(
            entities=[row for row in self.entities.values() if row.touched],
            edges=[row for row in self.edges.values() if row.touched],
        )

    def edge_texts(self) -> Iterator[Sequence[tuple[str, str, str, str, str, str]]]:
        self.streamed += 1
        labels = {row.id: row.label for row in self.entities.values()}
        rows = [(e.key, e.src, labels[e.src], e.relation, labels[e.tgt], e.tgt) for e in self.live()]
        rows.reverse()
        for at in range(0, len(rows), 3):
            assert self.is_open
            yield rows[at : at + 3]
