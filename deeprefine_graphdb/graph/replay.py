"""Carrying out recorded refinements again in the order of activation, each of them whole or not at all."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Sequence
from dataclasses import dataclass, field

from deeprefine_graphdb.graph import outcomes
from deeprefine_graphdb.graph.judge import Judge, Surroundings
from deeprefine_graphdb.graph.opposed import Said, Sides
from deeprefine_graphdb.graph.perform import EchoTexts
from deeprefine_graphdb.graph.plan import sequence
from deeprefine_graphdb.graph.rebind import ActiveMerges
from deeprefine_graphdb.graph.view import GraphView
from deeprefine_graphdb.model.actions import BoundAction, Effect, Resolution
from deeprefine_loaders.identity import column_text


@dataclass(frozen=True)
class ActiveRefinement:
    """A refinement to carry out again: its bound actions and the number of its record in the log.

    ``side`` is the store whose log it comes from, ``aware`` are the refinements of other sides that it was made in
    the knowledge of (``None``: all). Where there is one log these say nothing.
    """

    id: str
    record_seq: int
    bound: tuple[BoundAction, ...]
    side: str = ""
    aware: frozenset[str] | None = None


@dataclass(frozen=True)
class Given:
    """What derive is given besides the base and the active refinements.

    ``resolutions`` are a person's words on conflicts. ``echoes`` are the texts of objects that the last file still
    had from us. ``undone_outside`` are the actions whose work that file had undone, which is noted and no more.
    """

    resolutions: Sequence[Resolution] = ()
    echoes: EchoTexts = field(default_factory=dict)
    undone_outside: frozenset[str] = frozenset()


NOTHING_GIVEN = Given()


class Replay:
    """Carries out active refinements over a view, one after another in their order.

    Each refinement is either carried out with :meth:`run`, or told with :meth:`pass_over` when its effects are known
    and laid over the view already. ``suspended`` has those so far of which an action is in conflict.
    """

    def __init__(
        self, view: GraphView, active: Sequence[ActiveRefinement], given: Given = NOTHING_GIVEN
    ) -> None:
        self.view = view
        self.suspended: set[str] = set()
        self._active = active
        self._sides = Sides(refinement.side for refinement in active)
        resolutions: defaultdict[str, list[Resolution]] = defaultdict(list)
        for resolution in given.resolutions:
            resolutions[resolution.action].append(resolution)
        merges = ActiveMerges(bound for refinement in active for bound in refinement.bound)
        self._around = Surroundings(
            merges, self._sides, resolutions, given.echoes, given.undone_outside, self.suspended
        )

    def run(self, position: int) -> tuple[Effect, ...]:
        """Carry out the refinement at a position: all of it, or nothing when one of its actions is in conflict.

        The others are judged all the same, so that every conflict is told; they are ``held`` then.
        """
        refinement = self._active[position]
        overlay = self.view.overlay
        overlay.begin()
        judge = Judge(
            self.view,
            self._around,
            refinement.id,
            sequence(refinement.record_seq),
            lambda bound: _said(refinement, bound),
        )
        effects = tuple(judge.judge(bound) for bound in refinement.bound)
        if outcomes.suspends(effects):
            overlay.take_back()
            effects = tuple(_held(effect) for effect in effects)
        else:
            overlay.keep()
        self.pass_over(position, effects)
        return effects

    def pass_over(self, position: int, effects: Sequence[Effect]) -> None:
        """Take the effects of the refinement at a position as they are."""
        refinement = self._active[position]
        if outcomes.suspends(effects):
            self.suspended.add(refinement.id)
        elif self._sides.differ:
            for bound, effect in zip(refinement.bound, effects, strict=True):
                if bound.intent.kind in {"insert", "delete"} and effect.outcome != outcomes.DROPPED:
                    self._sides.say(triple_of(bound, effect), _said(refinement, bound))


def triple_of(bound: BoundAction, effect: Effect) -> tuple[str, str, str]:
    """Give the triple, by ids, that an insert or delete with this effect is about."""
    return effect.bound["subject"], column_text(bound.intent.relation) or "", effect.bound["object"]


def _said(refinement: ActiveRefinement, bound: BoundAction) -> Said:
    return Said(bound.intent.kind, bound.id, refinement.id, refinement.side, refinement.aware)


def _held(effect: Effect) -> Effect:
    if outcomes.is_conflict(effect.outcome) or effect.outcome == outcomes.DROPPED:
        return effect
    return effect.model_copy(update={"outcome": outcomes.HELD, "changes": (), "witness": None})
