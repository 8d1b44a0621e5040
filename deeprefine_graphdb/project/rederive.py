"""The same base, other refinements or other words on them: the graph that follows, planned and written."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from deeprefine_graphdb import stores
from deeprefine_graphdb.model.errors import StoreMissing
from deeprefine_graphdb.model.write import StoreState
from deeprefine_graphdb.project.derivation import Became, Derivation, derive_after, write_derivation
from deeprefine_graphdb.project.knowledge_base import KnowledgeBase
from deeprefine_graphdb.project.sync import read_source
from deeprefine_graphdb.provenance.log import Log
from deeprefine_graphdb.provenance.records import AnyBody
from deeprefine_loaders.basefile import BASE_NAME


@dataclass(frozen=True)
class Rederived:
    """A change of the graph that is planned; ``suspended`` are all refinements that are in conflict after it."""

    state: StoreState
    log: Log
    derivation: Derivation

    @property
    def became(self) -> tuple[Became, ...]:
        """What comes out otherwise than before, by action."""
        return self.derivation.became

    @property
    def suspended(self) -> frozenset[str]:
        """All refinements that are in conflict."""
        return self.derivation.derived.suspended


def plan_rederive(base: KnowledgeBase, log: Log, bodies: Sequence[AnyBody]) -> Rederived:
    """Plan what the graph is once the log has these bodies; nothing is written."""
    with base.open("read") as store:
        state = store.state()
    directory = stores.base_path(base.url)
    if directory is None:
        raise StoreMissing(f"There is no store at {base.url}.", "Run `deeprefine-db sync` first.")
    graph = read_source(directory / BASE_NAME)
    return Rederived(state, log, derive_after(graph, log, bodies))


def write_rederive(base: KnowledgeBase, planned: Rederived) -> StoreState:
    """Make a planned change the store's content."""
    state = planned.state.model_copy(update={"revision": planned.state.revision + 1})
    return write_derivation(base, state, planned.log, planned.derivation)
