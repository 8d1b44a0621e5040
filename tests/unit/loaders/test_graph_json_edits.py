"""Edits change the objects that they name and nothing else, and write as the file's own program would have."""

from __future__ import annotations

import copy
import hashlib
import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from deeprefine_loaders.basefile import BaseFile
from deeprefine_loaders.graphfile import parse_graph
from deeprefine_loaders.header import KIND_OF_SECTION
from deeprefine_loaders.objects import edit_object, new_object, read_object
from deeprefine_loaders.render import Edits, render, render_digest
from tests.unit.loaders.odd_files import Writer, documents, few, lone_texts, texts, values, writers
from tests.unit.loaders.test_graph_json_round_trip import plain, same, sections_of

new_values = st.none() | st.booleans() | st.integers(-9, 9) | lone_texts | st.lists(lone_texts, max_size=3)
changes = st.dictionaries(
    st.sampled_from(["label", "weight", "source", "nodes", "new", "ünew"]), new_values, min_size=1
)
new_members = st.fixed_dictionaries(
    {"id": texts}, optional={"label": lone_texts, "n": st.just(0.55), "m": new_values}
)


def keys_by_section(base: BaseFile, graph: Any) -> dict[str, list[tuple[str, str]]]:
    """Give (kind, key) of every element, by section."""
    found: dict[str, list[tuple[str, str]]] = {section.name: [] for section in base.header.sections}
    for kind, keys in (
        ("node", graph.nodes.id),
        ("link", graph.links.key),
        ("hyperedge", graph.hyperedges.key),
    ):
        for key in keys:
            place = base.place(kind, key)
            assert place is not None
            found[place[0]].append((kind, key))
    return found


def draw_edits(
    data: st.DataObject, base: BaseFile, graph: Any, value: dict[str, Any]
) -> tuple[Edits, dict[str, Any]]:
    """Draw edits, and what the file's value is with them."""
    edits, expected = Edits(), copy.deepcopy(value)
    header = base.header
    for section, keys in keys_by_section(base, graph).items():
        objects = expected["graph"]["hyperedges"] if section == "graph.hyperedges" else expected[section]
        kept = []
        for (kind, key), item in zip(keys, objects, strict=True):
            what = data.draw(st.sampled_from(["keep", "keep", "change", "remove"]))
            if what == "remove":
                edits.removed.add((kind, key))
                continue
            if what == "change":
                raw = base.slice(kind, key)
                assert raw is not None
                wanted = data.draw(changes)
                dropped = data.draw(st.sets(st.sampled_from([*item, "absent"]), max_size=2)) - wanted.keys()
                edits.replaced[kind, key] = edit_object(raw, wanted, dropped, header=header)
                for name in dropped:
                    item.pop(name, None)
                item |= wanted
            kept.append(item)
        objects[:] = kept
    if data.draw(st.booleans()):
        edits.header["multigraph"] = "true"
        expected["multigraph"] = True
    for section in data.draw(st.sets(st.sampled_from(["nodes", "links", "hyperedges"]))):
        if section not in expected or isinstance(expected[section], list):
            added = data.draw(st.lists(new_members, min_size=1, max_size=3))
            edits.appended[section] = [new_object(members, header, section) for members in added]
            expected[section] = expected.get(section, []) + added
    return edits, expected


@few
@given(documents(), writers(), st.data())
def test_edited_files_hold_what_was_asked_and_keep_the_rest(
    value: dict[str, Any], writer: Writer, data: st.DataObject
) -> None:
    before = writer.write(value)
    graph = parse_graph(before)
    base = BaseFile.of(graph)
    edits, _ = draw_edits(data, base, graph, value)
    after = b"".join(render(base, edits))
    assert render_digest(base, edits) == hashlib.sha256(after).hexdigest()
    old, new = sections_of(plain(before)), sections_of(plain(after))
    for section, keys in keys_by_section(base, graph).items():
        wanted = []
        for at, (kind, key) in enumerate(keys):
            if (kind, key) in edits.replaced:
                wanted.append(json.loads(edits.replaced[kind, key], parse_int=lambda digits: digits))
            elif (kind, key) not in edits.removed:
                wanted.append(old[section][at])
        wanted += [
            json.loads(raw, parse_int=lambda digits: digits) for raw in edits.appended.get(section, [])
        ]
        assert same(new[section], wanted)
    rest = {name: member for name, member in plain(after).items() if name not in new and name != "graph"}
    was = {name: member for name, member in plain(before).items() if name not in old and name != "graph"}
    assert same(rest, was | ({"multigraph": True} if edits.header else {}))


@few
@given(documents(), writers(), st.data())
def test_edits_read_as_if_the_files_own_program_had_made_them(
    value: dict[str, Any], writer: Writer, data: st.DataObject
) -> None:
    # What shows how a file is written: members, items, escapes.
    value = {"directed": False, "about": ["<>&'+`\"", "ü\x01"], **value}
    for name in ("nodes", *(name for name in ("links", "edges") if name in value)):
        first = {"source": "q", "target": "q", "weight": [1, 2]}
        value[name] = [
            {"id": "q", "label": "r", "aliases": ["x", "y"]} if name == "nodes" else first,
            *value[name],
        ]
    for name, objects in sections_of(value).items():
        if "hyperedges" in name:
            objects[:] = [{"label": "h", **item} for item in objects]
    graph = parse_graph(writer.write(value))
    base = BaseFile.of(graph)
    edits, expected = draw_edits(data, base, graph, value)
    assert b"".join(render(base, edits)) == writer.write(expected)


@few
@given(documents(), writers(), st.data())
def test_bytes_outside_a_changed_object_stay(
    value: dict[str, Any], writer: Writer, data: st.DataObject
) -> None:
    before = writer.write(value)
    graph = parse_graph(before)
    base = BaseFile.of(graph)
    every = [pair for pairs in keys_by_section(base, graph).values() for pair in pairs]
    edits = Edits()
    spans = []
    for kind, key in every:
        if data.draw(st.booleans()):
            place, raw = base.place(kind, key), base.slice(kind, key)
            assert place is not None
            assert raw is not None
            edits.replaced[kind, key] = edit_object(raw, {"_deeprefine": "x"}, header=base.header)
            spans.append((*base.span(*place), edits.replaced[kind, key]))
    expected = before
    for start, end, raw in sorted(spans, reverse=True):
        assert sections_of(plain(b'{"nodes":[' + before[start:end] + b"]}"))["nodes"]
        expected = expected[:start] + raw.encode() + expected[end:]
    assert b"".join(render(base, edits)) == expected


@few
@given(documents(), writers(), st.data())
def test_taking_added_objects_out_again_gives_the_first_bytes(
    value: dict[str, Any], writer: Writer, data: st.DataObject
) -> None:
    before = writer.write(value)
    base = BaseFile.of(parse_graph(before))
    sections = {
        section.name: new_object({"id": "new", "source": 1}, base.header, section.name)
        for section in base.header.sections
    }
    after = b"".join(
        render(
            base,
            Edits(appended={name: [raw, raw.replace('"new"', '"new2"')] for name, raw in sections.items()}),
        )
    )
    graph = parse_graph(after)
    again = BaseFile.of(graph)
    removed = {pair for pairs in keys_by_section(again, graph).values() for pair in pairs[-2:]}
    assert b"".join(render(again, Edits(removed=removed))) == before


@few
@given(st.dictionaries(texts, values, max_size=5), writers(), changes, st.sets(texts, max_size=2))
def test_a_changed_object_keeps_every_other_member_to_the_letter(
    members: dict[str, Any], writer: Writer, wanted: dict[str, Any], dropped: set[str]
) -> None:
    raw = writer.value(members, 0).replace("\n", writer.newline)
    edited = edit_object(raw, wanted, dropped - wanted.keys())
    expected = {
        name: value for name, value in members.items() if name not in dropped - wanted.keys()
    } | wanted
    assert same(json.loads(edited, parse_int=str), json.loads(json_of(expected), parse_int=str))
    for name, value in expected.items():
        if name not in wanted:
            assert writer.value(value, 1).replace("\n", writer.newline) in edited
    edited.encode("utf-8")


def json_of(value: Any) -> str:
    """Write a value that may hold numbers with a text of their own."""
    return Writer().value(value, 0)


def test_a_member_that_is_as_wanted_keeps_its_text() -> None:
    raw = '{ "weight" : 1.10, "label": "\\u00e9" , "n":1e2}'
    assert edit_object(raw, {"weight": 1.1, "label": "é", "n": 100.0}) == raw
    assert edit_object(raw, {"weight": 1.2}) == '{ "weight" : 1.2, "label": "\\u00e9" , "n":1e2}'


def test_of_a_name_that_stands_twice_the_last_counts() -> None:
    raw = '{"label":"a","x":1,"label":"b"}'
    assert read_object(raw)["label"] == "b"
    assert edit_object(raw, {"label": "c"}) == '{"label":"a","x":1,"label":"c"}'
    assert edit_object(raw, {}, {"label"}) == '{"x":1}'


@pytest.mark.parametrize(
    ("raw", "drop", "expected"),
    [
        ('{"a": 1, "b": 2, "c": 3}', {"a"}, '{"b": 2, "c": 3}'),
        ('{"a": 1, "b": 2, "c": 3}', {"b"}, '{"a": 1, "c": 3}'),
        ('{"a": 1, "b": 2, "c": 3}', {"c"}, '{"a": 1, "b": 2}'),
        ('{\n  "a": 1\n}', {"a"}, "{}"),
        ("{}", {"a"}, "{}"),
    ],
)
def test_dropping_members_leaves_an_object(raw: str, drop: set[str], expected: str) -> None:
    assert edit_object(raw, {}, drop) == expected


def test_a_list_is_laid_out_as_the_one_it_replaces() -> None:
    raw = '{\n    "nodes": ["a", "b"],\n    "x": 1\n  }'
    assert edit_object(raw, {"nodes": ["a", "c", "d"]}) == raw.replace('["a", "b"]', '["a", "c", "d"]')
    raw = '{\n    "nodes": [\n      "a"\n    ]\n  }'
    assert edit_object(raw, {"nodes": ["b", "c"]}) == '{\n    "nodes": [\n      "b",\n      "c"\n    ]\n  }'


def test_lone_surrogates_are_written_escaped_in_a_raw_utf8_file() -> None:
    raw = '{"label":"日本"}'
    edited = edit_object(raw, {"label": "日\ud83d"})
    assert edited == '{"label":"日\\ud83d"}'
    assert edited.encode("utf-8")


def test_a_missing_list_and_a_missing_multigraph_are_made() -> None:
    base = BaseFile.of(parse_graph(b'{"nodes": [{"id": "a", "label": "A"}]}'))
    edits = Edits(header={"multigraph": "true"})
    edits.appended["links"] = [new_object({"source": "a", "target": "a"}, base.header, "links")]
    assert b"".join(render(base, edits)) == (
        b'{"nodes": [{"id": "a", "label": "A"}], "multigraph": true, "links": [{"source": "a", "target": "a"}]}'
    )


def test_an_empty_list_is_filled_and_a_list_is_emptied() -> None:
    base = BaseFile.of(
        parse_graph(b'{\n  "nodes": [\n    {\n      "id": "a"\n    }\n  ],\n  "links": []\n}\n')
    )
    edits = Edits(removed={("node", "a")})
    edits.appended["links"] = [new_object({"source": "a", "target": "b"}, base.header, "links")]
    assert b"".join(render(base, edits)).decode() == (
        '{\n  "nodes": [],\n  "links": [\n    {\n      "source": "a",\n      "target": "b"\n    }\n  ]\n}\n'
    )


def test_edits_of_what_is_not_there_are_refused() -> None:
    base = BaseFile.of(parse_graph(b'{"nodes":[{"id":"a"}],"links":[]}'))
    with pytest.raises(KeyError, match="no node b"):
        list(render(base, Edits(removed={("node", "b")})))
    with pytest.raises(ValueError, match="nodes is a section"):
        list(render(base, Edits(header={"nodes": "[]"})))
    with pytest.raises(ValueError, match="no hyperedges under graph"):
        list(render(base, Edits(appended={"graph.hyperedges": ["{}"]})))


def test_removing_everything_from_a_real_graph_leaves_empty_lists(real_graph: dict[str, bytes]) -> None:
    graph = parse_graph(real_graph["requests"])
    base = BaseFile.of(graph)
    removed = {("node", key) for key in graph.nodes.id} | {("link", key) for key in graph.links.key}
    expected = json.loads(real_graph["requests"]) | {"nodes": [], "links": []}
    assert (
        b"".join(render(base, Edits(removed=removed))) == json.dumps(expected, separators=(",", ":")).encode()
    )
    assert KIND_OF_SECTION["links"] == "link"
