"""What a graph store can do. Resolving and planning read through :class:`GraphReader`; writes are data."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Protocol, TypeVar

from deeprefine_graphdb.model.graph import Alias, Edge, Entity, Loose, Names
from deeprefine_graphdb.model.write import NodeRow, RelRow, Statement, StoreState, WritePlan
from deeprefine_loaders.basefile import BaseFile

if TYPE_CHECKING:
    from deeprefine_loaders.graphfile import GraphFile

Answer = TypeVar("Answer")


@dataclass(frozen=True)
class Capabilities:
    """What an engine can do that another cannot; a contract test skips only by one of these."""

    engine: str
    embedded: bool
    concurrent_writers: bool = False
    generations: bool = True


@dataclass(frozen=True)
class Touched:
    """Every row that differs from the base, retired ones too."""

    entities: Sequence[Entity] = ()
    edges: Sequence[Edge] = ()
    loose: Sequence[Loose] = ()


class GraphReader(Protocol):
    """Reading side of a store or of a parsed base. Rows are returned whether live or retired unless it says live."""

    @property
    def base(self) -> BaseFile:
        """The base file: header facts, style, and the raw text of every base object by key."""

    def entity(self, entity_id: str) -> Entity | None:
        """Give one entity by its id."""

    def names(self, norm: str) -> Names:
        """Give the live entities whose label has this normal form (empty when none has)."""

    def alias(self, norm: str) -> Alias:
        """Give the entities that once had a label of this normal form (empty when none had)."""

    def edges_between(self, source: str, target: str) -> Sequence[Edge]:
        """Give all edges source→target, live and retired, by key."""

    def edges_of(self, entity_id: str) -> Sequence[Edge]:
        """Give all live edges of an entity in both directions, self loops once, by key."""

    def neighbours(self, entity_id: str, limit: int) -> Sequence[Edge]:
        """Give at most ``limit`` live edges out and ``limit`` in, lowest keys first, self loops once."""

    def loose(self, key: str) -> Loose | None:
        """Give a dangling link, hyperedge or header field by its key."""

    def loose_with(self, member: str) -> Sequence[Loose]:
        """Give the live dangling links and hyperedges that name this id, by key."""

    def touched(self) -> Touched:
        """Give everything that differs from the base."""

    def several(self, reads: Sequence[Callable[[], Answer]]) -> Sequence[Answer]:
        """Carry out reads of this graph that do not depend on each other, at once where that is faster, in order."""


@dataclass
class Generation:
    """All that a new generation is built from: a parsed base, the rows that derive changed, and the log's nodes.

    ``touched`` rows replace the base's rows of the same key or are added to them.
    """

    base: GraphFile
    state: StoreState
    touched: Touched = field(default_factory=Touched)
    aliases: Sequence[Alias] = ()
    nodes: Iterable[NodeRow] = ()
    relations: Iterable[RelRow] = ()


@dataclass(frozen=True)
class Table:
    """The answer of a query: column names and rows."""

    columns: tuple[str, ...]
    rows: list[tuple[Any, ...]]
    truncated: bool = False


class GraphStore(GraphReader, Protocol):
    """A store that is open. Obtained from :func:`deeprefine_graphdb.stores.open_store`, never made directly."""

    capabilities: Capabilities

    def state(self) -> StoreState:
        """Give the Store row."""

    def edge_texts(self) -> Iterator[Sequence[tuple[str, str, str, str, str, str]]]:
        """Give every live edge in batches of (key, source id, source label, relation, target label, target id)."""

    def query(
        self, text: str, params: Mapping[str, Any], *, limit: int = 10_000, timeout: float = 30.0
    ) -> Table:
        """Run one read-only statement that has already been checked by the caller."""

    def read(self, name: str, **params: Any) -> list[tuple[Any, ...]]:
        """Run one reading statement of ``cypher/`` by name."""

    def program(self, plan: WritePlan) -> list[Statement]:
        """Give exactly the statements, in order, that :meth:`write` would run for the plan."""

    def write(self, plan: WritePlan) -> StoreState:
        """Run the plan in one transaction, all of it or none, and append its records to the log.

        Raises :class:`RevisionMoved` when ``plan.revision`` is not the graph's revision any more.
        """

    def close(self) -> None:
        """Release the engine and the lock."""
