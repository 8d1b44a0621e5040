"""What the contract suite needs of an engine: a place for one store, and small graphs to put there."""

from __future__ import annotations

import json
import os
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal

from deeprefine_graphdb import stores
from deeprefine_graphdb.model.graph import Alias, Edge, Entity, Row
from deeprefine_graphdb.model.write import NewRecord, Record, Statement, StoreState, WritePlan
from deeprefine_graphdb.stores.journal import Journal
from deeprefine_graphdb.stores.protocol import Generation, GraphStore, Touched
from deeprefine_loaders.graphfile import parse_graph

ENGINE = os.environ.get("DEEPREFINE_TEST_ENGINE", "kuzu")
STORE_ID = "contract"
A_B_C = {
    "nodes": [
        {
            "id": "a",
            "label": "Ada",
            "norm_label": "ada",
            "file_type": "code",
            "source_file": "a.py",
            "_origin": "ast",
        },
        {"id": "b", "label": "Bob", "source_location": "L1", "community": 3},
        {"id": "c", "label": "ADA"},
        {"id": "d"},
        {"id": 1, "label": "One"},
    ],
    "links": [
        {"source": "a", "target": "b", "relation": "calls", "confidence": "EXTRACTED"},
        {"source": "a", "target": "b", "relation": "calls", "weight": 2},
        {"source": "b", "target": "a", "relation": "uses"},
        {"source": "a", "target": "a", "relation": "self"},
        {"source": "c", "target": "a", "relation": "owns"},
        {"source": "a", "target": "gone", "relation": "calls"},
    ],
    "hyperedges": [{"id": "h", "label": "H", "nodes": ["a", "gone"]}],
}


@dataclass(frozen=True)
class Harness:
    """A store to be, and its journals."""

    url: str
    log_dir: Path

    def load(
        self,
        data: dict[str, Any] | bytes = A_B_C,
        touched: Touched | None = None,
        aliases: Sequence[Alias] = (),
        state: StoreState | None = None,
    ) -> StoreState:
        """Make a graph the content of the store, with one record of it in the log."""
        content = data if isinstance(data, bytes) else json.dumps(data).encode()
        return stores.load_generation(
            self.url,
            Generation(
                parse_graph(content),
                state or StoreState(store_id=STORE_ID),
                touched or Touched(),
                aliases=aliases,
            ),
            [record("sync")],
            log_dir=self.log_dir,
        )

    @contextmanager
    def open(self, mode: Literal["read", "write"] = "write", wait: float = 5.0) -> Iterator[GraphStore]:
        with stores.open_store(self.url, log_dir=self.log_dir, mode=mode, wait=wait) as store:
            yield store

    @property
    def journal(self) -> Journal:
        return Journal.of(self.log_dir, STORE_ID)

    def records(self) -> list[Record]:
        return self.journal.read()


def harness_at(directory: Path) -> Harness:
    return Harness(f"{ENGINE}:{directory / 'store'}", directory / "log")


def record(kind: str, **body: Any) -> NewRecord:
    return NewRecord(kind=kind, ts="2026-01-02T03:04:05Z", body=body)


def put(name: str, row: Row) -> Statement:
    """Give the statement that writes a row."""
    params = {
        key: list(value) if isinstance(value, tuple) else value for key, value in row.model_dump().items()
    }
    return Statement(name=f"graph/{name}", params=params)


def added_entity(entity_id: str, label: str | None = None) -> Entity:
    return Entity(id=entity_id, label=label or entity_id.upper(), raw="{}", added_by="r.1", seq=1)


def added_edge(key: str, src: str, tgt: str, relation: str = "new") -> Edge:
    return Edge(key=key, origin_key=key, src=src, tgt=tgt, relation=relation, raw="{}", added_by="r.1", seq=1)


def plan(*statements: Statement, revision: int | None = 0, **body: Any) -> WritePlan:
    return WritePlan(statements=statements, records=(record("refinement", **body),), revision=revision)


def everything(store: GraphStore) -> dict[str, Any]:
    """Give all that a store holds of the graph and its log, to compare two moments."""
    return {
        name: sorted(store.read(f"graph/{name}"), key=repr)
        for name in ("touched_entities", "touched_edges", "touched_loose", "edge_texts", "aliases", "store")
    }
