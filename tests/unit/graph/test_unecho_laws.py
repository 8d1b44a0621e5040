"""What holds of un-echoing whatever the graph, the refinements and the file."""

from __future__ import annotations

import json
import os
from typing import Any

from hypothesis import given, settings
from hypothesis import strategies as st

from deeprefine_graphdb.graph.base_view import ParsedBase
from deeprefine_graphdb.graph.unecho import unecho
from deeprefine_graphdb.graph.unecho_model import Unechoed
from deeprefine_graphdb.graph.view import GraphView
from deeprefine_graphdb.model.errors import DeepRefineError
from deeprefine_loaders.basefile import BaseFile
from deeprefine_loaders.graphfile import parse_graph
from tests.unit.graph.echoes import Export, base_of, by_graphify, exported, parsed, written
from tests.unit.graph.small import plan

few = settings(max_examples=int(os.environ.get("DEEPREFINE_TEST_EXAMPLES", "60")), deadline=None)
NAMES = [f"N{at}" for at in range(6)]
RELATIONS = ["calls", "uses", "has"]
FILES = ["a.py", "b.py", "", None]


@st.composite
def graphs(draw: st.DrawFn) -> dict[str, Any]:
    """Make a graph of nodes with names of their own, some links, and hyperedges."""
    nodes = [
        {
            "id": name.lower(),
            "label": name,
            "_origin": draw(st.sampled_from(["ast", "semantic"])),
            "source_file": draw(st.sampled_from(FILES)),
            "norm_label": name.lower(),
            "community": draw(st.integers(0, 2)),
        }
        for name in draw(st.lists(st.sampled_from(NAMES), min_size=2, unique=True))
    ]
    ids = st.sampled_from([node["id"] for node in nodes])
    links = [
        {
            "source": draw(ids),
            "target": draw(ids),
            "relation": draw(st.sampled_from(RELATIONS)),
            "source_file": draw(st.sampled_from(FILES)),
            "source_location": f"L{at}",
            "_origin": draw(st.sampled_from(["ast", "semantic"])),
            "weight": 1.0,
        }
        for at in range(draw(st.integers(0, 8)))
    ]
    hyperedges = [
        {"id": f"h{at}", "nodes": draw(st.lists(ids, min_size=1, max_size=3)), "label": "together"}
        for at in range(draw(st.integers(0, 2)))
    ]
    header = {"directed": False, "multigraph": draw(st.booleans()), "graph": {}}
    return {**header, "nodes": nodes, "links": links, "hyperedges": hyperedges}


names = st.sampled_from([*NAMES, "New one", "Other one"])
actions = st.one_of(
    st.builds(lambda s, r, o: f'insert_edge("{s}", "{r}", "{o}")', names, st.sampled_from(RELATIONS), names),
    st.builds(lambda s, r, o: f'delete_edge("{s}", "{r}", "{o}")', names, st.sampled_from(RELATIONS), names),
    st.builds(lambda old, new: f'replace_node("{old}", "{new}")', names, names),
)


def refined(base: bytes, answers: list[str]) -> Export:
    """Export what is left of these actions when those that are refused are left out."""
    view = GraphView(ParsedBase(parse_graph(base)))
    for number, answer in enumerate(answers, start=1):
        try:
            plan(GraphView(view.reader, view.overlay), answer, f"r{number}", number)
        except DeepRefineError:
            continue
    return exported(base, view)


@st.composite
def exports(draw: st.DrawFn) -> Export:
    graph = draw(graphs())
    base = (
        by_graphify(graph)
        if draw(st.booleans())
        else json.dumps(graph, indent=draw(st.sampled_from([None, 2]))).encode()
    )
    return refined(base, draw(st.lists(actions, max_size=6)))


@few
@given(exports())
def test_an_export_gives_the_bytes_of_its_base(made: Export) -> None:
    result = made.unecho(made.file)
    assert result.base.text.encode("latin-1") == made.base
    base_of(result)
    assert not [
        note for note in result.notes if note.kind in {"adopted", "gone", "stripped", "foreign", "returned"}
    ]


@few
@given(exports(), exports())
def test_a_file_without_stamps_and_manifest_is_the_base_as_it_stands(made: Export, other: Export) -> None:
    result = unecho(BaseFile.of(parse_graph(made.base)), [], parse_graph(other.base))
    assert result.base.text.encode("latin-1") == other.base
    assert result.manifest == ()


@st.composite
def steps(draw: st.DrawFn, data: dict[str, Any]) -> dict[str, Any]:
    """Make some other file of an exported one: objects dropped, kept, added, filled in, fused and relabelled."""
    nodes = [dict(node) for node in data["nodes"] if draw(st.integers(0, 5))]
    for node in nodes:
        if not draw(st.integers(0, 4)):
            node["community"] = draw(st.integers(3, 5))
        if not draw(st.integers(0, 9)):
            node["label"] = "Changed"
    links = [dict(link) for link in data["links"] if draw(st.integers(0, 4))]
    for link in links:
        if not draw(st.integers(0, 5)):
            link |= {
                key: value
                for key, value in draw(st.sampled_from(links)).items()
                if key not in {"source", "target", "relation"}
            }
    more = draw(st.booleans())
    if nodes and more:
        ends = st.sampled_from([node["id"] for node in nodes])
        links.append({"source": draw(ends), "target": draw(ends), "relation": "fresh", "_origin": "ast"})
        nodes.append({"id": "fresh", "label": "Fresh", "_origin": "ast", "source_file": "a.py"})
    return {**data, "nodes": nodes, "links": links}


def again(result: Unechoed, found: bytes) -> Unechoed:
    return unecho(BaseFile.of(result.base), result.manifest, parse_graph(found))


@few
@given(st.data(), exports())
def test_the_new_base_and_manifest_give_the_new_base_again(data: st.DataObject, made: Export) -> None:
    file = data.draw(steps(made.data))
    rewritten = data.draw(st.booleans())
    found = by_graphify(file) if rewritten else written(file)
    result = made.unecho(found)
    base_of(result)
    second = again(result, found)
    assert second.base.text == result.base.text
    assert second.manifest == result.manifest


@few
@given(st.data(), exports())
def test_the_manifest_is_the_exact_difference(data: st.DataObject, made: Export) -> None:
    file = data.draw(steps(made.data))
    result = made.unecho(by_graphify(file))
    base, found = parsed(result.base.text), file
    for kind, section in (("node", "nodes"), ("link", "links"), ("hyperedge", "hyperedges")):
        entries = [entry for entry in result.manifest if entry.object == kind]
        theirs = sorted(json.dumps(each, sort_keys=True) for each in found[section])
        for entry in entries:
            if entry.disk is not None:
                theirs.remove(json.dumps(json.loads(entry.disk), sort_keys=True))
            if entry.base is not None:
                theirs.append(json.dumps(json.loads(entry.base), sort_keys=True))
        assert sorted(theirs) == sorted(json.dumps(each, sort_keys=True) for each in base[section])
