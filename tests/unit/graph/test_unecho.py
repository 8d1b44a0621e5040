"""Un-echoing, rule by rule: what of an exported file that graphify has written over is ours, and what is the base's."""

from __future__ import annotations

import json
from collections.abc import Sequence
from typing import Any

import pytest

from deeprefine_graphdb.graph.base_view import ParsedBase
from deeprefine_graphdb.graph.texts import STAMP
from deeprefine_graphdb.graph.unecho import unecho
from deeprefine_graphdb.graph.unecho_images import log_images
from deeprefine_graphdb.graph.unecho_model import Images
from deeprefine_graphdb.graph.view import GraphView
from deeprefine_graphdb.model.actions import ObjectChange
from deeprefine_loaders.basefile import BaseFile
from deeprefine_loaders.graphfile import parse_graph
from tests.unit.graph.echoes import (
    Export,
    Json,
    base_of,
    by_graphify,
    export,
    notes,
    parsed,
    without,
    written,
)
from tests.unit.graph.small import link, node, plan

AST = {"_origin": "ast"}
SEMANTIC = {"_origin": "semantic"}


def graph(**header: Any) -> Json:
    """Give a graph of two source files and a document."""
    return {
        "directed": False,
        "multigraph": False,
        "graph": {},
        "nodes": [
            node("a", "Alpha", source_file="one.py", norm_label="alpha", community=1, **AST),
            node("b", "Beta", source_file="one.py", norm_label="beta", community=1, **AST),
            node("c", "Gamma", source_file="two.py", norm_label="gamma", community=2, **AST),
            node("d", "Delta", source_file="two.py", norm_label="delta", community=2, **AST),
            node("s", "Sigma", source_file="notes.md", norm_label="sigma", community=3, **SEMANTIC),
            node("t", "Tau", source_file="notes.md", norm_label="tau", community=3, **SEMANTIC),
        ],
        "links": [
            link("a", "calls", "b", source_file="one.py", source_location="L1", weight=1.0, **AST),
            link("b", "uses", "c", source_file="one.py", source_location="L2", weight=1.0, **AST),
            link("c", "calls", "d", source_file="two.py", source_location="L3", weight=1.0, **AST),
            link("s", "mentions", "t", source_file="notes.md", weight=1.0, **SEMANTIC),
            link("t", "mentions", "a", source_file="notes.md", weight=1.0, **SEMANTIC),
        ],
        "hyperedges": [{"id": "h", "label": "Flow", "nodes": ["a", "c", "s"], "source_file": "notes.md"}],
        **header,
    }


BASE = by_graphify(graph())


def find(data: Json, *triple: str) -> Json:
    """Give the one link of a triple."""
    (found,) = [
        each for each in data["links"] if (each["source"], each["relation"], each["target"]) == triple
    ]
    return dict(found)


def triples(data: Json) -> list[tuple[str, str, str]]:
    return sorted((each["source"], each["relation"], each["target"]) for each in data["links"])


def labels(data: Json) -> dict[str, str]:
    return {each["id"]: each["label"] for each in data["nodes"]}


def drop_node(data: Json, *ids: str) -> Json:
    """Leave out nodes and, as graphify does, every link that names them."""
    return {
        **data,
        "nodes": without(data["nodes"], lambda each: each["id"] in ids),
        "links": without(data["links"], lambda each: bool({each["source"], each["target"]} & set(ids))),
    }


def drop_link(data: Json, *triple: str) -> Json:
    return {
        **data,
        "links": without(
            data["links"], lambda each: (each["source"], each["relation"], each["target"]) == triple
        ),
    }


def change(objects: list[Json], test: Json, **members: Any) -> list[Json]:
    """Set members of the objects that have these already."""
    return [{**each, **members} if test.items() <= each.items() else each for each in objects]


# 5a: stamps


def test_5a_a_stamp_that_bled_onto_another_link_is_ignored_and_stripped() -> None:
    made = export(BASE, 'insert_edge("Alpha", "guards", "Beta")')
    ours = find(made.data, "a", "guards", "b")
    fused = {**find(made.data, "a", "calls", "b"), STAMP: ours[STAMP]}
    found = drop_link(drop_link(made.data, "a", "guards", "b"), "a", "calls", "b")
    found["links"].append(fused)
    result = made.unecho(by_graphify(found))
    assert result.base.text.encode("latin-1") == BASE
    assert len(notes(result, "stripped")) == 1
    entry = next(entry for entry in result.manifest if entry.object == "link")
    assert entry.kind == "changed"
    assert STAMP in str(entry.disk)
    assert STAMP not in str(entry.base)


def test_5a_a_stamp_that_is_no_text_is_stripped() -> None:
    data = graph()
    data["nodes"][0][STAMP] = 7
    result = export(BASE).unecho(by_graphify(data))
    assert result.base.text.encode("latin-1") == BASE


def test_5a_a_stamp_deep_inside_an_object_is_no_stamp() -> None:
    data = graph()
    data["nodes"][0]["metadata"] = {STAMP: "r1.1:0000000000000000"}
    found = by_graphify(data)
    result = export(BASE).unecho(found)
    assert result.base.text.encode("latin-1") == found
    assert result.notes == ()


# 5b: added by us


def test_5b_what_we_added_is_not_base_and_its_text_is_kept() -> None:
    made = export(BASE, 'insert_edge("Alpha", "feeds", "Ledger")')
    found = made.data
    found["nodes"] = change(found["nodes"], {"label": "Ledger"}, community=7, community_name="Money")
    result = made.unecho(by_graphify(found))
    assert result.base.text.encode("latin-1") == BASE
    kept = {echo.key: echo for echo in result.echoes}
    assert parsed(kept["ledger"].raw)["community_name"] == "Money"
    assert kept["ledger"].by == "r1.1"
    assert {echo.object for echo in result.echoes} == {"node", "link"}
    assert {(entry.kind, entry.object) for entry in result.manifest} == {("added", "node"), ("added", "link")}


def test_5b_what_we_added_and_is_gone_leaves_nothing() -> None:
    made = export(BASE, 'insert_edge("Alpha", "feeds", "Ledger")')
    result = made.unecho(BASE)
    assert result.base.text.encode("latin-1") == BASE
    assert (result.manifest, result.echoes, result.notes) == ((), (), ())


def test_5b_what_is_there_without_our_stamp_is_adopted() -> None:
    made = export(BASE, 'insert_edge("Alpha", "guards", "Sigma")')
    found = made.data
    for each in found["links"]:
        each.pop(STAMP, None)
    result = made.unecho(by_graphify(found))
    assert ("a", "guards", "s") in triples(base_of(result))
    assert len(notes(result, "adopted")) == 1


def test_5b_a_node_of_ours_that_others_link_to_is_adopted() -> None:
    """Hole: without this the link of the file would dangle in the new base."""
    made = export(BASE, 'insert_edge("Alpha", "feeds", "Ledger")')
    found = made.data
    found["links"].append(link("s", "mentions", "ledger", source_file="notes.md", **SEMANTIC))
    result = made.unecho(by_graphify(found))
    base = base_of(result)
    assert labels(base)["ledger"] == "Ledger"
    assert STAMP not in next(each for each in base["nodes"] if each["id"] == "ledger")
    assert triples(base) == sorted([*triples(graph()), ("s", "mentions", "ledger")])
    assert notes(result, "adopted") == ["ledger"]
    assert [echo.object for echo in result.echoes] == ["link"]


def test_5b_an_echo_that_a_merge_of_files_doubled_goes_twice() -> None:
    made = export(BASE, 'insert_edge("Alpha", "guards", "Sigma")')
    found = made.data
    found["links"].append(find(made.data, "a", "guards", "s"))
    assert made.unecho(by_graphify(found)).base.text.encode("latin-1") == BASE


# 5c: changed by us


def test_5c_our_after_value_becomes_the_before_value_and_the_rest_is_the_files() -> None:
    made = export(BASE, 'replace_node("Sigma", "Summary")')
    found = made.data
    found["nodes"] = change(found["nodes"], {"id": "s"}, community=9, file_type="document")
    result = made.unecho(by_graphify(found))
    expected = graph()
    expected["nodes"] = change(expected["nodes"], {"id": "s"}, community=9, file_type="document")
    assert result.base.text.encode("latin-1") == by_graphify(expected)
    (entry,) = result.manifest
    assert (entry.kind, entry.key, entry.by) == ("changed", "s", "r1.1")
    assert parsed(entry.disk or "")["label"] == "Summary"


def test_5c_a_field_that_the_file_changed_over_ours_is_the_files() -> None:
    made = export(BASE, 'replace_node("Sigma", "Summary")')
    found = made.data
    found["nodes"] = change(found["nodes"], {"id": "s"}, label="By hand")
    base = base_of(made.unecho(by_graphify(found)))
    assert labels(base)["s"] == "By hand"
    assert next(each for each in base["nodes"] if each["id"] == "s")["norm_label"] == "sigma"


def test_5c_what_is_there_without_our_stamp_is_the_files_object_whole() -> None:
    made = export(BASE, 'replace_node("Alpha", "First")')
    found = made.data
    found["nodes"] = [each if each["id"] != "a" else graph()["nodes"][0] for each in found["nodes"]]
    result = made.unecho(by_graphify(found))
    assert result.base.text.encode("latin-1") == BASE
    assert notes(result, "returned") == ["a"]


def test_5c_what_is_gone_is_gone() -> None:
    made = export(BASE, 'replace_node("Sigma", "Summary")')
    result = made.unecho(by_graphify(drop_node(made.data, "s")))
    assert "s" not in labels(base_of(result))
    assert notes(result, "gone") == ["s"]


def test_5c_a_link_deleted_and_inserted_again_gets_all_its_fields_back() -> None:
    made = export(BASE, 'delete_edge("Alpha", "calls", "Beta")', 'insert_edge("Alpha", "calls", "Beta")')
    assert "source_location" not in find(made.data, "a", "calls", "b")
    found = made.data
    found["links"] = change(found["links"], {"source": "a", "target": "b"}, context="call")
    base = base_of(made.unecho(by_graphify(found)))
    assert find(base, "a", "calls", "b") == {**find(parsed(BASE), "a", "calls", "b"), "context": "call"}


# 5d: removed by us


def test_5d_a_link_that_is_there_again_is_the_files() -> None:
    made = export(BASE, 'delete_edge("Alpha", "calls", "Beta")')
    result = made.unecho(BASE)
    assert result.base.text.encode("latin-1") == BASE
    assert result.manifest == ()
    assert len(notes(result, "returned")) == 1


@pytest.mark.parametrize(
    ("answer", "triple"),
    [
        ('delete_edge("Alpha", "calls", "Beta")', ("a", "calls", "b")),
        ('delete_edge("Sigma", "mentions", "Tau")', ("s", "mentions", "t")),
    ],
)
def test_5d_a_link_that_the_file_lacks_stays_unconfirmed(answer: str, triple: tuple[str, str, str]) -> None:
    made = export(BASE, answer)
    found = made.data
    found["nodes"] = change(found["nodes"], {"id": "d"}, community=8)
    result = made.unecho(by_graphify(found))
    assert triple in triples(base_of(result))
    (unconfirmed,) = result.unconfirmed
    assert unconfirmed.ast is (triple[0] == "a")
    (entry,) = result.manifest
    assert (entry.kind, entry.key, entry.disk) == ("removed", unconfirmed.key, None)


def test_5d_an_ast_link_goes_with_its_file() -> None:
    made = export(BASE, 'delete_edge("Beta", "uses", "Gamma")')
    found = drop_node(made.data, "a", "b")
    result = made.unecho(by_graphify(found))
    assert result.base.text.encode("latin-1") == by_graphify(found)
    assert len(notes(result, "gone")) == 1
    assert result.unconfirmed == ()


def test_5d_an_ast_link_stays_when_its_file_had_no_other_nodes() -> None:
    data = graph()
    data["nodes"] = change(data["nodes"], {"id": "c"}, source_file="three.py")
    data["links"] = change(data["links"], {"source": "c"}, source_file="elsewhere.py")
    base = by_graphify(data)
    made = export(base, 'delete_edge("Gamma", "calls", "Delta")')
    assert made.unecho(made.file[:-1] + b" }").base.text.encode("latin-1")[:-2] == base[:-1]


def test_5d_a_merged_ast_node_goes_with_its_file() -> None:
    made = export(BASE, 'replace_node("Alpha", "Tau")')
    found = drop_node(made.data, "b")
    result = made.unecho(by_graphify(found))
    assert set(labels(base_of(result))) == {"c", "d", "s", "t"}
    assert "a" in notes(result, "gone")
    assert not any("a" in (each["source"], each["target"]) for each in base_of(result)["links"])


def test_5d_a_merged_node_stays_unconfirmed() -> None:
    made = export(BASE, 'replace_node("Sigma", "Alpha")')
    found = made.data
    found["nodes"] = change(found["nodes"], {"id": "d"}, community=8)
    result = made.unecho(by_graphify(found))
    expected = graph()
    expected["nodes"] = change(expected["nodes"], {"id": "d"}, community=8)
    assert result.base.text.encode("latin-1") == by_graphify(expected)
    assert {each.key for each in result.unconfirmed if each.object == "node"} == {"s"}


def test_5d_a_removed_link_does_not_outlive_its_end() -> None:
    """Hole: the before-image of a link whose end is gone would dangle, and graphify never writes that."""
    made = export(BASE, 'delete_edge("Sigma", "mentions", "Tau")')
    found = drop_node(made.data, "t")
    result = made.unecho(by_graphify(found))
    assert result.base.text.encode("latin-1") == by_graphify(drop_node(graph(), "t"))
    assert len(notes(result, "gone")) == 1


def test_5d_a_stub_that_went_with_its_last_link_stays_with_it() -> None:
    """Hole: graphify drops the node of an external module when nothing links to it, and our delete took the last."""
    data = graph()
    data["nodes"].append(node("os", "os", external=True, type="external", norm_label="os"))
    data["links"].append(link("a", "imports", "os", source_file="one.py", **AST))
    base = by_graphify(data)
    made = export(base, 'delete_edge("Alpha", "imports", "os")')
    result = made.unecho(by_graphify(drop_node(made.data, "os")))
    assert result.base.text.encode("latin-1") == base
    assert {(each.object, each.by) for each in result.unconfirmed} == {("node", "r1.1"), ("link", "r1.1")}


def stubbed() -> bytes:
    """Give a graph with a stub that one link names."""
    data = graph()
    data["nodes"].append(node("os", "os", external=True, type="external", norm_label="os"))
    data["links"].append(link("a", "imports", "os", source_file="one.py", **AST))
    return by_graphify(data)


def test_5b_a_stub_that_only_our_link_holds_goes() -> None:
    """Hole: graphify would have dropped it with its last link, which is not ours."""
    made = export(stubbed(), 'insert_edge("Sigma", "mentions", "os")')
    result = made.unecho(by_graphify(drop_link(made.data, "a", "imports", "os")))
    assert result.base.text.encode("latin-1") == BASE
    assert notes(result, "gone") == ["os"]


def test_5c_a_renamed_stub_that_went_with_its_last_link_stays_with_it() -> None:
    made = export(stubbed(), 'replace_node("os", "Operating system")|delete_edge("Alpha", "imports", "os")')
    result = made.unecho(by_graphify(drop_node(made.data, "os")))
    assert result.base.text.encode("latin-1") == stubbed()
    assert notes(result, "gone") == []


def test_5d_a_stub_in_the_place_of_a_merged_node_is_not_the_node() -> None:
    """Hole: graphify makes a stub for an import of what it does not find, and that is our doing."""
    made = export(BASE, 'replace_node("Alpha", "Tau")')
    found = made.data
    found["nodes"].append(node("a", "a", external=True, type="external", file_type="concept"))
    found["links"].append(link("d", "imports", "a", source_file="two.py", **AST))
    result = made.unecho(by_graphify(found))
    expected = graph()
    expected["links"].append(link("d", "imports", "a", source_file="two.py", **AST))
    assert result.base.text.encode("latin-1") == by_graphify(expected)
    assert "a" in {each.key for each in result.unconfirmed}
    again = unecho(BaseFile.of(result.base), result.manifest, parse_graph(by_graphify(found)))
    assert again.base.text == result.base.text
    assert again.manifest == result.manifest


def test_5d_a_merged_stub_that_graphify_made_anew_has_what_it_had() -> None:
    """Hole: a run without clusters would have kept the stub as it was, and writes less into a new one."""
    made = export(stubbed(), 'replace_node("os", "Tau")')
    found = {**made.data, "nodes": [*made.data["nodes"], node("os", "os", external=True, type="external")]}
    found["links"] = without(found["links"], lambda each: each["relation"] == "imports")
    found["links"].append(link("a", "imports", "os", source_file="one.py", **AST))
    result = made.unecho(by_graphify(found))
    assert result.base.text.encode("latin-1") == stubbed()
    assert result.unconfirmed == ()
    again = unecho(BaseFile.of(result.base), result.manifest, parse_graph(by_graphify(found)))
    assert (again.base.text, again.manifest, again.unconfirmed) == (result.base.text, result.manifest, ())


def test_5a_what_bled_with_a_stamp_is_taken_back_with_it() -> None:
    """Hole: attributes bleed with the stamp, and only the stamp was named."""
    made = export(BASE, 'insert_edge("Alpha", "guards", "Beta")')
    ours = find(made.data, "a", "guards", "b")
    fused = {**ours, **find(made.data, "a", "calls", "b"), "context": "new"}
    assert fused["confidence_score"] == 0.55
    found = drop_link(drop_link(made.data, "a", "guards", "b"), "a", "calls", "b")
    found["links"].append(fused)
    base = base_of(made.unecho(by_graphify(found)))
    assert find(base, "a", "calls", "b") == {**find(parsed(BASE), "a", "calls", "b"), "context": "new"}


def test_5e_what_bled_onto_a_moved_link_is_not_a_change_of_the_file() -> None:
    data = graph()
    data["links"].append(
        link("a", "calls", "c", source_file="one.py", source_location="L9", context="call", **AST)
    )
    made = export(by_graphify(data), 'replace_node("Sigma", "Gamma")|replace_node("Tau", "Alpha")')
    moved = find(made.data, "a", "calls", "c") | find(made.data, "c", "mentions", "a")
    found = drop_link(drop_link(made.data, "a", "calls", "c"), "c", "mentions", "a")
    found["links"].append(moved)
    base = base_of(made.unecho(by_graphify(found)))
    assert find(base, "s", "mentions", "t") == find(data, "s", "mentions", "t")
    assert find(base, "a", "calls", "c") == find(data, "a", "calls", "c")


def test_5d_of_equal_triples_the_one_that_came_back_is_told_by_its_place() -> None:
    data = graph()
    data["links"].append(link("a", "calls", "b", source_file="one.py", source_location="L9", **AST))
    base = by_graphify(data)
    view_keys = [key for key in parse_graph(base).links.key if "#" in key]
    stem = view_keys[0].partition("#")[0]
    made = export(base, f'delete_edge("Alpha", "calls", "Beta", "{stem}")')
    removed = parsed(made.entry("removed").base or "")["source_location"]
    other = {"L1": "L9", "L9": "L1"}[removed]
    here = [each["source_location"] for each in made.data["links"] if each["source"] == "a"]
    assert here == [other]
    assert made.unecho(by_graphify(made.data)).base.text.encode("latin-1") == base
    back = drop_link(parsed(base), "a", "calls", "b")
    back["links"].append(link("a", "calls", "b", source_file="one.py", source_location=removed, **AST))
    kept = [
        e["source_location"] for e in base_of(made.unecho(by_graphify(back)))["links"] if e["source"] == "a"
    ]
    assert kept == [removed]


# 5e: moved by a merge


def merged_into_alpha() -> Export:
    """Merge a semantic node; its links move."""
    return export(BASE, 'replace_node("Tau", "Beta")')


def test_5e_the_old_form_is_there_again() -> None:
    made = export(BASE, 'replace_node("Delta", "Beta")')
    assert ("c", "calls", "b") in triples(made.data)
    found = made.data
    found["nodes"] = graph()["nodes"]
    found["links"].append(find(parsed(BASE), "c", "calls", "d"))
    result = made.unecho(by_graphify(found))
    assert result.base.text.encode("latin-1") == BASE
    assert {(entry.kind, entry.object) for entry in result.manifest} == {
        ("added", "link"),
        ("changed", "header"),
    }
    assert result.echoes == ()


def test_5e_only_the_moved_form_is_there() -> None:
    made = merged_into_alpha()
    found = made.data
    found["links"] = change(found["links"], {"source": "b", "target": "a"}, weight=2.0, context="text")
    result = made.unecho(by_graphify(found))
    base = base_of(result)
    assert find(base, "t", "mentions", "a") == {
        **find(parsed(BASE), "t", "mentions", "a"),
        "weight": 2.0,
        "context": "text",
    }
    moved = [entry for entry in result.manifest if entry.kind == "moved"]
    assert {entry.by for entry in moved} == {"r1.1"}
    assert {each.key for each in result.unconfirmed} == {"t"}


def moved_ast_link_gone(**header: Any) -> tuple[Export, Json]:
    """Merge an AST node into another, and let graphify leave out the link that moved."""
    made = export(by_graphify(graph(**header)), 'replace_node("Delta", "Beta")')
    return made, drop_link(made.data, "c", "calls", "b")


def with_node(found: Json, node_id: str) -> Json:
    """Let a file have a node of the base again."""
    return {**found, "nodes": [*found["nodes"], *[n for n in graph()["nodes"] if n["id"] == node_id]]}


def test_5e_neither_form_of_an_ast_link_means_gone() -> None:
    made, found = moved_ast_link_gone()
    found = with_node(drop_link(found, "b", "uses", "c"), "d")
    result = made.unecho(by_graphify(found))
    assert result.base.text.encode("latin-1") == by_graphify(
        drop_link(drop_link(graph(), "b", "uses", "c"), "c", "calls", "d")
    )
    assert len(notes(result, "gone")) == 1


def test_5e_neither_form_while_the_old_end_is_merged_away_keeps_it() -> None:
    """Hole: graphify could not have written the old form, so that it is not there says nothing."""
    made, found = moved_ast_link_gone()
    found = drop_link(found, "b", "uses", "c")
    result = made.unecho(by_graphify(found))
    assert result.base.text.encode("latin-1") == by_graphify(drop_link(graph(), "b", "uses", "c"))
    assert {(each.object, each.ast) for each in result.unconfirmed} == {("node", True), ("link", True)}


def test_5e_neither_form_but_the_pair_is_fused_keeps_it() -> None:
    made, found = moved_ast_link_gone()
    assert ("b", "uses", "c") in triples(found)
    result = made.unecho(by_graphify(with_node(found, "d")))
    assert result.base.text.encode("latin-1") == BASE
    assert [each.object for each in result.unconfirmed] == ["link"]


def test_5e_neither_form_but_our_new_end_vanished_keeps_it() -> None:
    made = export(BASE, 'replace_node("Delta", "Tau")')
    found = with_node(drop_node(made.data, "t"), "d")
    result = made.unecho(by_graphify(found))
    assert ("c", "calls", "d") in triples(base_of(result))


def test_5e_neither_form_but_the_rename_of_an_end_is_live_keeps_it() -> None:
    made = export(BASE, 'replace_node("Delta", "Tau")', 'replace_node("Gamma", "Third")')
    found = with_node(drop_link(made.data, "c", "calls", "t"), "d")
    result = made.unecho(by_graphify(found))
    assert result.base.text.encode("latin-1") == BASE


def test_5e_neither_form_of_a_semantic_link_keeps_it() -> None:
    made = merged_into_alpha()
    found = drop_link(made.data, "b", "mentions", "a")
    result = made.unecho(by_graphify(found))
    assert result.base.text.encode("latin-1") == BASE


def test_5e_a_link_that_moved_from_a_node_that_is_gone_does_not_come_back() -> None:
    """Hole: its before-image would name the node that went with its file."""
    made = export(BASE, 'replace_node("Beta", "Sigma")')
    found = drop_node(made.data, "a")
    result = made.unecho(by_graphify(found))
    base = base_of(result)
    assert "b" not in labels(base)
    assert triples(base) == [("c", "calls", "d"), ("s", "mentions", "t")]


# 5f: folded


def folding() -> tuple[bytes, Export]:
    data = graph()
    data["links"].append(link("c", "calls", "b", source_file="two.py", source_location="L7", **AST))
    base = by_graphify(data)
    return base, export(base, 'replace_node("Delta", "Beta")')


def test_5f_a_folded_link_is_kept_while_its_survivor_is_there() -> None:
    base, made = folding()
    assert made.entry("folded")
    result = made.unecho(by_graphify({**made.data, "graph": {"x": 1}}))
    assert triples(base_of(result)) == triples(parsed(base))
    assert {each.object for each in result.unconfirmed} == {"node", "link"}


def test_5f_a_folded_ast_link_goes_with_its_survivor() -> None:
    _, made = folding()
    found = with_node(drop_link(drop_link(made.data, "c", "calls", "b"), "b", "uses", "c"), "d")
    result = made.unecho(by_graphify(found))
    assert ("c", "calls", "d") not in triples(base_of(result))
    assert len(notes(result, "gone")) == 1


def test_5f_a_folded_ast_link_stays_while_its_old_end_is_merged_away() -> None:
    _, made = folding()
    found = drop_link(drop_link(made.data, "c", "calls", "b"), "b", "uses", "c")
    assert ("c", "calls", "d") in triples(base_of(made.unecho(by_graphify(found))))


def test_5f_a_folded_ast_link_stays_when_the_pair_of_its_survivor_is_fused() -> None:
    _, made = folding()
    result = made.unecho(by_graphify(with_node(drop_link(made.data, "c", "calls", "b"), "d")))
    assert ("c", "calls", "d") in triples(base_of(result))


def test_5f_a_folded_link_of_another_file_than_its_survivor_is_kept() -> None:
    data = graph()
    data["links"].append(link("c", "calls", "b", source_file="other.py", source_location="L7", **AST))
    made = export(by_graphify(data), 'replace_node("Delta", "Beta")')
    found = with_node(drop_link(drop_link(made.data, "c", "calls", "b"), "b", "uses", "c"), "d")
    assert ("c", "calls", "d") in triples(base_of(made.unecho(by_graphify(found))))


# 5g: untouched and gone


def test_5g_what_we_never_touched_and_is_gone_is_gone() -> None:
    made = export(BASE, 'insert_edge("Alpha", "guards", "Sigma")')
    found = drop_link(made.data, "c", "calls", "d")
    result = made.unecho(by_graphify(found))
    assert result.base.text.encode("latin-1") == by_graphify(drop_link(graph(), "c", "calls", "d"))
    assert result.unconfirmed == ()


def test_5g_a_link_is_kept_when_its_pair_carries_one_of_ours() -> None:
    made = export(BASE, 'insert_edge("Alpha", "guards", "Beta")')
    found = drop_link(made.data, "a", "calls", "b")
    result = made.unecho(by_graphify(found))
    assert triples(base_of(result)) == triples(graph())
    assert [each.ast for each in result.unconfirmed] == [True]


def test_5g_an_ast_link_is_gone_when_its_pair_has_no_link_left() -> None:
    made = export(BASE, 'insert_edge("Alpha", "guards", "Beta")')
    found = drop_link(drop_link(made.data, "a", "calls", "b"), "a", "guards", "b")
    result = made.unecho(by_graphify(found))
    assert ("a", "calls", "b") not in triples(base_of(result))
    assert result.unconfirmed == ()


def test_5g_a_semantic_link_is_kept_even_so() -> None:
    made = export(BASE, 'insert_edge("Sigma", "cites", "Tau")')
    found = drop_link(drop_link(made.data, "s", "mentions", "t"), "s", "cites", "t")
    assert triples(base_of(made.unecho(by_graphify(found)))) == triples(graph())


def test_5g_an_ast_link_at_a_live_rename_is_kept() -> None:
    made = export(BASE, 'replace_node("Gamma", "Third")')
    found = drop_link(made.data, "b", "uses", "c")
    result = made.unecho(by_graphify(found))
    assert result.base.text.encode("latin-1") == BASE
    assert [each.by for each in result.unconfirmed] == ["r1.1"]


# 5h: stamps of other exports and other logs


def images_of(*exports: Export) -> Images:
    """Give the images of a log with the refinements r1 to r9 and these exports."""
    base = BaseFile.of(parse_graph(BASE))
    return log_images({f"r{at}" for at in range(1, 10)}, base, [made.manifest for made in exports])


def effects_of(*refinements: str) -> Images:
    """Give the images of a log with these refinements and no export."""
    view = GraphView(ParsedBase(parse_graph(BASE)))
    effects: dict[str, Sequence[ObjectChange]] = {}
    for number, answer in enumerate(refinements, start=1):
        made = plan(view, answer, f"r{number}", number)
        effects |= {effect.action: effect.changes for effect in made.effects}
    return log_images({"r1", "r2", "r3"}, BaseFile.of(parse_graph(BASE)), effects=effects)


@pytest.mark.parametrize(
    "answer",
    [
        'insert_edge("Alpha", "feeds", "Ledger")',
        'replace_node("Sigma", "Summary")',
    ],
)
def test_5h_an_undone_refinement_is_taken_out_by_the_images_of_the_log(answer: str) -> None:
    older = export(BASE, answer)
    now = export(BASE)
    result = now.unecho(by_graphify(older.data), images_of(older))
    assert result.base.text.encode("latin-1") == BASE
    assert {entry.by for entry in result.manifest} == {"r1.1"}


def test_5h_a_link_that_an_undone_merge_moved_goes_back() -> None:
    older = merged_into_alpha()
    found = older.data
    found["nodes"] = graph()["nodes"]
    result = export(BASE).unecho(by_graphify(found), images_of(older))
    assert result.base.text.encode("latin-1") == BASE


def test_5h_an_object_that_two_exports_changed_is_taken_back_from_the_one_that_the_file_has() -> None:
    older = export(BASE, 'replace_node("Sigma", "Summary")')
    now = export(BASE, 'replace_node("Sigma", "Summary")', 'replace_node("Summary", "Synopsis")')
    result = now.unecho(by_graphify(older.data), images_of(older))
    assert result.base.text.encode("latin-1") == BASE
    assert notes(result, "gone") == []


def test_5h_a_link_that_one_export_changed_and_the_next_moved_goes_back_once() -> None:
    answers = ('delete_edge("Sigma", "mentions", "Tau")', 'insert_edge("Sigma", "mentions", "Tau")')
    older = export(BASE, *answers)
    now = export(BASE, *answers, 'replace_node("Tau", "Alpha")')
    assert now.entry("removed", "node").key == "t"
    result = now.unecho(by_graphify(older.data), images_of(older))
    assert result.base.text.encode("latin-1") == BASE
    both = {**older.data, "links": [*older.data["links"], find(now.data, "s", "mentions", "a")]}
    assert now.unecho(by_graphify(both), images_of(older)).base.text.encode("latin-1") == BASE


def test_5c_a_changed_link_that_a_merge_of_files_doubled_is_there_once() -> None:
    answers = ('delete_edge("Sigma", "mentions", "Tau")', 'insert_edge("Sigma", "mentions", "Tau")')
    made = export(BASE, *answers)
    found = {**made.data, "links": [*made.data["links"], find(made.data, "s", "mentions", "t")]}
    assert made.unecho(by_graphify(found)).base.text.encode("latin-1") == BASE


def test_5h_a_stamp_of_an_unknown_refinement_is_part_of_the_base_and_named() -> None:
    theirs = export(BASE, 'insert_edge("Alpha", "feeds", "Ledger")')
    found = by_graphify(theirs.data)
    result = export(BASE).unecho(found)
    assert result.base.text.encode("latin-1") == found
    assert len(notes(result, "foreign")) == 2
    assert all("r1.1" in note.text for note in result.notes)
    assert result.manifest == ()


def test_5h_a_stamp_of_our_log_without_an_image_is_part_of_the_base_and_named() -> None:
    older = export(BASE, 'insert_edge("Alpha", "feeds", "Ledger")')
    found = by_graphify(older.data)
    result = export(BASE).unecho(found, images_of())
    assert result.base.text.encode("latin-1") == found
    assert len(notes(result, "foreign")) == 2


@pytest.mark.parametrize(
    "refinements",
    [
        ('insert_edge("Alpha", "feeds", "Ledger")|insert_edge("Ledger", "feeds", "Beta")',),
        ('replace_node("Sigma", "Summary")',),
        ('replace_node("Sigma", "Summary")', 'replace_node("Summary", "Synopsis")'),
        ('insert_edge("Tau", "feeds", "Gamma")', 'replace_node("Tau", "Beta")'),
        (
            'insert_edge("Tau", "feeds", "Ledger")',
            'replace_node("Ledger", "Account")',
            'replace_node("Sigma", "Tau")',
        ),
        ('delete_edge("Alpha", "calls", "Beta")', 'insert_edge("Alpha", "calls", "Beta")'),
        ('insert_edge("Alpha", "guards", "Beta")|delete_edge("Sigma", "mentions", "Tau")',),
        ('insert_edge("Delta", "feeds", "Ledger")|replace_node("Delta", "Beta")',),
    ],
)
def test_5h_effects_of_the_log_are_images_as_good_as_an_export(refinements: tuple[str, ...]) -> None:
    older = export(BASE, *refinements)
    found = older.data
    result = export(BASE).unecho(by_graphify(found), effects_of(*refinements))
    assert result.base.text.encode("latin-1") == BASE
    assert notes(result, "foreign") == []


# header and hyperedges


def parallel() -> Export:
    made = export(BASE, 'insert_edge("Alpha", "guards", "Beta")')
    assert made.data["multigraph"] is True
    return made


def test_a_header_that_says_what_we_wrote_says_what_it_said_before() -> None:
    made = parallel()
    assert made.unecho(by_graphify(made.data)).base.text.encode("latin-1") == BASE


def test_a_header_that_graphify_wrote_anew_is_the_files() -> None:
    made = parallel()
    found = {**made.data, "multigraph": False, "built_at_commit": "abc"}
    result = made.unecho(by_graphify(found))
    assert result.base.text.encode("latin-1") == by_graphify({**graph(), "built_at_commit": "abc"})


def test_a_header_member_that_we_added_goes() -> None:
    data = graph()
    del data["multigraph"]
    base = by_graphify(data)
    made = export(base, 'insert_edge("Alpha", "guards", "Beta")')
    assert made.unecho(by_graphify(made.data)).base.text.encode("latin-1") == base


def test_the_header_says_multigraph_when_the_new_base_needs_it_too() -> None:
    made = parallel()
    found = made.data
    found["links"].append(link("c", "imports", "d", source_file="two.py", **AST))
    result = made.unecho(by_graphify(found))
    expected = {**graph(), "multigraph": True}
    expected["links"].append(link("c", "imports", "d", source_file="two.py", **AST))
    assert result.base.text.encode("latin-1") == by_graphify(expected)
    assert [entry.object for entry in result.manifest] == ["link"]


def hyper(found: Json) -> list[Json]:
    hyperedges: list[Json] = found["hyperedges"]
    return hyperedges


def test_a_hyperedge_with_our_member_has_its_own_again() -> None:
    made = export(BASE, 'replace_node("Sigma", "Tau")')
    assert hyper(made.data)[0]["nodes"] == ["a", "c", "t"]
    found = made.data
    hyper(found)[0]["label"] = "Renamed flow"
    result = made.unecho(by_graphify(found))
    assert hyper(base_of(result)) == [{**graph()["hyperedges"][0], "label": "Renamed flow"}]


def test_a_member_that_graphify_took_out_of_a_hyperedge_stays_out() -> None:
    made = export(BASE, 'replace_node("Sigma", "Tau")')
    found = drop_node(made.data, "c")
    hyper(found)[0]["nodes"] = ["a", "t"]
    assert hyper(base_of(made.unecho(by_graphify(found))))[0]["nodes"] == ["a", "s"]


def test_a_merged_member_that_went_with_its_file_is_out_of_the_hyperedge() -> None:
    made = export(BASE, 'replace_node("Alpha", "Tau")')
    found = drop_node(made.data, "b")
    assert hyper(base_of(made.unecho(by_graphify(found))))[0]["nodes"] == ["c", "s"]


def test_a_hyperedge_goes_when_no_member_is_left() -> None:
    data = graph(hyperedges=[{"id": "h", "nodes": ["a"]}])
    made = export(by_graphify(data), 'replace_node("Alpha", "Tau")')
    found = drop_node(made.data, "b")
    result = made.unecho(by_graphify(found))
    assert hyper(base_of(result)) == []
    assert "hyperedges:h" in notes(result, "gone")


def test_a_hyperedge_that_graphify_copied_to_both_slots_is_itself_in_both() -> None:
    made = export(BASE, 'replace_node("Sigma", "Tau")')
    found = {**made.data, "graph": {"hyperedges": made.data["hyperedges"]}}
    base = base_of(made.unecho(by_graphify(found)))
    assert base["graph"]["hyperedges"] == base["hyperedges"] == graph()["hyperedges"]


def test_a_hyperedge_that_went_for_a_member_of_ours_is_kept() -> None:
    made = export(BASE, 'replace_node("Sigma", "Ledger")', 'replace_node("Tau", "Ledger")')
    data = made.data
    assert hyper(data)[0]["nodes"] == ["a", "c", "s"]
    merged = export(BASE, 'insert_edge("Alpha", "feeds", "Ledger")', 'replace_node("Sigma", "Ledger")')
    found = {**drop_node(merged.data, "ledger"), "hyperedges": []}
    result = merged.unecho(by_graphify(found))
    assert hyper(base_of(result)) == graph()["hyperedges"]
    assert "hyperedges:h" in {each.key for each in result.unconfirmed}


def test_a_hyperedge_that_graphify_dropped_for_its_own_reasons_is_gone() -> None:
    made = export(BASE, 'replace_node("Sigma", "Tau")')
    result = made.unecho(by_graphify({**made.data, "hyperedges": []}))
    assert hyper(base_of(result)) == []
    assert notes(result, "gone") == ["hyperedges:h"]


def test_a_hyperedge_without_id_is_known_by_our_stamp() -> None:
    """Hole: graphify writes ``members`` as ``nodes``, and the hash of what has no id covers the name of the list."""
    data = graph(hyperedges=[{"label": "Flow", "members": ["a", "s"]}])
    made = export(by_graphify(data), 'replace_node("Sigma", "Tau")')
    found = made.data
    found["hyperedges"] = [{**hyper(found)[0], "nodes": hyper(found)[0]["members"]}]
    del found["hyperedges"][0]["members"]
    base = base_of(made.unecho(by_graphify(found)))
    assert hyper(base) == [{"label": "Flow", "nodes": ["a", "s"]}]


# 7: bytes


def test_7_a_link_of_another_list_goes_back_to_that_list() -> None:
    data = {**graph(), "edges": [link("d", "knows", "d"), link("d", "knows", "c")]}
    base = written(data)
    made = export(base, 'replace_node("Delta", "Tau")')
    assert made.data["edges"] == []
    assert made.unecho(made.file).base.text.encode("latin-1") == base


@pytest.mark.parametrize("indent", [None, 2])
def test_7_an_unsorted_file_gets_everything_back_behind_what_it_stood_behind(indent: int | None) -> None:
    base = json.dumps(graph(), indent=indent).encode()
    made = export(
        base,
        'delete_edge("Beta", "uses", "Gamma")|replace_node("Tau", "Alpha")',
        'insert_edge("Delta", "feeds", "Ledger")|replace_node("Gamma", "Third")',
    )
    edited = made.file.replace(b"Flow", b"Stream")
    assert made.unecho(edited).base.text.encode("latin-1") == base.replace(b"Flow", b"Stream")


def test_7_a_file_that_graphify_sorted_gets_everything_back_at_its_sorted_place() -> None:
    made = export(
        json.dumps(graph(), indent=2).encode(),
        'delete_edge("Beta", "uses", "Gamma")|replace_node("Tau", "Alpha")',
        'insert_edge("Delta", "feeds", "Ledger")|replace_node("Gamma", "Third")',
    )
    data = made.data
    extra = [node(f"x{at}", f"X{at}", **AST) for at in range(12)]
    lines = [link(f"x{at}", "calls", f"x{at + 1}", **AST) for at in range(11)]
    found = {**data, "nodes": [*data["nodes"], *extra], "links": [*data["links"], *lines]}
    expected = {**graph(), "nodes": [*graph()["nodes"], *extra], "links": [*graph()["links"], *lines]}
    assert made.unecho(by_graphify(found)).base.text.encode("latin-1") == by_graphify(expected)


def test_7_the_very_file_that_was_written_gives_the_former_base() -> None:
    base = json.dumps(graph(), indent=3).replace("\n", "\n ").encode()
    made = export(base, 'delete_edge("Beta", "uses", "Gamma")')
    file = parse_graph(made.file)
    result = unecho(BaseFile.of(parse_graph(base)), made.manifest, file, written=file.digest)
    assert result.base.text.encode("latin-1") == base
    assert list(result.manifest) == made.manifest


def test_7_a_base_of_raw_text_and_bom_comes_back() -> None:
    data = graph()
    data["nodes"][0]["label"] = "Ünï"
    base = b"\xef\xbb\xbf" + json.dumps(data, ensure_ascii=False, indent=1).encode() + b"\n"
    made = export(base, 'replace_node("Ünï", "Größe")|delete_edge("Gamma", "calls", "Delta")')
    assert made.unecho(made.file).base.text.encode("latin-1") == base


def test_a_file_in_which_no_list_is_left_loses_what_it_has_no_place_for() -> None:
    made = export(BASE, 'delete_edge("Alpha", "calls", "Beta")')
    found = made.data
    del found["links"]
    found["nodes"] = [{**each, "community": 8} for each in found["nodes"]]
    result = made.unecho(written(found))
    assert result.base.text.encode("latin-1") == written(found)
    assert len(notes(result, "gone")) == 1
