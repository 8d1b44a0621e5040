"""Refinements made on one small graph and carried out again on another."""

from __future__ import annotations

from typing import Any

from deeprefine_graphdb.graph.base_view import ParsedBase
from deeprefine_graphdb.graph.derive import ActiveRefinement, Derived, Given, derive
from deeprefine_graphdb.graph.view import GraphView
from deeprefine_graphdb.model.actions import Effect, Resolution
from tests.unit.graph.small import graph, link, node, plan, rendered, triples

Node = dict[str, Any]

A = node("a", "A", source_file="a.py", file_type="code")
B = node("b", "B", source_file="b.py", file_type="code")
C = node("c", "C", source_file="c.py", file_type="code")
NODES = [A, B, C]
USES = link("a", "uses", "b", confidence="INFERRED", source_file="a.py", source_location="L1")

INSERT = 'insert_edge("A", "calls", "B")'
DELETE = 'delete_edge("A", "uses", "B")'
RENAME = 'replace_node("A", "Anew")'
MERGE = 'replace_node("A", "B")'


def but(base: list[Node], entity_id: str, **changes: Any) -> list[Node]:
    """Give nodes of which one is changed; a member that is ``None`` is left out."""
    return [
        {name: value for name, value in {**each, **changes}.items() if value is not None}
        if each["id"] == entity_id
        else each
        for each in base
    ]


def without(base: list[Node], *entity_ids: str) -> list[Node]:
    return [each for each in base if each["id"] not in entity_ids]


def made_on(base: ParsedBase, *answers: str) -> list[ActiveRefinement]:
    """Plan each answer as a refinement ``r1``, ``r2`` … after the ones before it."""
    view = GraphView(base)
    active = []
    for number, answer in enumerate(answers, start=1):
        done = plan(GraphView(base, view.overlay), answer, f"r{number}", number)
        active.append(ActiveRefinement(done.id, number, done.bound))
    return active


def rebase(
    answers: str | tuple[str, ...],
    nodes: list[Node],
    links: list[Node],
    *,
    before: tuple[list[Node], list[Node]] = (NODES, [USES]),
    given: Given = Given(),  # noqa: B008 - frozen, so one for all calls is safe
) -> Derived:
    """Make refinements on the graph before, and derive them on the graph of these nodes and links."""
    asked = (answers,) if isinstance(answers, str) else answers
    return derive(graph(nodes, links), made_on(graph(*before), *asked), given)


def words(derived: Derived) -> list[str]:
    return [effect.outcome for effect in derived.effects]


def only(derived: Derived) -> Effect:
    (effect,) = derived.effects
    return effect


def edges(derived: Derived) -> list[tuple[Any, Any, Any]]:
    return triples(rendered(derived.view))


def labels(derived: Derived) -> dict[str, str]:
    return {each["id"]: each["label"] for each in rendered(derived.view)["nodes"]}


def answer(effect: Effect, keep: Any, choice: str | None = None) -> Given:
    """Answer one conflict."""
    word = Resolution(action=effect.id, keep=keep, kind=effect.outcome, ground=effect.ground, choice=choice)
    return Given(resolutions=(word,))
