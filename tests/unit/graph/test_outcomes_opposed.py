"""Two stores whose logs are united: an insert and a delete of one edge."""

from __future__ import annotations

from dataclasses import replace

import pytest

from deeprefine_graphdb.graph.derive import ActiveRefinement, Derived, derive
from tests.unit.graph.rebased import DELETE, INSERT, NODES, USES, answer, edges, made_on, words
from tests.unit.graph.small import graph, link

CALLS = link("a", "calls", "b")
ERASE = INSERT.replace("insert", "delete")


def of(
    side: str, answer: str, links: list[dict[str, object]], aware: set[str] | None = None
) -> ActiveRefinement:
    """Make a refinement in a store of its own."""
    (made,) = made_on(graph(NODES, links), answer)
    bound = tuple(each.model_copy(update={"id": f"{side}.1"}) for each in made.bound)
    return replace(made, id=side, bound=bound, side=side, aware=None if aware is None else frozenset(aware))


def united(*refinements: ActiveRefinement, links: list[dict[str, object]]) -> Derived:
    return derive(graph(NODES, links), refinements)


def test_opposed_insert() -> None:
    one, two = of("one", ERASE, [CALLS], set()), of("two", INSERT, [], set())
    derived = united(one, two, links=[CALLS])
    assert words(derived) == ["reapplied", "opposed"]
    assert derived.effects[1].cause == "one.1"
    assert "neither knew of the other" in derived.effects[1].note
    ours = derive(graph(NODES, [CALLS]), [one, two], answer(derived.effects[1], "ours"))
    assert edges(ours) == [("a", "calls", "b")]
    theirs = derive(graph(NODES, [CALLS]), [one, two], answer(derived.effects[1], "theirs"))
    assert words(theirs) == ["reapplied", "dropped"]
    assert edges(theirs) == []


@pytest.mark.parametrize("there", [[], [CALLS]])
def test_opposed_delete(there: list[dict[str, object]]) -> None:
    one, two = of("one", INSERT, there, set()), of("two", ERASE, [CALLS], set())
    assert words(united(one, two, links=there))[1] == "opposed"


def test_who_knows_of_the_other_may_change_it() -> None:
    one, two = of("one", ERASE, [CALLS], set()), of("two", INSERT, [], {"one"})
    assert words(united(one, two, links=[CALLS])) == ["reapplied", "reapplied"]
    assert (
        words(united(replace(one, aware=None), replace(two, aware=frozenset()), links=[CALLS]))
        == ["reapplied"] * 2
    )


def test_one_store_may_change_its_own_mind() -> None:
    one, two = of("one", ERASE, [CALLS], set()), replace(of("two", INSERT, [], set()), side="one")
    assert words(united(one, two, links=[CALLS])) == ["reapplied", "reapplied"]


def test_other_edges_are_no_business_of_the_other_store() -> None:
    one, two = of("one", DELETE, [USES], set()), of("two", INSERT, [], set())
    assert words(united(one, two, links=[USES])) == ["reapplied", "reapplied"]
