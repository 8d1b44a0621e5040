"""Edges of a merged entity are retired by few statements, those that an earlier merge moved there too."""

from __future__ import annotations

from collections import Counter

from deeprefine_graphdb.graph.compile import compile_overlay
from deeprefine_graphdb.graph.setwise import SETWISE_FROM
from deeprefine_graphdb.graph.view import GraphView
from tests.unit.graph.committed import Committed
from tests.unit.graph.small import graph, link, node, plan


def test_a_chain_of_merges_moves_all_edges_at_once_every_time() -> None:
    count = SETWISE_FROM + 5
    nodes = [node(name, name.upper()) for name in ("a", "b", "c")]
    nodes += [node(f"n{at}", f"N{at}") for at in range(count)]
    store = Committed(graph(nodes, [link("a", "calls", f"n{at}") for at in range(count)]))
    for number, (old, new) in enumerate((("A", "B"), ("B", "C")), start=1):
        planned = plan(GraphView(store), f'replace_node("{old}", "{new}")', f"r{number}", number)
        names = Counter(statement.name for statement in compile_overlay(planned.view.overlay))
        assert names["graph/edges_move_out"] == names["graph/edges_move_in"] == 1
        assert names["graph/edges_remake_out"] == 1
        assert not names["graph/edge_retire"] + names["graph/edge_set"] + names["graph/edge_add"]
        store.write(planned.view.overlay)
