"""The column ``merge`` of the table of outcomes; each test is named after its row."""

from __future__ import annotations

from deeprefine_graphdb.graph.derive import Given, derive
from tests.unit.graph.rebased import (
    MERGE,
    NODES,
    USES,
    A,
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
from tests.unit.graph.small import graph, link, node, rendered

CALLED = link("c", "calls", "a")
DELETE_CALLED = 'delete_edge("C", "calls", "A")'
BY_B = ("c", "calls", "b")


def test_unchanged_or_attributes_only_merge() -> None:
    derived = rebase(MERGE, but(NODES, "b", community=2), [{**CALLED, "weight": 4}])
    assert (only(derived).outcome, only(derived).note) == ("reapplied", "")
    assert edges(derived) == [BY_B]
    assert set(labels(derived)) == {"b", "c"}


def test_other_id_one_candidate_merge() -> None:
    derived = rebase(MERGE, but(NODES, "a", id="a2"), [{**CALLED, "target": "a2"}])
    assert (only(derived).outcome, only(derived).note) == ("reapplied", "'A' has the id 'a2' now.")
    assert edges(derived) == [BY_B]
    into = rebase(MERGE, but(NODES, "b", id="b2"), [CALLED])
    assert edges(into) == [("c", "calls", "b2")]


def test_edges_re_pointed_between_other_entities_have_keys_of_their_own_merge() -> None:
    keys = [
        next(key for key in rebase(MERGE, nodes, [CALLED]).view.overlay.edges if "@" in key)
        for nodes in (NODES, but(NODES, "b", id="b2"))
    ]
    assert keys[0].endswith("@r1.1")
    assert keys[1].startswith(keys[0] + "~")


def test_other_label_same_id_merge() -> None:
    derived = rebase(MERGE, but(NODES, "a", label="Other"), [CALLED])
    assert only(derived).outcome == "reapplied"
    assert "is called 'Other' now" in only(derived).note
    assert edges(derived) == [BY_B]


def test_old_gone_merge() -> None:
    derived = rebase(MERGE, without(NODES, "a"), [])
    assert only(derived).outcome == "already"
    assert not derived.suspended


def test_new_gone_merge() -> None:
    nodes = without(NODES, "b")
    stuck = only(rebase(MERGE, nodes, [CALLED]))
    assert stuck.outcome == "target-missing"
    again = rebase(MERGE, nodes, [CALLED], given=answer(stuck, "ours"))
    assert labels(again) == {"b": "B", "c": "C"}
    assert edges(again) == [BY_B]


def test_new_gone_and_a_later_merge_took_it_merge() -> None:
    nodes = [*NODES, node("d", "D")]
    derived = rebase(
        (MERGE, 'replace_node("B", "D")'), without(nodes, "b"), [CALLED], before=(nodes, [CALLED])
    )
    assert words(derived) == ["reapplied", "already"]
    assert edges(derived) == [("c", "calls", "d")]


def test_id_gone_several_candidates_merge() -> None:
    for gone in ("a", "b"):
        twins = [node(f"{gone}{n}", gone.upper(), source_file=f"{gone}.py") for n in (2, 3)]
        derived = rebase(MERGE, [*without(NODES, gone), *twins], [])
        assert only(derived).outcome == "target-ambiguous"


def test_label_shared_now_id_lives_merge() -> None:
    derived = rebase(MERGE, [*NODES, node("b2", "B", source_file="b.py")], [CALLED])
    assert edges(derived) == [BY_B]


def test_id_is_another_entity_now_merge() -> None:
    for other in ("a", "b"):
        nodes = but(NODES, other, label="Z", source_file="z.py")
        stuck = only(rebase(MERGE, nodes, [CALLED]))
        assert stuck.outcome == "identity-changed"
        assert edges(rebase(MERGE, nodes, [CALLED], given=answer(stuck, "ours"))) == [BY_B]


def test_already_so_by_others_merge() -> None:
    derived = rebase(MERGE, without(NODES, "a"), [link("c", "calls", "b")])
    assert only(derived).outcome == "already"
    assert edges(derived) == [BY_B]


def test_our_echo_survived_merge() -> None:
    assert rendered(rebase(MERGE, NODES, [CALLED]).view) == rendered(rebase(MERGE, NODES, [CALLED]).view)


def test_undone_from_outside_merge() -> None:
    given = Given(undone_outside=frozenset({"r1.1"}))
    derived = rebase(MERGE, NODES, [CALLED, link("a", "new", "c")], given=given)
    assert only(derived).outcome == "reapplied"
    assert "`deeprefine-db undo r1`" in only(derived).note
    assert sorted(edges(derived)) == [("b", "new", "c"), BY_B]


def test_equal_triples_merge() -> None:
    links = [CALLED, {**CALLED, "weight": 2}, link("c", "calls", "b", weight=3)]
    derived = rebase(MERGE, NODES, links)
    assert edges(derived) == [BY_B]
    assert only(derived).note == "2 duplicate edges folded."
    folded = [change for change in only(derived).changes if change.how == "folded"]
    assert len(folded) == 2
    assert all(change.before is not None for change in folded)


def test_both_ends_are_one_node_now_merge() -> None:
    base = graph(NODES, [CALLED])
    (first,) = made_on(base, MERGE)
    _, second = made_on(base, DELETE_CALLED, MERGE)
    derived = derive(base, [first, second])
    assert words(derived) == ["reapplied", "already"]
    assert (derived.effects[1].witness, derived.effects[1].note) == ("b", "They are one entity already.")


def test_needs_an_end_of_a_suspended_refinement_merge() -> None:
    asked = ('insert_edge("A", "calls", "New")', 'replace_node("B", "New")')
    derived = rebase(asked, without(NODES, "a"), [])
    assert words(derived) == ["target-missing", "depends-on"]
    gone = rebase((asked[0], 'replace_node("New", "B")'), without(NODES, "a"), [])
    assert words(gone) == ["target-missing", "depends-on"]


def test_resolved_theirs_or_drop_merge() -> None:
    nodes = without(NODES, "b")
    stuck = only(rebase(MERGE, nodes, [CALLED]))
    for keep in ("theirs", "drop"):
        derived = rebase(MERGE, nodes, [CALLED], given=answer(stuck, keep))
        assert only(derived).outcome == "dropped"
        assert edges(derived) == [("c", "calls", "a")]


def test_an_edge_moved_twice_is_named_after_both_merges() -> None:
    base = graph([A, *NODES[1:], node("d", "D")], [CALLED, USES])
    derived = derive(base, made_on(base, 'replace_node("A", "D")', 'replace_node("C", "B")'))
    live = {edge.key.partition("@")[2] for edge in derived.view.overlay.edges.values() if edge.live}
    assert live == {"r1.1", "r1.1@r2.1"}
