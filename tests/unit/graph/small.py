"""The smallest graphs that show a behaviour, as parsed bases to plan on."""

from __future__ import annotations

import json
from typing import Any

from deeprefine_graphdb.grammar.actions import parse_answer
from deeprefine_graphdb.graph.base_view import ParsedBase
from deeprefine_graphdb.graph.plan import RefinementPlan, plan_refinement
from deeprefine_graphdb.graph.render import graph_bytes
from deeprefine_graphdb.graph.view import GraphView
from deeprefine_graphdb.stores.protocol import Touched
from deeprefine_loaders.graphfile import parse_graph


def node(entity_id: Any, label: Any = None, **members: Any) -> dict[str, Any]:
    shown = {} if label is None else {"label": label}
    return {"id": entity_id, **shown, **members}


def link(source: Any, relation: Any, target: Any, **members: Any) -> dict[str, Any]:
    return {"source": source, "target": target, "relation": relation, **members}


def graph(nodes: list[dict[str, Any]], links: list[dict[str, Any]], **header: Any) -> ParsedBase:
    data = {"directed": False, "multigraph": False, **header, "nodes": nodes, "links": links}
    return ParsedBase(parse_graph(json.dumps(data, separators=(",", ":")).encode()))


def view(nodes: list[dict[str, Any]], links: list[dict[str, Any]], **header: Any) -> GraphView:
    return GraphView(graph(nodes, links, **header))


def plan(on: GraphView, answer: str, refinement_id: str = "r1", record_seq: int = 1) -> RefinementPlan:
    actions = parse_answer(f"<refinement>{answer}</refinement>")
    return plan_refinement(on, refinement_id, list(enumerate(actions, start=1)), record_seq)


def rendered(on: GraphView) -> dict[str, Any]:
    """Give the file that an export of the view would write, parsed."""
    laid = on.overlay
    touched = Touched(tuple(laid.entities.values()), tuple(laid.edges.values()), tuple(laid.loose.values()))
    data: dict[str, Any] = json.loads(b"".join(graph_bytes(on.base, touched)))
    return data


def triples(data: dict[str, Any]) -> list[tuple[Any, Any, Any]]:
    return [(each["source"], each["relation"], each["target"]) for each in data["links"]]
