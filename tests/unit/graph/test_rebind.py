"""Finding again what an end of an action stood for, and nothing else in its place."""

from __future__ import annotations

from deeprefine_graphdb.graph.derive import derive
from deeprefine_graphdb.graph.view import GraphView
from tests.unit.graph.rebased import (
    MERGE,
    NODES,
    A,
    B,
    answer,
    but,
    edges,
    labels,
    made_on,
    only,
    rebase,
    without,
    words,
)
from tests.unit.graph.small import graph, link, node

BARE = [node("a", "A"), node("b", "B"), node("c", "C")]
ASK = 'insert_edge("a", "calls", "B")'


def test_a_rival_that_moved_to_the_file_of_the_target_is_not_the_target() -> None:
    rival = node("r", "A", source_file="r.py")
    derived = rebase(ASK, [B, {**rival, "source_file": "a.py"}], [], before=([A, B, rival], []))
    assert words(derived) == ["target-missing"]


def test_the_label_alone_does_not_do_where_others_had_it() -> None:
    rival = node("r", "A", source_file="r.py")
    derived = rebase(ASK, [B, rival, node("a9", "A", source_file="z.py")], [], before=([A, B, rival], []))
    assert words(derived) == ["target-missing"]


def test_others_that_have_the_base_label_of_a_renamed_entity_are_rivals() -> None:
    twin = node("b2", "A", source_file="a.py")
    base = graph([A, B, twin], [])
    renaming, asking = made_on(base, 'replace_node("a", "X")', 'insert_edge("X", "calls", "B")')
    assert asking.bound[0].subject.rivals == ("b2",)
    assert derive(graph([B, twin], []), [asking]).suspended == {"r2"}
    assert words(derive(base, [asking])) == ["reapplied"]
    assert words(derive(base, [renaming, asking])) == ["reapplied", "reapplied"]


def test_others_that_were_renamed_meanwhile_are_rivals() -> None:
    twin = node("b2", "A", source_file="a.py")
    _, asking = made_on(graph([A, B, twin], []), 'replace_node("b2", "Other")', ASK)
    assert words(derive(graph([B, twin], []), [asking])) == ["target-missing"]


def test_what_a_refinement_created_under_the_label_is_not_the_target() -> None:
    (creating,) = made_on(graph([B], []), 'insert_edge("B", "is", "T thing")')
    before = graph([B, node("t", "T thing")], [])
    asking = made_on(before, 'insert_edge("B", "x", "B")', 'insert_edge("T thing", "calls", "B")')[1]
    assert words(derive(graph([B], []), [creating, asking])) == ["reapplied", "target-missing"]


def test_what_a_refinement_renamed_to_the_label_is_not_the_target() -> None:
    (renaming,) = made_on(graph([B], []), 'replace_node("B", "A")')
    asking = made_on(graph(NODES, []), 'insert_edge("B", "x", "B")', 'insert_edge("A", "calls", "C")')[1]
    derived = derive(graph(without(NODES, "a"), []), [renaming, asking])
    assert words(derived) == ["reapplied", "target-missing"]


def test_the_target_under_another_id_is_found_by_its_base_label_after_a_rename() -> None:
    base = graph(BARE, [])
    renaming = made_on(base, 'replace_node("A", "Z")')[0]
    asking = made_on(base, 'insert_edge("B", "x", "B")', 'insert_edge("A", "calls", "C")')[1]
    derived = derive(graph([node("a2", "A"), *BARE[1:]], []), [renaming, asking])
    assert words(derived) == ["reapplied", "reapplied"]
    assert edges(derived) == [("a2", "calls", "c")]


def test_an_entity_renamed_twice_is_itself_without_the_second_rename() -> None:
    base = graph(BARE, [])
    made = made_on(base, 'replace_node("A", "X")', 'replace_node("X", "Y")', 'insert_edge("Y", "calls", "B")')
    for left in ([made[0], made[2]], [made[2]]):
        derived = derive(base, left)
        assert not derived.suspended
        assert edges(derived) == [("a", "calls", "b")]


def test_a_created_entity_renamed_twice_is_itself_without_the_second_rename() -> None:
    base = graph(BARE, [])
    made = made_on(
        base,
        'insert_edge("A", "is", "N")',
        'replace_node("N", "M")',
        'replace_node("M", "O")',
        'insert_edge("O", "calls", "B")',
    )
    derived = derive(base, [made[0], made[1], made[3]])
    assert edges(derived) == [("a", "is", "n"), ("n", "calls", "b")]
    assert labels(derived)["n"] == "M"


def test_what_a_merge_before_it_in_the_order_took_is_found_there_too() -> None:
    base = graph(NODES, [])
    merging = made_on(base, 'insert_edge("B", "x", "B")', MERGE)[1]
    (asking,) = made_on(base, 'insert_edge("A", "calls", "C")')
    for nodes in (NODES, without(NODES, "a")):
        assert edges(derive(graph(nodes, []), [merging, asking])) == [("b", "calls", "c")]


def test_merges_in_a_circle_lead_nowhere() -> None:
    base = graph(NODES, [])
    there, back = (
        made_on(base, MERGE)[0],
        made_on(base, 'insert_edge("C", "x", "C")', 'replace_node("B", "A")')[1],
    )
    asking = made_on(base, *['insert_edge("C", "x", "C")'] * 2, 'insert_edge("A", "calls", "C")')[2]
    derived = derive(graph(without(NODES, "a", "b"), []), [asking, there, back])
    assert words(derived) == ["target-missing", "already", "already"]


def test_a_merge_into_what_is_not_created_yet_does_not_look_at_what_becomes_of_it() -> None:
    made = made_on(
        graph(NODES, []),
        'insert_edge("C", "is", "New")',
        'replace_node("A", "New")',
        'replace_node("New", "B")',
    )
    derived = derive(graph(NODES, []), [made[1], made[0], made[2]])
    assert words(derived) == ["target-missing", "reapplied", "reapplied"]


def test_of_equal_edges_that_a_merge_folded_the_one_that_is_left_is_known_by_its_base_text() -> None:
    links = [link("a", "uses", "c", source_file="a.py", source_location=place) for place in ("L1", "L20")]
    base = graph(NODES, links)
    (merging,) = made_on(base, MERGE)
    keys = [edge.key for edge in GraphView(base).edges_between("a", "c")]
    for key, outcome in zip(keys, ("reapplied", "already"), strict=True):
        asking = made_on(base, 'insert_edge("B", "x", "B")', f'delete_edge("A", "uses", "C", "{key}")')[1]
        assert words(derive(base, [merging, asking])) == ["reapplied", outcome]


def test_who_had_the_new_name_all_along_did_not_take_it_from_what_is_gone() -> None:
    nodes = [node("a", "Z"), node("q", "a")]
    derived = rebase('replace_node("Z", "a")', nodes[1:], [], before=(nodes, []))
    assert words(derived) == ["target-missing"]


def test_two_ends_of_one_label_that_are_created_again_stay_two() -> None:
    twins = [node("a1", "T", source_file="f.py"), node("a2", "T", source_file="g.py")]
    asked = 'insert_edge("f.py::T", "calls", "g.py::T")'
    stuck = only(rebase(asked, [B], [], before=([B, *twins], [])))
    assert stuck.outcome == "target-missing"
    assert "'T' (a1)" in stuck.note


def test_labels_that_differ_in_case_or_accents_agree() -> None:
    derived = rebase(ASK, but(BARE, "a", label="Á"), [], before=(BARE, []))
    assert (only(derived).outcome, only(derived).note) == ("reapplied", "")


def test_an_id_of_the_base_and_the_same_id_of_what_a_refinement_created_are_not_mixed_up() -> None:
    lost = node("new", "New", source_file="n.py")
    with_lost, plain = graph([*NODES, lost], []), graph(NODES, [])
    of_base = made_on(with_lost, 'insert_edge("New", "calls", "C")', 'replace_node("New", "B")')
    nothing = 'insert_edge("C", "x", "C")'
    of_ours = made_on(plain, nothing, nothing, 'insert_edge("C", "is", "New")', 'replace_node("New", "B")')[
        2:
    ]
    derived = derive(plain, [of_base[0], *of_ours])
    assert words(derived) == ["target-missing", "reapplied", "reapplied"]
    into_ours = made_on(plain, *[nothing] * 2, 'insert_edge("C", "is", "New")', 'replace_node("A", "New")')[3]
    assert words(derive(plain, [into_ours, of_base[1]])) == ["target-missing", "already"]


def test_who_accepts_the_identity_of_what_was_merged_meanwhile_means_what_it_was_merged_into() -> None:
    other = graph([node("a", "Z", source_file="z.py"), *NODES[1:]], [])
    asking = made_on(graph(NODES, []), 'insert_edge("C", "x", "C")', 'insert_edge("A", "calls", "C")')[1]
    (merging,) = made_on(other, 'replace_node("Z", "B")')
    stuck = derive(other, [merging, asking]).effects[1]
    assert (stuck.outcome, stuck.note) == (
        "identity-changed",
        "The id 'a' stood for 'A' and stands for 'B' now.",
    )
    assert edges(derive(other, [merging, asking], answer(stuck, "ours"))) == [("b", "calls", "c")]
