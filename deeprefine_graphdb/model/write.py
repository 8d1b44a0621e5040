"""Writes as data: what a store is asked to do in one transaction, and what it keeps about it."""

from __future__ import annotations

from typing import Any, Literal

from pydantic import Field

from deeprefine_graphdb.model.actions import Frozen

FORMAT_VERSION = 1


class Statement(Frozen):
    """One Cypher statement of ``cypher/`` by name (``graph/edge_insert``) and its parameters."""

    name: str
    params: dict[str, Any] = Field(default_factory=dict)


class NewRecord(Frozen):
    """A record for the log before the store has given it its place in the chain.

    ``effects`` stand beside the record, outside the hash, because each derive rewrites them.
    """

    kind: str
    ts: str
    body: dict[str, Any]
    effects: list[dict[str, Any]] = Field(default_factory=list)


class Record(NewRecord):
    """A line of the journal. ``hash`` is the SHA-256 of the canonical JSON of seq, prev, kind, ts and body."""

    seq: int
    prev: str
    hash: str


class WritePlan(Frozen):
    """One transaction: statements in order, the records that it adds to the log, and whether the graph changes.

    ``revision`` is the graph revision that the plan was made on, or ``None`` when it only adds to the log.
    """

    statements: tuple[Statement, ...] = ()
    records: tuple[NewRecord, ...] = ()
    revision: int | None = None
    store: dict[str, Any] = Field(default_factory=dict)


class StoreState(Frozen):
    """The one Store row: the same on every engine.

    ``revision`` counts changes of the graph; ``seq`` and ``head`` are the last record's number and hash;
    ``base_digest`` is the SHA-256 of base.json and ``file_digest`` that of graph.json as last synced or exported;
    ``tail`` holds the records of the last write, packed, so that a journal that missed them can be healed.
    """

    store_id: str
    format: int = FORMAT_VERSION
    knowledge_base: str = ""
    base_digest: str = ""
    file_digest: str = ""
    revision: int = 0
    seq: int = 0
    head: str = ""
    state: Literal["ready", "syncing"] = "ready"
    tail: str = ""


class NodeRow(Frozen):
    """A provenance node: table, primary key, columns, and the relationship that hangs it below its owner.

    ``owner`` is (relationship, owner's table, owner's key, outgoing): outgoing means node→owner.
    """

    table: str
    key: str
    columns: dict[str, Any]
    owner: tuple[str, str, str, bool] | None = None


class RelRow(Frozen):
    """A provenance relationship between two nodes that are already there."""

    type: str
    from_table: str
    from_key: str
    to_table: str
    to_key: str
    columns: dict[str, Any] = Field(default_factory=dict)
