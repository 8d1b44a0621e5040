"""Going on from the committed graph gives what deriving from the base gives, whatever happened before."""

from __future__ import annotations

import json
import os
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from random import Random

from hypothesis import given, settings
from hypothesis import strategies as st

from deeprefine_graphdb.graph import outcomes
from deeprefine_graphdb.graph.base_view import ParsedBase
from deeprefine_graphdb.graph.derive import ActiveRefinement, Derived, Given, derive
from deeprefine_graphdb.graph.incremental import Recorded, Rederived, rederive, undo
from deeprefine_graphdb.graph.manifest import manifest_of
from deeprefine_graphdb.graph.overlay import Overlay
from deeprefine_graphdb.graph.plan import plan_refinement
from deeprefine_graphdb.graph.render import graph_bytes
from deeprefine_graphdb.graph.view import GraphView
from deeprefine_graphdb.model.actions import Action, Effect, Resolution
from deeprefine_graphdb.model.errors import ActionRefused
from deeprefine_graphdb.model.graph import Edge, Entity
from tests.unit.graph.committed import Committed
from tests.unit.graph.test_derive_laws import actions, bases, made_on, refinements

EXAMPLES = int(os.environ.get("DEEPREFINE_TEST_EXAMPLES", "80"))

Step = tuple[str, int, list[Action]]
steps: st.SearchStrategy[Step] = st.tuples(
    st.sampled_from(("apply", "undo", "undo", "redo", "redo", "ours", "theirs", "drop", "unsay")),
    st.integers(0, 5),
    st.lists(actions, min_size=1, max_size=3),
)
histories = st.lists(steps, max_size=10)


@dataclass
class History:
    """A store in memory with its log: what is active, what was undone, and a person's words."""

    base: ParsedBase
    store: Committed
    active: list[Recorded] = field(default_factory=list)
    undone: list[ActiveRefinement] = field(default_factory=list)
    words: list[Resolution] = field(default_factory=list)
    echoes: dict[tuple[str, str, str], str] = field(default_factory=dict)
    made: int = 0

    @classmethod
    def rebased(cls, base: ParsedBase, refinements: list[ActiveRefinement], *, echo: bool = False) -> History:
        """Begin with refinements on a base that they were made on or not; with ``echo`` the file had kept our texts."""
        derived = derive(base, refinements)
        echoes = _echoes(derived) if echo else {}
        derived = derive(base, refinements, Given(echoes=echoes))
        store = Committed(base)
        store.write(derived.view.overlay)
        active = [Recorded.of(each, logged(derived.by_refinement[each.id])) for each in refinements]
        return cls(base, store, active, echoes=echoes, made=len(refinements) + 10)

    @property
    def given(self) -> Given:
        return Given(resolutions=tuple(self.words), echoes=self.echoes)

    def derived(self) -> Derived:
        return derive(self.base, [each.refinement for each in self.active], self.given)

    def step(self, step: Step) -> None:
        what, number, asked = step
        if what == "apply":
            self.apply(asked)
        elif what == "undo" and self.active:
            self.undo(self.active[number % len(self.active)].refinement.id)
        elif what == "redo" and self.undone:
            self.redo(self.undone.pop(number % len(self.undone)))
        elif what in {"ours", "theirs", "drop"}:
            self.resolve(what, number)
        elif what == "unsay" and self.words:
            word = self.words.pop(number % len(self.words))
            self.judge_again(word.action.rpartition(".")[0])

    def apply(self, asked: Sequence[Action]) -> None:
        self.made += 1
        view = GraphView(self.store)
        try:
            plan = plan_refinement(view, f"r{self.made}", list(enumerate(asked, start=1)), self.made)
        except ActionRefused:
            return
        self.store.write(view.overlay)
        refinement = ActiveRefinement(plan.id, self.made, plan.bound)
        self.active.append(Recorded.of(refinement, logged(plan.effects), plan.footprint))

    def undo(self, *refinements: str) -> None:
        result = rederive(self.store, self.active, self.given, undone=refinements)
        self.undone += [each.refinement for each in self.active if each.refinement.id in refinements]
        self.active = [each for each in self.active if each.refinement.id not in refinements]
        self.take(result)

    def redo(self, refinement: ActiveRefinement) -> None:
        result = rederive(self.store, self.active, self.given, redone=(refinement,))
        self.active.append(Recorded.of(refinement, logged(result.effects[refinement.id])))
        self.take(result)

    def resolve(self, keep: str, number: int) -> None:
        stuck = [
            effect for each in self.active for effect in each.effects if outcomes.is_conflict(effect.outcome)
        ]
        if not stuck:
            return
        effect = stuck[number % len(stuck)]
        word = {"action": effect.id, "keep": keep, "kind": effect.outcome, "ground": effect.ground}
        self.words.append(Resolution.model_validate(word))
        self.judge_again(effect.id.rpartition(".")[0])

    def judge_again(self, refinement_id: str) -> None:
        self.take(rederive(self.store, self.active, self.given, again={refinement_id}))

    def take(self, result: Rederived) -> None:
        self.store.write(result.overlay)
        self.active = [
            Recorded.of(each.refinement, logged(result.effects[each.refinement.id]))
            if each.refinement.id in result.effects
            else each
            for each in self.active
        ]


def logged(effects: Sequence[Effect]) -> list[Effect]:
    """Give effects as they are read back from a log."""
    return [Effect.model_validate_json(effect.model_dump_json()) for effect in effects]


def _echoes(derived: Derived) -> dict[tuple[str, str, str], str]:
    """Give what was added, each object as another program would write it again."""
    added: list[tuple[str, str, Entity | Edge]] = [
        *(("node", each.id, each) for each in derived.view.overlay.entities.values()),
        *(("link", each.key, each) for each in derived.view.overlay.edges.values()),
    ]
    return {
        (kind, key, row.added_by): json.dumps({**json.loads(row.raw), "community": 9})
        for kind, key, row in added
        if row.added_by is not None and row.raw is not None
    }


def of_sides(refinements: list[ActiveRefinement], sides: list[bool]) -> list[ActiveRefinement]:
    """Let some refinements come from another store, without any knowledge of the others."""
    return [
        replace(each, side="other", aware=frozenset()) if other else replace(each, aware=frozenset())
        for each, other in zip(refinements, [*sides, *[False] * len(refinements)], strict=False)
    ]


def told(effects: Sequence[Effect]) -> list[tuple[str, dict[str, str], str | None, str, str]]:
    return [
        (
            "reapplied" if effect.outcome == "applied" else effect.outcome,
            effect.bound,
            effect.witness,
            effect.ground,
            effect.cause,
        )
        for effect in effects
    ]


def present(overlay: Overlay, base: ParsedBase) -> dict[object, object]:
    """Give the rows that differ from the base, less those that say only that something was undone."""
    rows: dict[object, object] = {}
    for entity in overlay.entities.values():
        if not (entity.retired_by or "").startswith("undo:") and entity != base.entity(entity.id):
            rows["entity", entity.id] = entity
    for edge in overlay.edges.values():
        known = next((each for each in base.edges_between(edge.src, edge.tgt) if each.key == edge.key), None)
        if not (edge.retired_by or "").startswith("undo:") and edge != known:
            rows["edge", edge.key] = edge
    for loose in overlay.loose.values():
        if not (loose.retired_by or "").startswith("undo:") and loose != base.loose(loose.key):
            rows["loose", loose.key] = loose
    for alias in overlay.aliases.values():
        if alias.ids:
            rows["alias", alias.norm] = alias
    for names in overlay.names.values():
        if names != base.names(names.norm):
            rows["names", names.norm] = names
    return rows


def assert_same(history: History) -> None:
    full = history.derived()
    for each in history.active:
        assert told(each.effects) == told(full.by_refinement[each.refinement.id])
    assert history.store.bytes() == b"".join(graph_bytes(history.base.base, full.touched()))
    base = history.base.base
    assert manifest_of(base, history.store.touched()) == manifest_of(base, full.touched())
    assert present(history.store.view.overlay, history.base) == present(full.view.overlay, history.base)


@settings(max_examples=EXAMPLES, deadline=None)
@given(bases(1), histories)
def test_every_step_of_a_history_gives_what_derive_gives(base: ParsedBase, history: list[Step]) -> None:
    store = History(base, Committed(base))
    for step in history:
        store.step(step)
        assert_same(store)


@settings(max_examples=EXAMPLES, deadline=None)
@given(bases(1), refinements, bases(), histories, st.lists(st.booleans(), max_size=6), st.booleans())
def test_every_step_on_another_base_gives_what_derive_gives(
    first: ParsedBase,
    wanted: list[list[Action]],
    base: ParsedBase,
    history: list[Step],
    sides: list[bool],
    echo: bool,
) -> None:
    store = History.rebased(base, of_sides(made_on(first, wanted), sides), echo=echo)
    assert_same(store)
    for step in history:
        store.step(step)
        assert_same(store)


@settings(max_examples=EXAMPLES, deadline=None)
@given(bases(1), refinements, st.lists(st.integers(0, 9), min_size=1, max_size=6))
def test_an_undo_leaves_all_others_as_they_were_or_is_refused_by_name(
    base: ParsedBase, wanted: list[list[Action]], order: list[int]
) -> None:
    store = History.rebased(base, made_on(base, wanted))
    for number in order:
        if not store.active:
            return
        chosen = store.active[number % len(store.active)].refinement.id
        before = {each.refinement.id: told(each.effects) for each in store.active}
        planned = undo(store.store, store.active, chosen)
        assert planned.undone == (chosen,)
        if planned.refused:
            named = {each.refinement for each in planned.refused}
            assert named <= before.keys() - {chosen}
            planned = undo(store.store, store.active, chosen, cascade=True)
            assert not planned.refused
            assert named <= set(planned.undone)
        store.undo(*planned.undone)
        assert_same(store)
        for each in store.active:
            if not any(bound.intent.kind == "insert" for bound in each.refinement.bound):
                words = [word for word, *_ in before[each.refinement.id]]
                assert [word for word, *_ in told(each.effects)] == words
            assert not outcomes.suspends(each.effects)


@settings(max_examples=EXAMPLES, deadline=None)
@given(bases(1), refinements, st.randoms(use_true_random=False))
def test_undoing_everything_in_any_order_gives_the_base(
    base: ParsedBase, wanted: list[list[Action]], order: Random
) -> None:
    store = History.rebased(base, made_on(base, wanted))
    ids = [each.refinement.id for each in store.active]
    order.shuffle(ids)
    for refinement_id in ids:
        store.undo(refinement_id)
    assert store.store.bytes() == base.base.bytes()
    for refinement in reversed(store.undone):
        store.redo(refinement)
        assert_same(store)
