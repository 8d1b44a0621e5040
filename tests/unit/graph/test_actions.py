from __future__ import annotations

import json

import pytest

from deeprefine_graphdb.graph.base_view import ParsedBase
from deeprefine_graphdb.graph.view import GraphView
from deeprefine_graphdb.model.errors import ActionRefused, AmbiguousName
from deeprefine_loaders.graphfile import parse_graph
from tests.unit.graph.small import graph, link, node, plan, rendered, triples, view

A, B, C = (
    node("a", "A", community=4, norm_label="a"),
    node("b", "B", norm_label="b"),
    node("c", "C", norm_label="c"),
)


def test_insert_binds_ends_that_exist_and_marks_what_it_adds() -> None:
    on = view([A, B], [])
    plan(on, 'insert_edge("A", "uses", "B")')
    added = rendered(on)["links"][0]
    assert {key: added[key] for key in ("source", "target", "relation")} == {
        "source": "a",
        "target": "b",
        "relation": "uses",
    }
    assert (added["confidence"], added["confidence_score"], added["weight"]) == ("INFERRED", 0.55, 1.0)
    assert (added["_origin"], added["source_file"]) == ("semantic", "")
    assert added["_deeprefine"].startswith("r1.1:")


@pytest.mark.parametrize(("a", "b"), [("a", "b"), ("A", "B")])
def test_a_former_name_is_free_for_another_entity(a: str, b: str) -> None:
    on = view([node(a, "A"), node(b, "B")], [link(a, "uses", b)])
    swapped = plan(on, 'replace_node("A", "Tmp")|replace_node("B", "A")|replace_node("Tmp", "B")')
    assert [bound.intent.kind for bound in swapped.bound] == ["rename"] * 3
    assert {each["id"]: each["label"] for each in rendered(on)["nodes"]} == {a: "B", b: "A"}
    assert triples(rendered(on)) == [(a, "uses", b)]


def test_the_name_that_a_merge_took_is_free_too() -> None:
    on = view([A, B, C], [])
    plan(on, 'replace_node("A", "B")|replace_node("C", "A")')
    assert {each["id"]: each["label"] for each in rendered(on)["nodes"]} == {"b": "B", "c": "A"}


def test_blanks_around_a_name_make_no_other_entity() -> None:
    on = view([A, B], [])
    plan(on, 'insert_edge(" A ", "uses", "B\n")|replace_node("A ", "D")')
    assert {each["id"]: each["label"] for each in rendered(on)["nodes"]} == {"a": "D", "b": "B"}
    assert triples(rendered(on)) == [("a", "uses", "b")]


def test_insert_creates_a_missing_end_beside_the_one_it_is_linked_to() -> None:
    on = view([A], [])
    effect = plan(on, 'insert_edge("A", "uses", "Straße Ω 2")').effects[0]
    created = rendered(on)["nodes"][-1]
    assert created["id"] == "strasse_ω_2"
    assert (created["label"], created["norm_label"], created["community"]) == ("Straße Ω 2", "straße ω 2", 4)
    assert (created["file_type"], created["source_file"], created["_origin"]) == ("concept", "", "semantic")
    assert effect.note == "Created Straße Ω 2."


def test_insert_makes_the_id_of_a_new_end_unique() -> None:
    on = view([node("new_thing", "Something else"), A], [link("ghost", "r", "new_thing_2")])
    plan(on, 'insert_edge("A", "uses", "New thing")')
    assert rendered(on)["nodes"][-1]["id"] == "new_thing_3"


def test_an_end_created_alone_takes_the_community_of_the_first_placed_entity_it_is_linked_to() -> None:
    on = view([A], [])
    plan(on, 'insert_edge("X", "r", "Y")|insert_edge("Y", "r", "A")')
    by_label = {each["label"]: each for each in rendered(on)["nodes"]}
    assert by_label["Y"]["community"] == 4
    assert "community" not in by_label["X"]


def test_insert_of_an_edge_that_is_there_does_nothing_and_says_so() -> None:
    on = view([A, B], [link("a", "uses", "b")])
    done = plan(on, 'insert_edge("A", "uses", "B")')
    assert done.changes_nothing
    assert done.effects[0].witness is not None
    assert not on.overlay.edges


def test_a_second_relation_on_a_pair_makes_the_file_a_multigraph() -> None:
    on = view([A, B], [link("a", "uses", "b")])
    plan(on, 'insert_edge("B", "calls", "A")')
    assert rendered(on)["multigraph"] is True


def test_in_a_directed_file_the_reverse_pair_is_another_pair() -> None:
    on = view([A, B], [link("a", "uses", "b")], directed=True)
    plan(on, 'insert_edge("B", "calls", "A")')
    assert rendered(on)["multigraph"] is False


def test_insert_of_a_deleted_edge_revives_it_with_attributes_of_its_own() -> None:
    on = view([A, B], [link("a", "uses", "b", weight=3)])
    plan(on, 'delete_edge("A", "uses", "B")')
    assert rendered(on)["links"] == []
    plan(on, 'insert_edge("A", "uses", "B")', refinement_id="r2", record_seq=2)
    assert [each["weight"] for each in rendered(on)["links"]] == [1.0]
    assert len(on.overlay.edges) == 1


def test_insert_uses_the_name_that_the_files_links_have_for_the_relation() -> None:
    on = view([A, B, C], [{"source": "a", "target": "b", "relationship": "r"}])
    plan(on, 'insert_edge("A", "uses", "C")')
    assert rendered(on)["links"][1]["relationship"] == "uses"


def test_delete_takes_exactly_that_relation() -> None:
    on = view([A, B], [link("a", "uses", "b"), link("a", "calls", "b")])
    plan(on, 'delete_edge("A", "uses", "B")')
    assert triples(rendered(on)) == [("a", "calls", "b")]
    assert [edge.retired_as for edge in on.edge_rows("a", "b") if not edge.live] == ["removed"]


@pytest.mark.parametrize(
    ("action", "near"),
    [
        ('delete_edge("A", "USES", "B")', "other case: 'uses'"),
        ('delete_edge("B", "uses", "A")', "reversed: 'uses'"),
        ('delete_edge("A", "calls", "B")', "'uses'"),
        ('delete_edge("A", "uses", "C")', "Nothing links"),
    ],
)
def test_delete_of_an_edge_that_is_not_there_is_refused_with_the_nearest(action: str, near: str) -> None:
    with pytest.raises(ActionRefused) as refused:
        plan(view([A, B, C], [link("a", "uses", "b")]), action)
    assert near in refused.value.hint
    assert refused.value.message.startswith(f"Action 1, {action}")


def test_one_of_several_equal_edges_is_deleted_by_its_key_only() -> None:
    on = view([A, B], [link("a", "uses", "b", weight=1), link("a", "uses", "b", weight=2)])
    with pytest.raises(ActionRefused, match="2 equal edges"):
        plan(on, 'delete_edge("A", "uses", "B")')
    second = on.edges_between("a", "b")[1]
    bound = plan(on, f'delete_edge("A", "uses", "B", "{second.key}")').bound[0]
    assert bound.scope == "occurrence"
    assert bound.fingerprint is not None
    assert bound.fingerprint.count == 2
    assert [each["weight"] for each in rendered(on)["links"]] == [1]


def test_rename_keeps_the_id_and_everything_but_the_label() -> None:
    on = view([A, B], [link("a", "uses", "b")])
    assert plan(on, 'replace_node("A", "Ä new")').bound[0].intent.kind == "rename"
    renamed = rendered(on)["nodes"][0]
    assert renamed.pop("_deeprefine").startswith("r1.1:")
    assert renamed == {"id": "a", "label": "Ä new", "community": 4, "norm_label": "a new"}


def test_a_change_of_case_is_a_rename_and_not_a_merge_with_itself() -> None:
    on = view([A], [])
    assert plan(on, 'replace_node("A", "a!")').bound[0].intent.kind == "rename"
    assert (
        plan(view([node("x", "Http")], []), 'replace_node("Http", "HTTP")').bound[0].intent.kind == "rename"
    )


def test_rename_to_its_own_label_does_nothing() -> None:
    assert plan(view([A], []), 'replace_node("a", "A")').changes_nothing


def test_merge_repoints_folds_and_drops_self_loops() -> None:
    links = [
        link("a", "uses", "c", weight=5),
        link("b", "uses", "c"),
        link("a", "is", "b"),
        link("c", "calls", "a"),
    ]
    on = view([A, B, C], links)
    done = plan(on, 'replace_node("A", "B")')
    assert done.bound[0].intent.kind == "merge"
    assert done.effects[0].note == "1 duplicate edge folded, 1 edge between the two dropped as self loops."
    data = rendered(on)
    assert triples(data) == [("b", "uses", "c"), ("c", "calls", "b")]
    assert [each["id"] for each in data["nodes"]] == ["b", "c"]
    gone = on.entity_row("a")
    assert gone is not None
    assert (gone.retired_as, gone.successor) == ("merged", "b")
    how = {edge.relation + edge.src: edge.retired_as for edge in on.overlay.edges.values() if not edge.live}
    assert how == {"usesa": "folded", "isa": "collapsed", "callsc": "moved"}


def test_merge_keeps_a_self_loop_that_was_there() -> None:
    on = view([A, B], [link("a", "calls", "a")])
    plan(on, 'replace_node("A", "B")')
    assert triples(rendered(on)) == [("b", "calls", "b")]


def test_merge_follows_hyperedges_in_both_slots_and_dangling_links() -> None:
    hyper = [{"id": "h", "nodes": ["a", "b", "c"]}, {"members": ["a"]}]
    on = view([A, B, C], [link("a", "r", "ghost")], graph={"hyperedges": hyper[:1]}, hyperedges=hyper)
    plan(on, 'replace_node("A", "B")')
    data = rendered(on)
    assert [each.get("nodes", each.get("members")) for each in data["hyperedges"]] == [["b", "c"], ["b"]]
    assert data["graph"]["hyperedges"][0]["nodes"] == ["b", "c"]
    assert triples(data) == [("b", "r", "ghost")]


def test_merge_moves_every_name_of_an_end() -> None:
    on = view([A, B, C], [{"source": "c", "target": "a", "_src": "a", "_tgt": "c", "relation": "r"}])
    plan(on, 'replace_node("A", "B")')
    moved = rendered(on)["links"][0]
    assert (moved["source"], moved["target"], moved["_src"], moved["_tgt"]) == ("c", "b", "b", "c")


def test_merge_into_an_ambiguous_name_is_refused() -> None:
    with pytest.raises(AmbiguousName, match="stands for 2"):
        plan(view([A, node("x", "T"), node("y", "T")], []), 'replace_node("A", "T")')


def test_a_later_action_sees_what_an_earlier_one_did() -> None:
    on = view([A, B], [])
    plan(on, 'insert_edge("A", "r", "New")|replace_node("New", "Newer")|insert_edge("Newer", "s", "B")')
    data = rendered(on)
    assert [each["label"] for each in data["nodes"]] == ["A", "B", "Newer"]
    assert triples(data) == [("a", "r", "new"), ("new", "s", "b")]


def test_a_refinement_of_which_one_action_is_refused_names_it() -> None:
    with pytest.raises(ActionRefused, match="Action 2, delete_edge"):
        plan(view([A, B], []), 'insert_edge("A", "r", "B")|delete_edge("A", "q", "B")')


def test_what_moved_since_a_footprint_is_named() -> None:
    nodes = [A, B, C]
    footprint = plan(view(nodes, [link("a", "r", "b")]), 'delete_edge("A", "r", "B")').footprint
    assert view(nodes, [link("a", "r", "b")]).moved(footprint) == []
    assert view([*nodes, node("z", "Z")], [link("a", "r", "b"), link("b", "r", "c")]).moved(footprint) == []
    assert view(nodes, [link("a", "r", "b", confidence="EXTRACTED")]).moved(footprint) == [
        'between:["a", "b"]'
    ]
    assert "names:b" in view([*nodes, node("z", "b")], [link("a", "r", "b")]).moved(footprint)


def test_an_untouched_graph_is_rendered_to_the_letter() -> None:
    raw = b'{"nodes" : [ {"id":"a" , "x":1.10}],\r\n"links":[] }\n'
    on = GraphView(ParsedBase(parse_graph(raw)))
    assert json.dumps(rendered(on)) == json.dumps(json.loads(raw))
    assert on.base.bytes() == raw


def test_numeric_ids_stay_numbers_on_what_refers_to_them() -> None:
    on = GraphView(graph([node(1, "one"), node("1", "uno")], []))
    plan(on, 'insert_edge("one", "is", "uno")')
    assert triples(rendered(on)) == [(1, "is", "1")]
