"""Planning a refinement: every action bound and carried out on a view, before anything is written."""

from __future__ import annotations

import itertools
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from deeprefine_graphdb.grammar.actions import format_action
from deeprefine_graphdb.graph.bind import bind
from deeprefine_graphdb.graph.perform import NextSeq, perform
from deeprefine_graphdb.graph.view import GraphView
from deeprefine_graphdb.model.actions import MAX_ACTIONS, Action, BoundAction, Effect, Footprint
from deeprefine_graphdb.model.errors import ActionRefused, AmbiguousName

SEQ_BITS = 16


@dataclass(frozen=True)
class RefinementPlan:
    """What a refinement will do: its bound actions, their effects, and everything it read or writes.

    Bound actions are numbered from 1; ``numbers`` says which action of the proposal each of them is. The row states
    to be written are in the overlay of ``view``.
    """

    id: str
    numbers: tuple[int, ...]
    bound: tuple[BoundAction, ...]
    effects: tuple[Effect, ...]
    footprint: Footprint
    view: GraphView

    @property
    def changes_nothing(self) -> bool:
        """Whether every action found its work done already."""
        return all(effect.outcome == "already" for effect in self.effects)


def plan_refinement(
    view: GraphView, refinement_id: str, actions: Iterable[tuple[int, Action]], record_seq: int
) -> RefinementPlan:
    """Plan actions, each with its number in the proposal, as one refinement on a fresh view.

    ``record_seq`` is the number that the refinement's record will have in the log; it orders what is added. Raises
    :class:`ActionRefused`, naming the action, when one of them cannot be carried out: then none is.
    """
    numbered = _unique(actions)
    if len(numbered) > MAX_ACTIONS:
        raise ActionRefused(
            f"A refinement has at most {MAX_ACTIONS} actions, and this one has {len(numbered)}."
        )
    next_seq = sequence(record_seq)
    bound: list[BoundAction] = []
    effects: list[Effect] = []
    for n, (number, action) in enumerate(numbered, start=1):
        try:
            bound.append(bind(view, action, f"{refinement_id}.{n}"))
            effects.append(perform(view, bound[-1], next_seq))
        except AmbiguousName as refused:
            raise AmbiguousName(
                _named(number, action, refused), refused.candidates, refused.hint
            ) from refused
        except ActionRefused as refused:
            raise ActionRefused(_named(number, action, refused), refused.hint) from refused
    numbers = tuple(number for number, _ in numbered)
    return RefinementPlan(refinement_id, numbers, tuple(bound), tuple(effects), view.footprint(), view)


def sequence(record_seq: int) -> NextSeq:
    """Give numbers for what one refinement adds, so that refinements sort by activation and objects within them."""
    return itertools.count(record_seq << SEQ_BITS).__next__


def _unique(actions: Iterable[tuple[int, Action]]) -> Sequence[tuple[int, Action]]:
    first: dict[Action, int] = {}
    for number, action in actions:
        first.setdefault(action, number)
    return [(number, action) for action, number in first.items()]


def _named(number: int, action: Action, refused: ActionRefused) -> str:
    return f"Action {number}, {format_action(action)}: {refused.message}"
