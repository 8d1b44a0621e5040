"""Merging entities of many edges leaves in the store exactly the rows that were planned, on every engine."""

from __future__ import annotations

import random
from typing import Any

import pytest

from deeprefine_graphdb.grammar.actions import parse_answer
from deeprefine_graphdb.graph.compile import compile_overlay
from deeprefine_graphdb.graph.plan import plan_refinement
from deeprefine_graphdb.graph.render import graph_bytes
from deeprefine_graphdb.graph.view import GraphView
from deeprefine_graphdb.model.write import WritePlan
from deeprefine_graphdb.stores.protocol import Touched
from tests.contract.harness import Harness

pytestmark = pytest.mark.engine
HUBS = ("a", "b", "c", "d")


def _hubs(seed: int) -> dict[str, Any]:
    draw = random.Random(seed)
    names = [*HUBS, *(f"n{at}" for at in range(60))]
    links = [
        {"source": source, "target": target, "relation": draw.choice(["calls", "uses"]), "weight": at}
        for hub in HUBS[:3]
        for at in range(draw.choice([20, 60, 90]))
        for source, target in [draw.sample([hub, draw.choice(names)], 2)]
    ]
    return {
        "directed": True,
        "multigraph": draw.random() < 0.5,
        "nodes": [{"id": name, "label": name.upper()} for name in names],
        "links": links,
    }


def _rows(touched: Touched) -> list[str]:
    return sorted(row.model_dump_json() for row in (*touched.entities, *touched.edges, *touched.loose))


@pytest.mark.parametrize("seed", range(6))
def test_the_store_holds_what_was_planned(harness: Harness, seed: int) -> None:
    harness.load(_hubs(seed))
    answers: tuple[str, ...] = (
        'replace_node("A", "B")',
        'replace_node("B", "C")|insert_edge("N1", "calls", "D")',
        'insert_edge("C", "likes", "N3")|replace_node("C", "D")',
    )
    if seed % 3 == 0:
        answers = ('replace_node("A", "B")|replace_node("B", "C")', 'replace_node("C", "D")')
    elif seed % 3 == 1:
        answers = ('insert_edge("E", "calls", "A")|replace_node("A", "E")|replace_node("B", "E")',)
    for number, answer in enumerate(answers, start=1):
        with harness.open() as store:
            view = GraphView(store)
            actions = list(enumerate(parse_answer(f"<refinement>{answer}</refinement>"), start=1))
            plan_refinement(view, f"r{number}", actions, number)
            overlay = view.overlay
            before = store.touched()
            keys = {row.key for row in overlay.edges.values()}
            expected = Touched(
                [
                    *(row for row in before.entities if row.id not in overlay.entities),
                    *overlay.entities.values(),
                ],
                [*(row for row in before.edges if row.key not in keys), *overlay.edges.values()],
                [*(row for row in before.loose if row.key not in overlay.loose), *overlay.loose.values()],
            )
            store.write(WritePlan(statements=compile_overlay(overlay), revision=number - 1))
            assert _rows(store.touched()) == _rows(expected)
        with harness.open("read") as store:
            assert _rows(store.touched()) == _rows(expected)
            assert b"".join(graph_bytes(store.base, store.touched()))
            for name in HUBS:
                ids = [row.key for row in store.edges_of(name)]
                wanted = [row.key for row in GraphView(store).edges_of(name)]
                assert ids == wanted == sorted(set(ids))
                between = {row.key for row in store.neighbours(name, 1000)}
                assert between == set(ids)
