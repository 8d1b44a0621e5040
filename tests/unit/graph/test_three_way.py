"""Two bases that grew from a third: the merge is the same whoever makes it, and nothing that one side did is lost."""

from __future__ import annotations

import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from deeprefine_graphdb.graph.three_way import Merged, three_way
from deeprefine_loaders.graphfile import GraphFile, parse_graph
from tests.unit.loaders.odd_files import few

IDS = "abcdef"
Content = dict[str, Any]


def node(name: str, **more: Any) -> Content:
    return {"id": name, "label": name.upper(), **more}


def link(source: str, relation: str, target: str, **more: Any) -> Content:
    return {"source": source, "target": target, "relation": relation, **more}


def content(nodes: list[Content], links: list[Content], **header: Any) -> Content:
    return {
        "directed": False,
        "multigraph": False,
        "graph": {},
        **header,
        "nodes": nodes,
        "links": links,
    }


def file(made: Content, indent: int | None = None) -> GraphFile:
    return parse_graph(json.dumps(made, indent=indent).encode())


def merged(was: Content, ours: Content, theirs: Content) -> tuple[Content, Merged]:
    one = three_way(file(was), file(ours), file(theirs))
    other = three_way(file(was), file(theirs), file(ours))
    assert one.graph.text == other.graph.text
    assert one.notes == other.notes
    found: Content = json.loads(one.graph.text.encode("latin-1"))
    return found, one


values = st.sampled_from([None, 0, 1, 2.5, True, "x", "y", ["x"], {"k": 1}])
fields = st.dictionaries(st.sampled_from(["community", "source_file", "weight"]), values, max_size=3)


@st.composite
def contents(draw: st.DrawFn) -> Content:
    names = draw(st.lists(st.sampled_from(IDS), unique=True, max_size=6))
    ends = st.sampled_from([*names, "nowhere"])
    relations = st.sampled_from(["calls", "uses"])
    links = draw(st.lists(st.builds(link, ends, relations, ends), max_size=6))
    nodes = [node(name, **draw(fields)) for name in names]
    header: Content = {}
    if draw(st.booleans()):
        ids = draw(st.lists(st.sampled_from("hi"), unique=True))
        members = st.lists(ends, min_size=1, max_size=3)
        header["hyperedges"] = [{"id": one, "nodes": draw(members)} for one in ids]
    header |= draw(st.dictionaries(st.sampled_from(["built", "tool"]), values, max_size=2))
    links = [{**each, **draw(fields)} for each in links]
    if draw(st.booleans()):
        nodes.sort(key=lambda each: json.dumps(each, sort_keys=True, separators=(",", ":")))
        links.sort(key=lambda each: json.dumps(each, sort_keys=True, separators=(",", ":")))
    return content(nodes, links, **header)


@few
@given(contents(), contents(), contents())
def test_whoever_merges_gets_the_same_file(was: Content, ours: Content, theirs: Content) -> None:
    merged(was, ours, theirs)


@few
@given(contents(), contents(), st.sampled_from([None, 1, 2]))
def test_a_side_that_did_not_change_has_no_part_in_it(
    was: Content, ours: Content, indent: int | None
) -> None:
    first, changed = file(was, indent), file(ours)
    assert three_way(first, changed, first).graph.text == changed.text
    assert three_way(first, first, changed).graph.text == changed.text
    assert three_way(first, changed, file(ours)).graph.text == changed.text


@few
@given(contents(), st.data())
def test_what_both_added_is_there_and_nothing_else(was: Content, data: st.DataObject) -> None:
    def grown(names: list[str]) -> Content:
        nodes = [node(name, side=names[0]) for name in names]
        known = [each["id"] for each in was["nodes"]]
        to = data.draw(st.lists(st.sampled_from([*known, *names]), max_size=4))
        links = [link(names[0], f"r{at}", each) for at, each in enumerate(to)]
        return {**was, "nodes": [*was["nodes"], *nodes], "links": [*was["links"], *links]}

    ours, theirs = grown(["o1", "o2"]), grown(["t1"])
    found, report = merged(was, ours, theirs)
    assert not report.notes

    def said(made: Content, what: str) -> list[str]:
        return [json.dumps(each, sort_keys=True) for each in made[what]]

    for what in ("nodes", "links"):
        old = said(was, what)
        new = [each for side in (ours, theirs) for each in said(side, what)[len(old) :]]
        assert sorted(said(found, what)) == sorted([*old, *new])


BASE = content([node("a"), node("b"), node("c")], [link("a", "calls", "b"), link("b", "uses", "c")])


def test_fields_of_one_object_are_merged_one_by_one() -> None:
    ours = content([node("a", community=1), *BASE["nodes"][1:]], BASE["links"])
    theirs = content([node("a", source_file="a.py"), *BASE["nodes"][1:]], BASE["links"])
    found, report = merged(BASE, ours, theirs)
    assert {key: found["nodes"][0][key] for key in ("community", "source_file")} == {
        "community": 1,
        "source_file": "a.py",
    }
    assert not report.notes


@pytest.mark.parametrize(
    ("one", "other", "wins"), [(1, 2, 2), (10, 9, 10), (None, 0, 0), ("b", "a", "b"), (3, "a", "a")]
)
def test_of_two_values_of_a_field_the_last_in_order_counts_and_is_noted(
    one: Any, other: Any, wins: Any
) -> None:
    ours = content([node("a", community=one), *BASE["nodes"][1:]], BASE["links"])
    theirs = content([node("a", community=other), *BASE["nodes"][1:]], BASE["links"])
    found, report = merged(BASE, ours, theirs)
    assert found["nodes"][0]["community"] == wins
    assert [note.kind for note in report.notes] == ["field"]


def test_what_one_side_took_out_is_gone_unless_the_other_changed_it() -> None:
    ours = content(BASE["nodes"], BASE["links"][:1])
    theirs = content(BASE["nodes"], [link("a", "calls", "b", weight=2), BASE["links"][1]])
    found, report = merged(BASE, ours, theirs)
    assert found["links"] == [link("a", "calls", "b", weight=2)]
    assert not report.notes
    theirs = content(BASE["nodes"], [BASE["links"][0], link("b", "uses", "c", weight=2)])
    found, report = merged(BASE, ours, theirs)
    assert link("b", "uses", "c", weight=2) in found["links"]
    assert [note.kind for note in report.notes] == ["kept"]


def test_a_node_that_the_other_side_has_a_new_link_to_stays() -> None:
    ours = content(BASE["nodes"][:2], BASE["links"][:1])
    theirs = content(BASE["nodes"], [*BASE["links"], link("a", "reads", "c")])
    found, report = merged(BASE, ours, theirs)
    assert {each["id"] for each in found["nodes"]} == {"a", "b", "c"}
    assert found["links"] == [BASE["links"][0], link("a", "reads", "c")]
    assert [note.kind for note in report.notes] == ["needed"]


def test_a_second_relation_on_a_pair_makes_it_a_multigraph() -> None:
    ours = content(BASE["nodes"], [*BASE["links"], link("c", "calls", "a")])
    theirs = content(BASE["nodes"], [*BASE["links"], link("a", "reads", "c")])
    found, _ = merged(BASE, ours, theirs)
    assert found["multigraph"] is True


def test_equal_triples_are_told_apart_by_their_place() -> None:
    twins = [link("a", "calls", "b", source_location=place) for place in ("L1", "L2", "L3")]
    was = content(BASE["nodes"], twins)
    ours = content(BASE["nodes"], twins[1:])
    theirs = content(BASE["nodes"], [*twins[:2], {**twins[2], "weight": 3}])
    found, report = merged(was, ours, theirs)
    assert found["links"] == [twins[1], {**twins[2], "weight": 3}]
    assert not report.notes


def test_without_an_ancestor_both_sides_are_united() -> None:
    ours = content(BASE["nodes"][:2], BASE["links"][:1])
    theirs = content(BASE["nodes"][1:], BASE["links"][1:])
    one = three_way(None, file(ours), file(theirs))
    assert one.graph.text == three_way(None, file(theirs), file(ours)).graph.text
    assert len(json.loads(one.graph.text)["nodes"]) == 3
    assert len(json.loads(one.graph.text)["links"]) == 2
