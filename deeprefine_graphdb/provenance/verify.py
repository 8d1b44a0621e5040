"""Is the history as it was written? The journal against its own hashes, and the store against the journal."""

from __future__ import annotations

import hashlib
import json
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any, Literal

from deeprefine_graphdb.model.actions import Frozen
from deeprefine_graphdb.model.errors import StoreDamaged
from deeprefine_graphdb.model.write import NodeRow, Record
from deeprefine_graphdb.provenance.columns import NODE_COLUMNS, RELATIONS
from deeprefine_graphdb.provenance.log import Log
from deeprefine_graphdb.provenance.project import Projection, project_all, relation_key
from deeprefine_graphdb.provenance.remains import LEFT_BEHIND
from deeprefine_graphdb.stores.journal import record_hash
from deeprefine_graphdb.stores.protocol import GraphStore

_SHOWN = 60

BASE = "base.json"

Pair = tuple[str, str, str]
RelationKey = tuple[str, ...]


class Fault(Frozen):
    """One thing that is not as it was written.

    ``where`` is ``journal`` or ``store``, ``what`` names the record or row, ``says`` tells the difference in words.
    """

    where: Literal["journal", "store"]
    what: str
    says: str

    def line(self) -> str:
        """Give the fault as one line."""
        return f"{self.where}: {self.what} {self.says}"


def verify(records: Sequence[Record], store: GraphStore) -> list[Fault]:
    """Give every fault of a journal and of its store; none means that both are as written.

    The store's provenance rows are compared with the journal, and the graph's rows that differ from the base with
    what the active refinements made of them; the base is compared with its digest. Base rows are not read.
    """
    faults = verify_chain(records)
    faults.extend(verify_base(store))
    faults.extend(_verify_head(records, store))
    try:
        wanted = project_all(records)
    except StoreDamaged as error:
        return [*faults, Fault(where="journal", what="a record", says=f"cannot be read: {error.message}")]
    faults.extend(_verify_nodes(wanted, store))
    faults.extend(_verify_relations(wanted, store))
    faults.extend(_verify_graph(Log(records), store))
    return faults


def verify_chain(records: Iterable[Record]) -> list[Fault]:
    """Check each record's hash, its link to the one before, and that no number is missing."""
    faults: list[Fault] = []
    seq, head = 0, ""
    for record in records:
        if record.seq != seq + 1:
            says = f"follows record {seq}" if seq else "is the first"
            faults.append(_of_record(record, f"{says}: there is a gap or a disorder"))
        if record.prev != head:
            faults.append(_of_record(record, "does not continue the record before it"))
        if record_hash(record.seq, record.prev, record) != record.hash:
            faults.append(_of_record(record, "was edited: its hash is not that of its content"))
        seq, head = record.seq, record.hash
    return faults


def verify_base(store: GraphStore) -> list[Fault]:
    """Check that the base file is still, byte for byte, the one that the store was made of."""
    digest = hashlib.sha256()
    for chunk in store.base.chunks():
        digest.update(chunk)
    found, wanted = digest.hexdigest(), store.state().base_digest
    if found == wanted:
        return []
    says = f"was altered: it has the digest {found[:12]}, and the store was made of {wanted[:12]}"
    return [Fault(where="store", what=BASE, says=says)]


def _of_record(record: Record, says: str) -> Fault:
    name = record.body.get("id", "")
    return Fault(where="journal", what=f"record {record.seq} ({record.kind} {name})", says=says)


def _verify_head(records: Sequence[Record], store: GraphStore) -> Iterator[Fault]:
    state = store.state()
    seq, head = (records[-1].seq, records[-1].hash) if records else (0, "")
    if (seq, head) != (state.seq, state.head):
        says = f"ends at record {seq} ({head[:12]}), but the store at record {state.seq} ({state.head[:12]})"
        yield Fault(where="journal", what="the log", says=says)


def _verify_nodes(wanted: Projection, store: GraphStore) -> Iterator[Fault]:
    by_table: dict[str, dict[str, NodeRow]] = {table: {} for table in NODE_COLUMNS}
    for node in wanted.nodes:
        by_table[node.table][node.key] = node
    for table, columns in NODE_COLUMNS.items():
        rows = store.read(f"provenance/read_{_stem(table)}")
        found = {str(row[0]): dict(zip(columns, row, strict=True)) for row in rows}
        for key, node in by_table[table].items():
            if key not in found:
                yield Fault(where="store", what=f"{table} {key}", says="is missing")
            else:
                yield from _compare(table, key, node.columns, found[key])
        for key in found.keys() - by_table[table].keys():
            yield Fault(where="store", what=f"{table} {key}", says="is in no record of the log")


def _compare(table: str, key: str, wanted: Mapping[str, Any], found: Mapping[str, Any]) -> Iterator[Fault]:
    for name, value in wanted.items():
        if found[name] != value:
            says = f"was edited: {name} is {_shown(found[name])} instead of {_shown(value)}"
            yield Fault(where="store", what=f"{table} {key}", says=says)


def _verify_relations(wanted: Projection, store: GraphStore) -> Iterator[Fault]:
    """Compare relationships as a set: one that was written twice says no more than once.

    A relationship to an entity that the graph never had or has no more cannot be there, and is not missed.
    """
    expected: dict[Pair, set[RelationKey]] = {pair: set() for pair in RELATIONS}
    for pair, key in _expected(wanted):
        expected[pair].add(key)
    for pair, columns in RELATIONS.items():
        kind, start, end = pair
        found = {
            (kind, start, str(row[0]), end, str(row[1]), _columns(dict(zip(columns, row[2:], strict=True))))
            for row in store.read(f"provenance/read_{_relation_stem(pair)}")
        }
        for key in sorted(expected[pair] - found):
            if end != "Entity" or store.entity(key[4]) is not None:
                yield Fault(where="store", what=_named(key), says="is missing")
        for key in sorted(found - expected[pair]):
            yield Fault(where="store", what=_named(key), says="is in no record of the log")


def _expected(wanted: Projection) -> Iterator[tuple[Pair, RelationKey]]:
    for node in wanted.nodes:
        if node.owner is not None:
            kind, table, key, outgoing = node.owner
            start, end = (
                ((node.table, node.key), (table, key)) if outgoing else ((table, key), (node.table, node.key))
            )
            yield (kind, start[0], end[0]), (kind, *start, *end, _columns({}))
    for row in wanted.relations:
        yield (row.type, row.from_table, row.to_table), relation_key(row)


def _verify_graph(log: Log, store: GraphStore) -> Iterator[Fault]:
    """Compare the rows of the graph that differ from the base with what the active refinements left them as."""
    wanted: dict[tuple[str, str], dict[str, object] | None] = {}
    for refinement_id in log.active():
        for effect in log.effects_of(refinement_id):
            wanted.update({(change.table, change.key): change.after for change in effect.changes})
    touched = store.touched()
    found: dict[tuple[str, str], dict[str, object]] = {
        **{("Entity", row.id): row.model_dump(mode="json") for row in touched.entities},
        **{("RELATES", row.key): row.model_dump(mode="json") for row in touched.edges},
        **{("Loose", row.key): row.model_dump(mode="json") for row in touched.loose},
        **{
            (table, key): store.alias(key).model_dump(mode="json")
            for table, key in wanted
            if table == "Alias"
        },
    }
    for (table, key), image in wanted.items():
        if image is not None and (table, key) not in found:
            yield Fault(where="store", what=f"{table} {key}", says="is not as its last action left it")
        elif image is not None:
            yield from _compare(table, key, image, found[table, key])
    for table, key in sorted(found.keys() - wanted.keys()):
        if not str(found[table, key].get("retired_by") or "").startswith(LEFT_BEHIND):
            yield Fault(
                where="store", what=f"{table} {key}", says="differs from the base by no action of the log"
            )


def _named(key: RelationKey) -> str:
    kind, start, start_key, end, end_key, columns = key
    extra = f" {columns}" if columns != "{}" else ""
    return f"{kind} from {start} {start_key} to {end} {end_key}{extra}"


def _columns(values: Mapping[str, Any]) -> str:
    return json.dumps(values, ensure_ascii=False, sort_keys=True, separators=(",", ":"))


def _shown(value: Any) -> str:
    text = repr(value)
    return text if len(text) <= _SHOWN else text[: _SHOWN - 1] + "…"


def _stem(table: str) -> str:
    return "llm_call" if table == "LLMCall" else table.lower()


def _relation_stem(pair: Pair) -> str:
    kind, start, end = pair
    several = Counter(name for name, _, _ in RELATIONS)[kind] > 1
    return f"{kind.lower()}_{_stem(start)}_{_stem(end)}" if several else kind.lower()
