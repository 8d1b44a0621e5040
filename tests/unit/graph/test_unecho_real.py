"""Un-echoing a real graph after many refinements: to the byte, and with the columns that a parse would give."""

from __future__ import annotations

import lzma
import random
from pathlib import Path

import pytest

from deeprefine_graphdb.graph.base_view import ParsedBase
from deeprefine_graphdb.graph.plan import plan_refinement
from deeprefine_graphdb.graph.view import GraphView
from deeprefine_graphdb.model.actions import Action, DeleteEdge, InsertEdge, ReplaceNode
from deeprefine_graphdb.model.errors import DeepRefineError
from deeprefine_loaders.graphfile import parse_graph
from tests.unit.graph.echoes import Export, Json, base_of, by_graphify, exported, parsed

DATA = Path(__file__).parents[2] / "data"
TRIED = 250


@pytest.fixture(scope="module")
def made() -> Export:
    """Export a real graph after some hundred refinements of one action each."""
    base = lzma.decompress((DATA / "flask.graph.json.xz").read_bytes())
    graph = parse_graph(base)
    view = GraphView(ParsedBase(graph))
    chance = random.Random(7)
    ids, links = graph.nodes.id, graph.links
    for number in range(1, TRIED):
        at = chance.randrange(len(links.key))
        tried: list[Action] = [
            InsertEdge(
                subject=chance.choice(ids), relation="relates", object=chance.choice([*ids, f"New {number}"])
            ),
            InsertEdge(subject=f"New {number}", relation="relates", object=chance.choice(ids)),
            InsertEdge(subject=links.source[at], relation="relates", object=links.target[at]),
            DeleteEdge(subject=links.source[at], relation=links.relation[at], object=links.target[at]),
            ReplaceNode(old=chance.choice(ids), new=f"Renamed {number}"),
            ReplaceNode(old=chance.choice(ids), new=chance.choice(ids)),
        ]
        try:
            plan_refinement(
                GraphView(view.reader, view.overlay), f"r{number}", [(1, chance.choice(tried))], number
            )
        except DeepRefineError:
            continue
    return exported(base, view)


def test_the_export_holds_every_kind_of_difference(made: Export) -> None:
    assert {entry.kind for entry in made.manifest} >= {"added", "changed", "removed", "moved"}
    assert len(made.manifest) > TRIED


def test_an_export_of_a_real_graph_gives_the_bytes_of_its_base(made: Export) -> None:
    assert made.unecho(made.file).base.text.encode("latin-1") == made.base


def test_a_real_graph_that_was_clustered_anew_gives_the_base_clustered_anew(made: Export) -> None:
    def clustered(data: Json) -> bytes:
        for node in data["nodes"]:
            node["community"] = len(node["id"]) % 7
        return by_graphify(data)

    result = made.unecho(clustered(made.data))
    kept = {parsed(each.raw)["id"]: parsed(each.raw) for each in result.unconfirmed if each.object == "node"}
    assert kept
    wanted = parsed(clustered(parsed(made.base)))
    wanted["nodes"] = [kept.get(node["id"], node) for node in wanted["nodes"]]
    base_of(result)
    assert result.base.text.encode("latin-1") == by_graphify(wanted)
