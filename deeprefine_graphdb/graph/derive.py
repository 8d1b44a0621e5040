"""graph = derive(base, active refinements in order): recorded actions carried out again over a reader."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from deeprefine_graphdb.graph.perform import perform
from deeprefine_graphdb.graph.plan import sequence
from deeprefine_graphdb.graph.view import GraphView
from deeprefine_graphdb.model.actions import BoundAction, Effect
from deeprefine_graphdb.stores.protocol import GraphReader, Touched


@dataclass(frozen=True)
class ActiveRefinement:
    """A refinement to carry out again: its bound actions and the number of its record in the log."""

    id: str
    record_seq: int
    bound: tuple[BoundAction, ...]


@dataclass(frozen=True)
class Derived:
    """The graph over a base, and what each action did on it."""

    view: GraphView
    effects: tuple[Effect, ...]

    def touched(self) -> Touched:
        """Give every row that differs from the base."""
        overlay = self.view.overlay
        return Touched(
            entities=tuple(overlay.entities.values()),
            edges=tuple(overlay.edges.values()),
            loose=tuple(overlay.loose.values()),
        )


def derive(reader: GraphReader, active: Iterable[ActiveRefinement]) -> Derived:
    """Carry out refinements on a base by what their actions were bound to; pure, the reader is only read."""
    view = GraphView(reader)
    effects: list[Effect] = []
    for refinement in active:
        next_seq = sequence(refinement.record_seq)
        effects.extend(perform(view, bound, next_seq) for bound in refinement.bound)
    return Derived(view, tuple(effects))
