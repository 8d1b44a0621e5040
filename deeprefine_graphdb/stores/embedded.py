"""The graph store on an embedded engine, Kùzu or Ladybug: one adapter for both."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from typing import Any, TypeVar

from deeprefine_graphdb.model.errors import RevisionMoved, StoreDamaged, UsageError, WriteFailed
from deeprefine_graphdb.model.graph import Alias, Edge, Entity, Loose, Names
from deeprefine_graphdb.model.write import Record, Statement, StoreState, WritePlan
from deeprefine_graphdb.stores import rows, statements
from deeprefine_graphdb.stores.engine import Engine
from deeprefine_graphdb.stores.generations import note_journal
from deeprefine_graphdb.stores.journal import Journal, chain, pack
from deeprefine_graphdb.stores.protocol import Capabilities, Table, Touched
from deeprefine_graphdb.stores.several import at_once
from deeprefine_loaders.basefile import BaseFile

Answer = TypeVar("Answer")
_TEXT_BATCH = 20_000
_WAYS = ("out", "in")
_BOUND = 512  # as the statement graph/neighbours has it
_FIRST = 128  # as the statements graph/neighbours_*_first have it
_ADVANCING = ("revision", "seq", "head", "tail")
_AS_IN_BASE = (None, None)


class EmbeddedStore:
    """An open store. Obtained from :func:`deeprefine_graphdb.stores.open_store`, which holds the lock around it."""

    def __init__(self, engine: Engine, base: BaseFile, journal: Journal) -> None:
        self.capabilities = Capabilities(engine=engine.name, embedded=True)
        self._engine = engine
        self._base = base
        self._journal = journal
        self._state = self._read_state()
        self._journal_behind = False

    @property
    def base(self) -> BaseFile:
        """The base file of this generation."""
        return self._base

    def entity(self, entity_id: str) -> Entity | None:
        """Give one entity by its id."""
        states = self._run("graph/entity_state", {"id": entity_id})
        if not states:
            return None
        if states[0] == _AS_IN_BASE and (row := rows.base_entity(self._base, entity_id)) is not None:
            return row
        return rows.entity(self._run("graph/entity", {"id": entity_id})[0])

    def names(self, norm: str) -> Names:
        """Give the live entities whose label has this normal form."""
        found = self._run("graph/names", {"norm": norm})
        return rows.names(found[0]) if found else Names(norm=norm)

    def alias(self, norm: str) -> Alias:
        """Give the entities that once had a label of this normal form."""
        found = self._run("graph/alias", {"norm": norm})
        return rows.alias(found[0]) if found else Alias(norm=norm)

    def edges_between(self, source: str, target: str) -> list[Edge]:
        """Give all edges source→target, live and retired, by key."""
        ends = {"source": source, "target": target}
        states = self._run("graph/edge_states_between", ends)
        keys = sorted(key for key, *state in states if tuple(state) == _AS_IN_BASE)
        if len(keys) == len(states) and (found := self._base_edges(keys)) is not None:
            return found
        return [rows.edge(row) for row in self._run("graph/edges_between", ends)]

    def edges_of(self, entity_id: str) -> list[Edge]:
        """Give all live edges of an entity in both directions, self loops once, by key."""
        found = {row[0]: row for way in _WAYS for row in self._run(f"graph/edges_{way}", {"id": entity_id})}
        return [rows.live_edge(found[key]) for key in sorted(found)]

    def neighbours(self, entity_id: str, limit: int) -> list[Edge]:
        """Give at most ``limit`` live edges out and ``limit`` in, lowest keys first, self loops once."""
        states = self._run("graph/neighbours", {"id": entity_id})
        if len(states) <= _BOUND:
            out = sorted({key for key, _, leaves in states if leaves})[:limit]
            into = sorted(key for key, _, leaves in states if not leaves)[:limit]
            changed = {key for key, raw, _ in states if raw is not None}
            keys = sorted(out + into)
            if changed.isdisjoint(keys) and (edges := self._base_edges(keys)) is not None:
                return edges
        found = {edge.key: edge for way in _WAYS for edge in self._lowest(way, entity_id, limit)}
        return [found[key] for key in sorted(found)]

    def loose(self, key: str) -> Loose | None:
        """Give a dangling link, hyperedge or header field by its key."""
        found = self._run("graph/loose", {"key": key})
        return rows.loose(found[0]) if found else None

    def loose_with(self, member: str) -> list[Loose]:
        """Give the live dangling links and hyperedges that name this id, by key."""
        return [rows.loose(row) for row in self._run("graph/loose_with", {"member": member})]

    def touched(self) -> Touched:
        """Give everything that differs from the base."""
        run = self._run
        return Touched(
            entities=[rows.entity(row) for row in run("graph/touched_entities", {})],
            edges=[rows.edge(row) for row in run("graph/touched_edges", {})],
            loose=[rows.loose(row) for row in run("graph/touched_loose", {})],
        )

    def several(self, reads: Sequence[Callable[[], Answer]]) -> list[Answer]:
        """Carry out reads of this store that do not depend on each other, at once, and give the answers in order."""
        return at_once(reads)

    def state(self) -> StoreState:
        """Give the Store row."""
        return self._state

    def edge_texts(self) -> Iterator[Sequence[tuple[str, str, str, str, str, str]]]:
        """Give every live edge in batches of (key, source id, source label, relation, target label, target id)."""
        for batch in self._engine.batches("graph/edge_texts", {}, _TEXT_BATCH):
            yield [(row[0], row[1], row[2], row[3], row[4], row[5]) for row in batch]

    def query(
        self, text: str, params: Mapping[str, Any], *, limit: int = 10_000, timeout: float = 30.0
    ) -> Table:
        """Run one read-only statement that has already been checked by the caller; ``timeout`` in seconds."""
        return self._engine.query(text, params, limit, timeout)

    def read(self, name: str, **params: Any) -> list[tuple[Any, ...]]:
        """Run one reading statement of ``cypher/`` by name. Raises :class:`UsageError` for one that returns nothing."""
        if not statements.load(name, self._engine.name).columns:
            raise UsageError(f"The statement {name} does not read; a write goes through a plan.")
        return self._run(name, params)

    def program(self, plan: WritePlan) -> list[Statement]:
        """Give exactly the statements, in order, that :meth:`write` would run for the plan."""
        return self._program(plan, *self._next(plan))

    def write(self, plan: WritePlan) -> StoreState:
        """Run the plan in one transaction, all of it or none, and append its records to the log.

        Raises :class:`RevisionMoved` when ``plan.revision`` is not the graph's revision any more,
        :class:`WriteFailed` when the engine refuses (nothing is changed then), and :class:`StoreDamaged` when the
        write is in the store but its lines could not be appended (the next write or open appends them).
        """
        if self._engine.read_only:
            raise UsageError("The store is open for reading only.", "Open it for writing.")
        if self._journal_behind:
            self.heal()
        if plan.revision is not None and plan.revision != self._state.revision:
            raise RevisionMoved(
                f"The graph is at revision {self._state.revision}, and the change was planned on {plan.revision}.",
                "Plan it again.",
            )
        state, records = self._next(plan)
        self._commit(self._program(plan, state, records), state)
        self._state, self._journal_behind = state, True
        self._journal.append(records)
        self._journal_behind = False
        note_journal(self._engine.path.parent, self._journal.size())
        return state

    def heal(self) -> None:
        """Complete a journal that lacks what the store has. Raises :class:`StoreDamaged` when they do not fit."""
        self._journal.heal(self._state)
        self._journal_behind = False
        note_journal(self._engine.path.parent, self._journal.size())

    def close(self) -> None:
        """Release the engine and the base; the lock goes with the block of :func:`open_store`."""
        self._engine.close()
        self._base.close()

    def _lowest(self, way: str, entity_id: str, limit: int) -> list[Edge]:
        """Give the first edges one way of an entity that has very many, or some that differ from the base.

        A self loop counts among the edges out only.
        """
        params = {"id": entity_id}
        if limit <= _FIRST:
            states = self._run(f"graph/neighbours_{way}_first", params)
            if not any(raw for _, raw in states):
                edges = self._base_edges((key for key, _ in states), way, limit)
                if edges is not None and (len(states) < _FIRST or len(edges) == limit):
                    return edges
        found = [rows.live_edge(row) for row in self._run(f"graph/edges_{way}", params)]
        return sorted((edge for edge in found if _counts(edge, way)), key=lambda edge: edge.key)[:limit]

    def _base_edges(
        self, keys: Iterable[str], way: str = "out", limit: int | None = None
    ) -> list[Edge] | None:
        """Give the first ``limit`` edges of some keys as the base has them, or ``None`` when it lacks one."""
        found: list[Edge] = []
        for key in keys:
            if len(found) == limit:
                break
            edge = rows.base_edge(self._base, key)
            if edge is None:
                return None
            if _counts(edge, way):
                found.append(edge)
        return found

    def _next(self, plan: WritePlan) -> tuple[StoreState, tuple[Record, ...]]:
        """Give the state after a plan, and its records in their places."""
        state = self._state
        records = chain(plan.records, state.seq, state.head)
        changes: dict[str, Any] = dict(plan.store)
        if plan.revision is not None:
            changes["revision"] = state.revision + 1
        if records:
            changes |= {"seq": records[-1].seq, "head": records[-1].hash, "tail": pack(records)}
        return StoreState.model_validate(state.model_dump() | changes), records

    def _program(self, plan: WritePlan, state: StoreState, records: tuple[Record, ...]) -> list[Statement]:
        if not plan.statements and not records and state == self._state:
            return []
        advanced = {name: getattr(state, name) for name in _ADVANCING}
        if self._state.model_copy(update=advanced) == state:
            return [*plan.statements, Statement(name="graph/store_advance", params=advanced)]
        return [*plan.statements, Statement(name="graph/store_set", params=state.model_dump())]

    def _commit(self, program: list[Statement], state: StoreState) -> None:
        if not program:
            return
        try:
            self._engine.transaction(program)
        except BaseException as error:
            if state == self._state or self._read_state() != state:
                raise
            self._state, self._journal_behind = state, True
            if not isinstance(error, WriteFailed):
                raise

    def _run(self, name: str, params: Mapping[str, Any]) -> list[tuple[Any, ...]]:
        """Read, with what the engine says against it as an error that names the database."""
        try:
            return self._engine.run(name, params)
        except RuntimeError as error:
            message = " ".join(str(error).split()).rstrip(".")
            full = "buffer pool" in message.lower()
            raise StoreDamaged(
                f"The database {self._engine.path} cannot be read: {message}.",
                "Run `deeprefine-db doctor --compact`." if full else "Run `deeprefine-db doctor --rebuild`.",
            ) from error

    def _read_state(self) -> StoreState:
        found = self._run("graph/store", {})
        if len(found) != 1:
            raise StoreDamaged(
                f"The database {self._engine.path} does not say which store it is.",
                "Run `deeprefine-db doctor --rebuild`.",
            )
        return rows.state(found[0])


def _counts(edge: Edge, way: str) -> bool:
    """Leave self loops out of the edges in."""
    return way == "out" or edge.src != edge.tgt
