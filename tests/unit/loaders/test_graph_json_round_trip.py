"""Whatever wrote a graph.json: it is read as JSON says, and comes back byte for byte."""

from __future__ import annotations

import json
import tempfile
from collections import Counter
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from deeprefine_loaders.basefile import BaseFile, write_base
from deeprefine_loaders.graphfile import parse_graph, read_graph
from deeprefine_loaders.header import KIND_OF_SECTION, Header
from deeprefine_loaders.identity import column_text, original_value, storable_text
from deeprefine_loaders.render import Edits, render, render_digest
from tests.unit.loaders.odd_files import Writer, documents, few, writers


def plain(data: bytes) -> dict[str, Any]:
    """Read a file with the standard library alone."""
    value: dict[str, Any] = json.loads(data.decode("utf-8-sig"), parse_int=lambda digits: digits)
    return value


def same(one: Any, other: Any) -> bool:
    """Compare two JSON values; NaN is itself."""
    return json.dumps(one) == json.dumps(other)


def sections_of(value: dict[str, Any]) -> dict[str, list[Any]]:
    """Give the lists of objects of a file in file order."""
    found: dict[str, list[Any]] = {}
    for name, member in value.items():
        if name in KIND_OF_SECTION and isinstance(member, list):
            found[name] = member
        elif name == "graph" and isinstance(member, dict) and isinstance(member.get("hyperedges"), list):
            found["graph.hyperedges"] = member["hyperedges"]
    return found


@few
@given(documents(), writers())
def test_an_odd_file_comes_back_byte_for_byte(value: dict[str, Any], writer: Writer) -> None:
    data = writer.write(value)
    graph = parse_graph(data)
    in_memory = BaseFile.of(graph)
    assert in_memory.bytes() == data
    assert b"".join(render(in_memory, Edits())) == data
    with tempfile.TemporaryDirectory() as name:
        write_base(graph, Path(name))
        on_disk = BaseFile.open(Path(name))
        assert on_disk.bytes() == data
        assert on_disk.header == graph.header
        assert on_disk.digest == render_digest(on_disk, Edits()) == graph.digest
        for key in graph.nodes.id:
            assert on_disk.slice("node", key) == graph.slice("node", key)
            assert on_disk.place("node", key) == in_memory.place("node", key)
            assert on_disk.raw_hash("node", key) == in_memory.raw_hash("node", key)
        on_disk.close()


@few
@given(documents(), writers())
def test_every_object_is_found_by_its_key_as_it_stands(value: dict[str, Any], writer: Writer) -> None:
    data = writer.write(value)
    graph, expected = parse_graph(data), sections_of(plain(data))
    base = BaseFile.of(graph)
    assert [section.name for section in base.header.sections] == list(expected)
    keys = {"node": graph.nodes.id, "link": graph.links.key, "hyperedge": graph.hyperedges.key}
    for kind, names in keys.items():
        assert len(set(names)) == len(names)
        places = [base.place(kind, key) for key in names]
        assert places == [
            (section, at)
            for section, objects in expected.items()
            if KIND_OF_SECTION[section] == kind
            for at in range(len(objects))
        ]
        for key, place in zip(names, places, strict=True):
            raw = base.slice(kind, key)
            assert place is not None
            assert raw is not None
            assert same(json.loads(raw, parse_int=lambda digits: digits), expected[place[0]][place[1]])
        assert base.slice(kind, "no such key") is None
        assert base.place(kind, "no such key") is None


@few
@given(documents(), writers())
def test_columns_say_what_the_objects_say(value: dict[str, Any], writer: Writer) -> None:
    graph = parse_graph(writer.write(value))
    nodes = value["nodes"]
    assert [original_value(key) for key in graph.nodes.id] == [node["id"] for node in nodes]
    for at, node in enumerate(nodes):
        label = node.get("label")
        label = node["id"] if label is None else label
        assert graph.nodes.label[at] == (
            storable_text(node["id"]) if node.get("label") is None else column_text(label)
        )
        for column, name in (
            ("norm_label", "norm_label"),
            ("source_file", "source_file"),
            ("origin", "_origin"),
        ):
            assert getattr(graph.nodes, column)[at] == column_text(node.get(name))
        assert graph.nodes.community[at] == column_text(node.get("community"))
    links = [link for name in value if name in {"links", "edges"} for link in value[name]]
    known = {storable_text(node["id"]) for node in nodes}
    pairs: Counter[frozenset[str]] = Counter()
    for at, link in enumerate(links):
        source = link["source"] if link.get("_src") is None else link["_src"]
        target = link["target"] if link.get("_tgt") is None else link["_tgt"]
        assert (graph.links.source[at], graph.links.target[at]) == (
            storable_text(source),
            storable_text(target),
        )
        told = [link[name] for name in ("relation", "relationship", "type") if link.get(name) is not None]
        assert graph.links.relation[at] == (column_text(told[0]) if told else "")
        assert graph.links.dangling[at] is not ({graph.links.source[at], graph.links.target[at]} <= known)
        assert graph.links.confidence[at] == column_text(link.get("confidence"))
        pairs[frozenset((graph.links.source[at], graph.links.target[at]))] += 1
    assert graph.header.parallel_pairs is any(count > 1 for count in pairs.values())
    listed = [item for objects in sections_of(value).items() if "hyper" in objects[0] for item in objects[1]]
    for members, item in zip(graph.hyperedges.members, listed, strict=True):
        found = item.get("nodes", item.get("members", []))
        assert members == tuple(storable_text(member) for member in found)


@few
@given(documents(), writers())
def test_the_header_says_how_the_file_is_written(value: dict[str, Any], writer: Writer) -> None:
    graph = parse_graph(writer.write(value))
    header = graph.header
    assert header.bom is writer.bom
    assert bool(graph.warnings) is writer.bom
    assert header.final_newline is (writer.final == "\n")
    assert header.directed is (value.get("directed") is True)
    assert header.multigraph is (value.get("multigraph") is True)
    assert header.has_multigraph is ("multigraph" in value)
    assert header.links_section == next((name for name in ("links", "edges") if name in value), "links")
    assert header.style.indent == (None if writer.indent is None else " " * writer.indent)
    assert Header.from_json(json.loads(json.dumps(header.to_json()))) == header


@few
@given(documents(), writers(), st.data())
def test_a_header_member_is_given_as_it_stands(
    value: dict[str, Any], writer: Writer, data: st.DataObject
) -> None:
    base = BaseFile.of(parse_graph(writer.write(value)))
    name = data.draw(st.sampled_from(list(value)))
    raw = base.member(name)
    assert raw is not None
    assert raw == writer.value(value[name], 1).replace("\n", writer.newline)
    assert base.member("no such member") is None


def test_equal_triples_get_keys_of_their_own_across_both_lists() -> None:
    link = {"source": "a", "target": "b", "relation": "calls"}
    data = json.dumps({"nodes": [{"id": "a"}, {"id": "b"}], "links": [link, link], "edges": [link]}).encode()
    graph = parse_graph(data)
    first = graph.links.key[0]
    assert graph.links.key == [first, f"{first}#1", f"{first}#2"]
    assert graph.header.parallel_pairs
    assert BaseFile.of(graph).place("link", f"{first}#2") == ("edges", 0)


def test_links_that_come_before_the_nodes_do_not_dangle() -> None:
    graph = parse_graph(b'{"links":[{"source":1,"target":1}],"nodes":[{"id":1}]}')
    assert graph.links.dangling == [False]
    assert graph.nodes.id == ["json:1"]


def test_sorted_lists_are_told_from_unsorted_ones() -> None:
    assert parse_graph(b'{"nodes":[{"id":"a"},{"id":"b"}],"links":[]}').header.nodes_sorted
    assert not parse_graph(b'{"nodes":[{"id":"b"},{"id":"a"}],"links":[]}').header.nodes_sorted


@pytest.mark.parametrize("name", ["requests", "flask"])
def test_a_real_graph_comes_back_byte_for_byte(
    name: str, tmp_path: Path, real_graph: dict[str, bytes]
) -> None:
    path = tmp_path / "graph.json"
    path.write_bytes(real_graph[name])
    graph = read_graph(path)
    write_base(graph, tmp_path)
    base = BaseFile.open(tmp_path)
    assert b"".join(render(base, Edits())) == real_graph[name]
    expected = json.loads(real_graph[name])
    assert graph.nodes.id == [node["id"] for node in expected["nodes"]]
    assert len(graph.links.key) == len(expected["links"]) == base.count("links")
    assert not any(graph.links.dangling)
    assert graph.header.nodes_sorted
    assert graph.header.links_sorted
    assert graph.header.relation_member == "relation"
    for key, link in zip(graph.links.key[::97], expected["links"][::97], strict=True):
        assert json.loads(base.slice("link", key) or "") == link
