"""graph = derive(base, active refinements in order): recorded actions carried out again over a reader."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass

from deeprefine_graphdb.graph.replay import NOTHING_GIVEN, ActiveRefinement, Given, Replay
from deeprefine_graphdb.graph.view import GraphView
from deeprefine_graphdb.model.actions import Effect
from deeprefine_graphdb.stores.protocol import GraphReader, Touched
from deeprefine_loaders.collector import collector_paused


@dataclass(frozen=True)
class Derived:
    """The graph over a base, and what became of each action on it, by refinement in order of activation.

    ``suspended`` are the refinements of which an action is in conflict: nothing of them is in the graph.
    """

    view: GraphView
    by_refinement: Mapping[str, tuple[Effect, ...]]
    suspended: frozenset[str] = frozenset()

    @property
    def effects(self) -> tuple[Effect, ...]:
        """The effects of all actions, in order."""
        return tuple(effect for effects in self.by_refinement.values() for effect in effects)

    def touched(self) -> Touched:
        """Give every row that differs from the base."""
        overlay = self.view.overlay
        return Touched(
            entities=tuple(overlay.entities.values()),
            edges=tuple(overlay.edges.values()),
            loose=tuple(overlay.loose.values()),
        )


def derive(reader: GraphReader, active: Iterable[ActiveRefinement], given: Given = NOTHING_GIVEN) -> Derived:
    """Carry out refinements on a base, in order of activation, by what their actions were bound to.

    Pure: the reader is only read, and the same base, refinements and ``given`` have the same result. Nothing is
    raised for an action that does not apply any more: its effect says so, and its refinement is suspended.
    """
    refinements = tuple(active)
    replay = Replay(GraphView(reader), refinements, given)
    with collector_paused():
        effects = {each.id: replay.run(position) for position, each in enumerate(refinements)}
    return Derived(replay.view, effects, frozenset(replay.suspended))


__all__ = ["ActiveRefinement", "Derived", "Given", "derive"]
