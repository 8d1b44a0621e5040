"""The column ``insert`` of the table of outcomes; each test is named after its row."""

from __future__ import annotations

import json
from itertools import permutations

from deeprefine_graphdb.graph.derive import Given
from deeprefine_graphdb.model.actions import Resolution
from tests.unit.graph.rebased import (
    INSERT,
    MERGE,
    NODES,
    RENAME,
    USES,
    A,
    B,
    answer,
    but,
    edges,
    labels,
    only,
    rebase,
    without,
    words,
)
from tests.unit.graph.small import link, node, rendered

CALLS = ("a", "calls", "b")
NEW_END = 'insert_edge("A", "calls", "New")'


def test_unchanged_or_attributes_only_insert() -> None:
    derived = rebase(INSERT, but(NODES, "a", source_location="L9", community=3), [USES])
    assert (only(derived).outcome, only(derived).note) == ("reapplied", "")
    assert CALLS in edges(derived)


def test_other_id_one_candidate_insert() -> None:
    derived = rebase(INSERT, but(NODES, "a", id="a2"), [])
    assert only(derived).outcome == "reapplied"
    assert only(derived).note == "'A' has the id 'a2' now."
    assert only(derived).bound == {"subject": "a2", "object": "b"}
    assert edges(derived) == [("a2", "calls", "b")]


def test_other_id_in_a_moved_file_insert() -> None:
    derived = rebase(INSERT, but(NODES, "a", id="a2", source_file="moved/a.py"), [])
    assert edges(derived) == [("a2", "calls", "b")]


def test_other_id_but_it_stood_beside_the_target_insert() -> None:
    rival = node("r", "A", source_file="r.py")
    before = ([*NODES, rival], [USES])
    asked = 'insert_edge("a", "calls", "B")'
    derived = rebase(asked, [*without(NODES, "a"), rival], [], before=before)
    assert only(derived).outcome == "target-missing"
    derived = rebase(asked, [*but(NODES, "a", id="a2"), rival], [], before=before)
    assert edges(derived) == [("a2", "calls", "b")]


def test_other_label_same_id_insert() -> None:
    derived = rebase(INSERT, but(NODES, "a", label="Other"), [USES])
    assert only(derived).outcome == "reapplied"
    assert only(derived).note == "What was 'A' is called 'Other' now."
    assert CALLS in edges(derived)


def test_target_gone_insert() -> None:
    derived = rebase(INSERT, without(NODES, "a"), [])
    assert only(derived).outcome == "target-missing"
    assert "'A' (a) is not in the graph any more" in only(derived).note
    assert derived.suspended == {"r1"}
    assert edges(derived) == []


def test_target_gone_but_a_later_merge_took_it_insert() -> None:
    derived = rebase(('insert_edge("A", "calls", "C")', MERGE), without(NODES, "a"), [])
    assert words(derived) == ["reapplied", "already"]
    assert edges(derived) == [("b", "calls", "c")]
    assert "it was merged into 'B'" in derived.effects[0].note


def test_target_gone_that_we_created_insert() -> None:
    derived = rebase((NEW_END, 'insert_edge("New", "is", "B")'), NODES, [])
    assert words(derived) == ["reapplied", "reapplied"]
    again = rebase((NEW_END, 'insert_edge("New", "is", "B")'), without(NODES, "a"), [])
    assert words(again) == ["target-missing", "depends-on"]


def test_own_created_end_is_created_again_by_whom_it_serves_insert() -> None:
    both = (NEW_END, 'insert_edge("New", "is", "B")')
    derived = rebase(both, NODES, [], given=Given(resolutions=(Resolution(action="r1.1", keep="drop"),)))
    assert words(derived) == ["dropped", "reapplied"]
    assert edges(derived) == [("new", "is", "b")]
    assert derived.effects[1].note == "Created New."


def test_id_gone_several_candidates_insert() -> None:
    twins = [node("a2", "A", source_file="a.py"), node("a3", "A", source_file="a.py")]
    derived = rebase(INSERT, [*without(NODES, "a"), *twins], [])
    assert only(derived).outcome == "target-ambiguous"
    assert "a2, a3" in only(derived).note


def test_label_shared_now_id_lives_insert() -> None:
    derived = rebase(INSERT, [*NODES, node("a2", "A", source_file="a.py")], [USES])
    assert only(derived).outcome == "reapplied"
    assert CALLS in edges(derived)


def test_id_is_another_entity_now_insert() -> None:
    derived = rebase(INSERT, but(NODES, "a", label="Z", source_file="z.py"), [USES])
    assert only(derived).outcome == "identity-changed"
    assert only(derived).note == "The id 'a' stood for 'A' and stands for 'Z' now."


def test_already_so_by_others_insert() -> None:
    derived = rebase(INSERT, NODES, [USES, link("a", "calls", "b", weight=7)])
    assert only(derived).outcome == "already"
    assert only(derived).witness is not None
    assert rendered(derived.view)["links"][1]["weight"] == 7


def test_our_echo_survived_insert() -> None:
    first = rebase(NEW_END, NODES, [USES])
    texts = {"node": rendered(first.view)["nodes"][-1], "link": rendered(first.view)["links"][-1]}
    texts["node"]["community"] = 5
    texts["link"]["weight"] = 0.5
    keys = {"node": "new", "link": next(iter(first.view.overlay.edges))}
    echoes = {(kind, keys[kind], "r1.1"): json.dumps(text) for kind, text in texts.items()}
    derived = rebase(NEW_END, NODES, [USES], given=Given(echoes=echoes))
    assert only(derived).outcome == "reapplied"
    assert rendered(derived.view)["nodes"][-1] == texts["node"]
    assert rendered(derived.view)["links"][-1] == texts["link"]
    created = derived.view.entity("new")
    assert created is not None
    assert created.community == "5"


def test_an_echo_belongs_to_its_action_and_not_to_the_id_insert() -> None:
    echoes = {("node", "new", "r9.1"): '{"id":"new","label":"Not ours"}'}
    derived = rebase(NEW_END, NODES, [USES], given=Given(echoes=echoes))
    assert labels(derived)["new"] == "New"


def test_undone_from_outside_insert() -> None:
    derived = rebase(INSERT, NODES, [USES], given=Given(undone_outside=frozenset({"r1.1"})))
    assert only(derived).outcome == "reapplied"
    assert "`deeprefine-db undo r1`" in only(derived).note


def test_equal_triples_insert() -> None:
    there = link("a", "calls", "b")
    derived = rebase(INSERT, NODES, [there, {**there, "weight": 2}])
    assert only(derived).outcome == "already"
    assert edges(derived) == [CALLS, CALLS]


def test_new_name_taken_now_insert() -> None:
    taken = node("somewhere", "New", source_file="n.py")
    derived = rebase(NEW_END, [*NODES, taken], [])
    assert only(derived).outcome == "reapplied"
    assert edges(derived) == [("a", "calls", "somewhere")]
    assert len(labels(derived)) == 4


def test_new_name_taken_now_by_several_insert() -> None:
    taken = [node("n1", "New"), node("n2", "New")]
    assert only(rebase(NEW_END, [*NODES, *taken], [])).outcome == "target-ambiguous"


def test_the_id_of_a_created_end_is_taken_now_insert() -> None:
    derived = rebase(NEW_END, [*NODES, node("new", "Something else")], [])
    assert only(derived).outcome == "reapplied"
    assert edges(derived) == [("a", "calls", "new_2")]
    assert labels(derived)["new_2"] == "New"


def test_both_ends_are_one_node_now_insert() -> None:
    derived = rebase((INSERT, MERGE), without(NODES, "a"), [])
    assert words(derived) == ["collapsed", "already"]
    assert derived.suspended == {"r1"}


def test_needs_an_end_of_a_suspended_refinement_insert() -> None:
    derived = rebase((NEW_END, 'insert_edge("New", "is", "B")'), without(NODES, "a"), [])
    assert words(derived) == ["target-missing", "depends-on"]
    assert derived.effects[1].cause == "r1"
    assert "the suspended refinement r1 creates" in derived.effects[1].note


def test_resolved_theirs_or_drop_insert() -> None:
    stuck = only(rebase(INSERT, without(NODES, "a"), []))
    for keep in ("theirs", "drop"):
        derived = rebase(INSERT, without(NODES, "a"), [], given=answer(stuck, keep))
        assert only(derived).outcome == "dropped"
        assert only(derived).note.startswith("Left out")
        assert not derived.suspended


def test_resolved_ours_insert() -> None:
    stuck = only(rebase(INSERT, without(NODES, "a"), []))
    derived = rebase(INSERT, without(NODES, "a"), [], given=answer(stuck, "ours"))
    assert only(derived).outcome == "reapplied"
    assert labels(derived)["a"] == "A"
    assert edges(derived) == [CALLS]


def test_resolved_ours_with_a_choice_insert() -> None:
    nodes = [*without(NODES, "a"), node("a2", "A", source_file="a.py"), node("a3", "A", source_file="a.py")]
    stuck = only(rebase(INSERT, nodes, []))
    assert edges(rebase(INSERT, nodes, [], given=answer(stuck, "ours", "a3"))) == [("a3", "calls", "b")]


def test_resolved_ours_accepts_the_identity_insert() -> None:
    nodes = but(NODES, "a", label="Z", source_file="z.py")
    stuck = only(rebase(INSERT, nodes, []))
    assert edges(rebase(INSERT, nodes, [], given=answer(stuck, "ours"))) == [CALLS]


def test_resolved_ours_makes_the_self_loop_insert() -> None:
    nodes = without(NODES, "a")
    stuck = rebase((INSERT, MERGE), nodes, []).effects[0]
    assert edges(rebase((INSERT, MERGE), nodes, [], given=answer(stuck, "ours"))) == [("b", "calls", "b")]


def test_a_decision_holds_as_long_as_its_object_keeps_its_text_insert() -> None:
    nodes = but(NODES, "a", label="Z", source_file="z.py")
    given = answer(only(rebase(INSERT, nodes, [])), "ours")
    assert only(rebase(INSERT, nodes, [USES], given=given)).outcome == "reapplied"
    moved_on = only(rebase(INSERT, but(nodes, "a", label="Y"), [], given=given))
    assert moved_on.outcome == "identity-changed"
    assert "An earlier decision holds no longer" in moved_on.note


def test_the_last_word_counts_insert() -> None:
    nodes = without(NODES, "a")
    stuck = only(rebase(INSERT, nodes, []))
    said = {keep: answer(stuck, keep).resolutions[0] for keep in ("ours", "theirs", "drop")}
    for first, last in permutations(said, 2):
        given = Given(resolutions=(said[first], said[last]))
        derived = rebase(INSERT, nodes, [], given=given)
        assert only(derived).outcome == ("reapplied" if last == "ours" else "dropped")


def test_one_conflict_suspends_all_of_a_refinement_and_every_conflict_is_told() -> None:
    asked = f'{RENAME}|insert_edge("B", "is", "C")|insert_edge("B", "calls", "C")'
    derived = rebase(asked, [*but(NODES, "a", label="X"), node("z", "Z")], [link("b", "is", "c")])
    assert words(derived) == ["label-changed", "held", "held"]
    assert [effect.changes for effect in derived.effects] == [(), (), ()]
    both = rebase(f'{RENAME}|insert_edge("C", "calls", "B")', without(NODES, "a", "c"), [])
    assert words(both) == ["target-missing", "target-missing"]
    assert not both.view.overlay.entities
    assert not both.view.overlay.names


def test_a_suspended_refinement_heals_when_its_ground_is_back() -> None:
    assert only(rebase(INSERT, [B], [])).outcome == "target-missing"
    assert only(rebase(INSERT, [A, B], [])).outcome == "reapplied"
