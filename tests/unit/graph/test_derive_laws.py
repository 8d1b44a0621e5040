"""Laws of deriving on a base that refinements were not made on, over random small graphs."""

from __future__ import annotations

import os

from hypothesis import given, settings
from hypothesis import strategies as st

from deeprefine_graphdb.graph import outcomes
from deeprefine_graphdb.graph.base_view import ParsedBase
from deeprefine_graphdb.graph.derive import ActiveRefinement, derive
from deeprefine_graphdb.graph.plan import plan_refinement
from deeprefine_graphdb.graph.render import graph_bytes
from deeprefine_graphdb.graph.view import GraphView
from deeprefine_graphdb.model.actions import Action, DeleteEdge, InsertEdge, ReplaceNode
from deeprefine_graphdb.model.errors import ActionRefused
from tests.unit.graph.small import graph, link, node

EXAMPLES = int(os.environ.get("DEEPREFINE_TEST_EXAMPLES", "200"))
IDS = ("a", "b", "c", "d", "x")
NAMES = ("A", "B", "C", "D", "X")
LINKS = st.tuples(st.sampled_from(IDS), st.sampled_from(("r", "s")), st.sampled_from(IDS), st.integers(0, 2))


def _graph(
    nodes: dict[str, tuple[str, str]], links: list[tuple[str, str, str, int]], hyperedges: list[list[str]]
) -> ParsedBase:
    return graph(
        [node(i, name, source_file=file) for i, (name, file) in nodes.items()],
        [link(s, r, t, weight=w) for s, r, t, w in links],
        hyperedges=[{"id": f"h{n}", "nodes": members} for n, members in enumerate(hyperedges)],
    )


def bases(min_size: int = 0) -> st.SearchStrategy[ParsedBase]:
    """Draw graphs in which an id may stand for any name, in one of two files or none, and links may dangle."""
    entity = st.tuples(st.sampled_from(NAMES), st.sampled_from(("f.py", "g.py", "")))
    return st.builds(
        _graph,
        st.dictionaries(st.sampled_from(IDS), entity, min_size=min_size),
        st.lists(LINKS, max_size=8),
        st.lists(st.lists(st.sampled_from(IDS), min_size=1, max_size=3), max_size=1),
    )


name = st.sampled_from((*IDS, *NAMES, "New", "Newer"))
relation = st.sampled_from(("r", "s"))
actions: st.SearchStrategy[Action] = st.one_of(
    st.builds(InsertEdge, subject=name, relation=relation, object=name),
    st.builds(DeleteEdge, subject=name, relation=relation, object=name),
    st.builds(ReplaceNode, old=name, new=name),
)
refinements = st.lists(st.lists(actions, min_size=1, max_size=3), max_size=6)


def made_on(base: ParsedBase, wanted: list[list[Action]]) -> list[ActiveRefinement]:
    """Plan refinements one after another, leaving out what is refused."""
    laid = GraphView(base).overlay
    active: list[ActiveRefinement] = []
    for number, asked in enumerate(wanted, start=1):
        view = GraphView(base, laid)
        laid.begin()
        try:
            plan = plan_refinement(view, f"r{number}", list(enumerate(asked, start=1)), number)
        except ActionRefused:
            laid.take_back()
            continue
        active.append(ActiveRefinement(plan.id, number, plan.bound))
    return active


def bytes_on(base: ParsedBase, active: list[ActiveRefinement]) -> bytes:
    return b"".join(graph_bytes(base.base, derive(base, active).touched()))


@settings(max_examples=EXAMPLES, deadline=None)
@given(bases(1), refinements)
def test_the_base_that_it_was_made_on_takes_everything(base: ParsedBase, wanted: list[list[Action]]) -> None:
    derived = derive(base, made_on(base, wanted))
    assert {effect.outcome for effect in derived.effects} <= {outcomes.REAPPLIED, outcomes.ALREADY}
    assert not derived.suspended


@settings(max_examples=EXAMPLES, deadline=None)
@given(bases(1), refinements, bases())
def test_nothing_of_a_suspended_refinement_is_in_the_graph(
    base: ParsedBase, wanted: list[list[Action]], other: ParsedBase
) -> None:
    active = made_on(base, wanted)
    derived = derive(other, active)
    for refinement in active:
        told = derived.by_refinement[refinement.id]
        assert outcomes.suspends(told) == (refinement.id in derived.suspended)
        assert len(told) == len(refinement.bound)
        if refinement.id in derived.suspended:
            assert not any(effect.changes for effect in told)
            assert all(effect.note for effect in told if outcomes.is_conflict(effect.outcome))
    if any("it was merged into" in effect.note for effect in derived.effects):
        return
    healthy = [refinement for refinement in active if refinement.id not in derived.suspended]
    assert bytes_on(other, active) == bytes_on(other, healthy)
