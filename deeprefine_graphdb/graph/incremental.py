"""The incremental form of derive: from a committed graph to the one without a refinement, or with one more.

Only what something has changed for is judged again; it gives what derive gives from the base.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Literal

from deeprefine_graphdb.graph import outcomes
from deeprefine_graphdb.graph.overlay import Overlay
from deeprefine_graphdb.graph.questions import merged, said, state
from deeprefine_graphdb.graph.replay import (
    NOTHING_GIVEN,
    ActiveRefinement,
    Given,
    Replay,
    triple_of,
)
from deeprefine_graphdb.graph.rewind import Rewound, to_write, written
from deeprefine_graphdb.graph.view import GraphView
from deeprefine_graphdb.model.actions import Effect, Footprint
from deeprefine_graphdb.stores.protocol import GraphReader
from deeprefine_loaders.collector import collector_paused

Sense = Literal["conflict", "changed", "carried", "healed", "still"]


@dataclass(frozen=True)
class Recorded:
    """An active refinement with the effects that it has on the committed graph and the questions that decided them."""

    refinement: ActiveRefinement
    effects: tuple[Effect, ...]
    reads: frozenset[str]

    @classmethod
    def of(
        cls, refinement: ActiveRefinement, effects: Iterable[Effect], footprint: Footprint | None = None
    ) -> Recorded:
        """Take effects as derive or an apply gave them; what an apply asked is in its ``footprint``."""
        every = tuple(effects)
        reads = {question for effect in every for question in effect.reads}
        if not reads and footprint is not None:
            reads.update(footprint.seen)
        return cls(refinement, every, frozenset(reads))


@dataclass(frozen=True)
class Difference:
    """An action whose outcome is another one than it was.

    ``sense`` is ``conflict`` when its refinement was carried out and is suspended now, ``changed`` when it still is
    carried out but the action does otherwise than before, ``carried`` when an insert went from doing it to finding it
    done or back, ``healed`` when it was suspended and is not, ``still`` when it is suspended as before, for another
    reason.
    """

    refinement: str
    action: str
    before: str
    after: str
    note: str
    sense: Sense

    @property
    def refuses(self) -> bool:
        """Whether an undo that makes this difference is refused."""
        return self.sense in {"conflict", "changed"}


@dataclass(frozen=True)
class Rederived:
    """A graph after refinements were undone, redone or judged again.

    ``view`` is that graph; its overlay has the rows to be written over the committed graph and no others. ``effects``
    are those of every refinement that was judged again, by refinement; all others keep theirs.
    """

    view: GraphView
    effects: Mapping[str, tuple[Effect, ...]]
    differences: tuple[Difference, ...] = ()
    suspended: frozenset[str] = frozenset()

    @property
    def overlay(self) -> Overlay:
        """The rows to be written."""
        return self.view.overlay


@dataclass(frozen=True)
class Undo:
    """An undo and what it would take along: ``undone`` in order of activation, ``refused`` what forbids it."""

    undone: tuple[str, ...]
    result: Rederived
    refused: tuple[Difference, ...] = ()


def undo(
    reader: GraphReader,
    recorded: Sequence[Recorded],
    refinement_id: str,
    given: Given = NOTHING_GIVEN,
    *,
    cascade: bool = False,
) -> Undo:
    """Take one active refinement back, and with ``cascade`` all those that cannot stay as they are without it.

    It is refused, and nothing of it may be written, where another refinement's outcome would become a conflict or,
    inserts apart, change. A suspended refinement is never refused its undo.
    """
    gone = {refinement_id}
    free = any(each.refinement.id == refinement_id and outcomes.suspends(each.effects) for each in recorded)
    while True:
        result = rederive(reader, recorded, given, undone=gone)
        refused = () if free else tuple(each for each in result.differences if each.refuses)
        if not cascade or not refused:
            order = tuple(each.refinement.id for each in recorded if each.refinement.id in gone)
            return Undo(order, result, refused)
        gone.update(each.refinement for each in refused)


def rederive(
    reader: GraphReader,
    recorded: Sequence[Recorded],
    given: Given = NOTHING_GIVEN,
    *,
    undone: Collection[str] = (),
    redone: Sequence[ActiveRefinement] = (),
    again: Collection[str] = (),
) -> Rederived:
    """Derive the graph anew from the committed one, where refinements go, some come, or some are judged again.

    ``recorded`` are all that are active, in order of activation, with their effects on the committed graph. What is
    ``redone`` goes last, in its order. ``again`` are refinements for whose conflicts a person's word has come or gone.
    Equal to :func:`derive` over the base. Pure: the reader is only read.
    """
    kept = [each.refinement for each in recorded if each.refinement.id not in undone]
    active = [*kept, *redone]
    view = GraphView(reader)
    with collector_paused():
        changed = _questions_of_the_change(recorded, undone, redone)
        involved = _involved(recorded, undone, again, changed)
        run = _Run(
            replay=Replay(view, active, given),
            rewound=Rewound(view, (each.effects for each in involved)),
            again=frozenset(again),
            dirty=changed,
        )
        inside = {each.refinement.id for each in involved}
        for each in recorded:
            if each.refinement.id in undone:
                run.leave_out(each)
            elif each.refinement.id in inside:
                run.go_past(each)
            else:
                run.keep(each)
        for each_redone in redone:
            run.add(each_redone)
        view.overlay = to_write(view, reader)
    return Rederived(view, run.effects, tuple(run.differences), frozenset(run.replay.suspended))


@dataclass
class _Run:
    """Goes through the refinements in order. ``dirty`` are questions answered otherwise that no row answers."""

    replay: Replay
    rewound: Rewound
    again: frozenset[str]
    dirty: set[str]
    effects: dict[str, tuple[Effect, ...]] = field(default_factory=dict)
    differences: list[Difference] = field(default_factory=list)
    position: int = 0

    def leave_out(self, each: Recorded) -> None:
        self.rewound.follow(each.effects, ())

    def keep(self, each: Recorded) -> None:
        self.replay.pass_over(self.position, each.effects)
        self.position += 1

    def go_past(self, each: Recorded) -> None:
        """Judge a refinement again if the answers that it rests on are others now, else lay it as it was."""
        if not self._is_affected(each):
            self.rewound.lay(each.effects)
            self.rewound.follow(each.effects, each.effects)
            self.keep(each)
            return
        made = self.replay.run(self.position)
        self.position += 1
        self.rewound.follow(each.effects, made)
        self.effects[each.refinement.id] = made
        self.differences.extend(_differences(each, made))
        if outcomes.suspends(each.effects) != outcomes.suspends(made):
            self.dirty.add(state(each.refinement.id))
        self.dirty.update(set(_said_by(each.refinement, each.effects)) ^ set(_said_by(each.refinement, made)))

    def add(self, redone: ActiveRefinement) -> None:
        self.effects[redone.id] = self.replay.run(self.position)
        self.position += 1

    def _is_affected(self, each: Recorded) -> bool:
        return (
            each.refinement.id in self.again
            or not each.reads.isdisjoint(self.dirty)
            or not each.reads.isdisjoint(self.rewound.dirty.keys())
        )


def _questions_of_the_change(
    recorded: Iterable[Recorded], undone: Collection[str], redone: Sequence[ActiveRefinement]
) -> set[str]:
    """Give what is answered otherwise since refinements go or come, whatever they did to the graph."""
    gone = [each for each in recorded if each.refinement.id in undone]
    moved = [*(each.refinement for each in gone), *redone]
    merges = (bound for each in moved for bound in each.bound if bound.intent.kind == "merge")
    return {
        *(state(each.id) for each in moved),
        *(merged(bound.subject.id) for bound in merges),
        *(question for each in gone for question in _said_by(each.refinement, each.effects)),
    }


def _said_by(refinement: ActiveRefinement, effects: Sequence[Effect]) -> Iterator[str]:
    if outcomes.suspends(effects):
        return
    for bound, effect in zip(refinement.bound, effects, strict=True):
        if bound.intent.kind in {"insert", "delete"} and effect.outcome != outcomes.DROPPED:
            yield said(*triple_of(bound, effect))


def _involved(
    recorded: Sequence[Recorded], undone: Collection[str], again: Collection[str], changed: Collection[str]
) -> list[Recorded]:
    """Give the refinements that the graph has to be taken back to before.

    Where nothing behind those that are undone rests on what they did, these alone: their rows are as they were
    before them. Else all from the first one that something has changed for, since any of them may have to be judged on
    the graph as it was at its turn.
    """
    gone = [each for each in recorded if each.refinement.id in undone]
    dirty = {*changed, *(question for each in gone for question in written(each.effects))}
    first_gone = next((n for n, each in enumerate(recorded) if each.refinement.id in undone), len(recorded))
    touched = [
        n
        for n, each in enumerate(recorded)
        if each.refinement.id not in undone
        and (
            each.refinement.id in again
            or not each.reads.isdisjoint(changed)
            or (n > first_gone and not each.reads.isdisjoint(dirty))
        )
    ]
    return list(recorded[min(first_gone, *touched) :]) if touched else gone


def _differences(each: Recorded, made: Sequence[Effect]) -> Iterator[Difference]:
    for bound, old, new in zip(each.refinement.bound, each.effects, made, strict=True):
        before, after = (
            outcomes.REAPPLIED if effect.outcome == outcomes.APPLIED else effect.outcome
            for effect in (old, new)
        )
        if before != after:
            sense = _sense(bound.intent.kind, before, after)
            yield Difference(each.refinement.id, bound.id, before, after, new.note, sense)


def _sense(kind: str, before: str, after: str) -> Sense:
    if after not in outcomes.SETTLED:
        return "conflict" if before in outcomes.SETTLED else "still"
    if before not in outcomes.SETTLED:
        return "healed"
    return "carried" if kind == "insert" else "changed"
