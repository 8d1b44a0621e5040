"""A proposal laid over a graph: as an apply would leave it, as far as it can be carried out, and nothing written."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from deeprefine_graphdb.graph.base_view import ParsedBase
from deeprefine_graphdb.graph.plan import plan_refinement
from deeprefine_graphdb.graph.view import GraphView
from deeprefine_graphdb.model.actions import Action, DeleteEdge, InsertEdge, ReplaceNode
from deeprefine_graphdb.model.errors import ActionRefused, NothingToDo
from deeprefine_graphdb.model.write import StoreState
from deeprefine_graphdb.project.what_if import DRAFT, LaidPlan
from tests.unit.graph.small import graph, link, node, rendered

LABEL = st.sampled_from("ABCDE")
RELATION = st.sampled_from("rs")
ACTIONS = st.lists(
    st.one_of(
        st.builds(InsertEdge, subject=LABEL, relation=RELATION, object=LABEL),
        st.builds(DeleteEdge, subject=LABEL, relation=RELATION, object=LABEL),
        st.builds(ReplaceNode, old=LABEL, new=LABEL),
    ),
    max_size=6,
)
LINKS = st.lists(st.tuples(st.sampled_from("abc"), RELATION, st.sampled_from("abc")), max_size=6)


class Store:
    """A parsed base that is asked for its state, as a store is, and counts how often."""

    def __init__(self, links: list[tuple[str, str, str]]) -> None:
        self.reader: ParsedBase = graph(
            [node(each, each.upper()) for each in "abc"], [link(*e) for e in links]
        )
        self.revision = 0

    def __getattr__(self, name: str) -> object:
        return getattr(self.reader, name)

    def state(self) -> StoreState:
        return StoreState(store_id="s", base_digest="b", revision=self.revision, seq=4)


@settings(max_examples=200, deadline=None)
@given(LINKS, ACTIONS)
def test_it_is_what_an_apply_of_its_numbers_would_leave_and_the_graph_beneath_is_as_it_was(
    links: list[tuple[str, str, str]], actions: list[Action]
) -> None:
    store = Store(links)
    before = rendered(GraphView(store.reader))
    laid = LaidPlan(actions)
    try:
        view = laid(store)  # type: ignore[arg-type]  # what a plan reads of a store is there
    except NothingToDo:
        assert laid.numbers == ()
        return
    chosen = [(n, actions[n - 1]) for n in laid.numbers]
    applied = plan_refinement(GraphView(store.reader), DRAFT, chosen, 5)
    assert rendered(view) == rendered(applied.view)
    assert rendered(GraphView(store.reader)) == before
    for number, action in enumerate(actions, start=1):
        if number not in laid.numbers and action not in [each for _, each in chosen]:
            ahead = [each for each in chosen if each[0] < number]
            with pytest.raises(ActionRefused):
                plan_refinement(GraphView(store.reader), DRAFT, [*ahead, (number, action)], 5)


def test_it_is_planned_again_when_the_graph_has_moved_on() -> None:
    store = Store([("a", "r", "b")])
    laid = LaidPlan([DeleteEdge(subject="A", relation="r", object="B")])
    assert laid(store).edges_between("a", "b") == []  # type: ignore[arg-type]  # as above
    store.reader = graph([node("a", "A"), node("b", "B")], [])
    assert laid(store).edges_between("a", "b") == []  # type: ignore[arg-type]  # as above
    store.revision = 1
    with pytest.raises(NothingToDo):
        laid(store)  # type: ignore[arg-type]  # as above
