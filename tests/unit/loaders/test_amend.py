"""Taking elements out of a parsed file and putting others in is the same as parsing the other file."""

from __future__ import annotations

import dataclasses
import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from deeprefine_loaders.amend import Amendments, amend
from deeprefine_loaders.basefile import BaseFile
from deeprefine_loaders.errors import FormatError
from deeprefine_loaders.graphfile import GraphFile, parse_graph
from deeprefine_loaders.header import KIND_OF_SECTION
from deeprefine_loaders.objects import new_object
from tests.unit.loaders.odd_files import Writer, documents, few, hyperedges, links, nodes, writers


def told(graph: GraphFile) -> dict[str, Any]:
    """Give all that a parse says of a file."""
    header = dataclasses.replace(graph.header, relation_member="")
    spans = {name: found.flat().tolist() for name, found in graph.spans.items()}
    columns = [dataclasses.asdict(each) for each in (graph.nodes, graph.links, graph.hyperedges)]
    return {
        "text": graph.text,
        "digest": graph.digest,
        "header": header,
        "columns": columns,
        "spans": spans,
        "order": list(spans),
        "warnings": graph.warnings,
        "index": graph.index_bytes if header == graph.header else None,
    }


@st.composite
def amendments(draw: st.DrawFn, graph: GraphFile) -> Amendments:
    made = Amendments()
    for section in graph.header.sections:
        kind = KIND_OF_SECTION[section.name]
        fresh = {"node": nodes, "link": links, "hyperedge": hyperedges}[kind]
        ordinals = st.sets(st.integers(0, section.count - 1)) if section.count else st.just(set())
        made.removed |= {(section.name, ordinal) for ordinal in draw(ordinals)}
        places = draw(st.lists(st.integers(0, section.count), max_size=4))
        values = draw(st.lists(fresh, min_size=len(places), max_size=len(places)))
        if kind == "node":
            values = [{**value, "id": f"new {at}"} for at, value in enumerate(values)]
        texts = [new_object(value, graph.header, section.name) for value in values]
        made.inserted[section.name] = list(zip(places, texts, strict=True))
    if draw(st.booleans()):
        made.header["multigraph"] = draw(st.sampled_from(["true", "false"]))
        members = [member.name for member in graph.header.members]
        if draw(st.booleans()) and "multigraph" in members and len(members) > 2:
            made.header["multigraph"] = None
    return made


@few
@given(documents(), writers(), st.data())
def test_an_amended_file_is_what_a_parse_of_its_bytes_gives(
    value: dict[str, Any], writer: Writer, data: st.DataObject
) -> None:
    try:
        graph = parse_graph(writer.write(value))
    except FormatError:
        return
    made = data.draw(amendments(graph))
    amended = amend(graph, made)
    fresh = parse_graph(amended.graph.text.encode("latin-1"))
    assert told(amended.graph) == told(fresh)
    for name, ordinals in amended.inserted.items():
        for ordinal, (_, text) in zip(ordinals, made.inserted[name], strict=True):
            spans = fresh.spans[name]
            raw = fresh.text[spans.starts[ordinal] : spans.ends[ordinal]]
            assert raw.encode("latin-1").decode("utf-8") == text


def test_what_was_taken_out_goes_back_to_the_same_bytes() -> None:
    value = {"nodes": [{"id": f"n{at}"} for at in range(4)], "links": [], "hyperedges": []}
    data = json.dumps(value, indent=2).encode()
    graph = parse_graph(data)
    out = amend(graph, Amendments(removed={("nodes", 1), ("nodes", 2)})).graph
    assert [node["id"] for node in json.loads(out.text)["nodes"]] == ["n0", "n3"]
    back = [(1, graph.slice("node", "n1") or ""), (1, graph.slice("node", "n2") or "")]
    again = amend(out, Amendments(inserted={"nodes": back}))
    assert again.graph.text.encode("latin-1") == data
    assert again.inserted == {"nodes": [1, 2]}


def test_a_node_that_is_there_is_not_put_in_again() -> None:
    graph = parse_graph(b'{"nodes":[{"id":"a"}],"links":[]}')
    with pytest.raises(FormatError, match="two nodes"):
        amend(graph, Amendments(inserted={"nodes": [(1, '{"id":"a"}')]}))


def test_a_section_that_the_file_lacks_is_named() -> None:
    graph = parse_graph(b'{"nodes":[{"id":"a"}]}')
    with pytest.raises(KeyError, match="links"):
        amend(graph, Amendments(inserted={"links": [(0, "{}")]}))


def test_a_base_names_what_another_file_lacks() -> None:
    link = {"source": "a", "target": "a", "relation": "r"}
    value = {"nodes": [{"id": "a"}, {"id": "b"}], "edges": [link, link], "links": [link]}
    base = BaseFile.of(parse_graph(json.dumps(value).encode()))
    other = parse_graph(json.dumps({"nodes": [{"id": "b"}], "links": [link]}).encode())
    assert [(gone.section, gone.ordinal) for gone in base.missing("node", other.nodes.id)] == [("nodes", 0)]
    gone_links = base.missing("link", other.links.key)
    assert [(gone.section, gone.ordinal) for gone in gone_links] == [("edges", 1), ("links", 0)]
    assert base.missing("hyperedge", ()) == []
