"""The column ``rename`` of the table of outcomes; each test is named after its row."""

from __future__ import annotations

from deeprefine_graphdb.graph.derive import Given, derive
from tests.unit.graph.rebased import (
    MERGE,
    NODES,
    RENAME,
    answer,
    but,
    labels,
    made_on,
    only,
    rebase,
    without,
    words,
)
from tests.unit.graph.small import graph, node, rendered

GONE = without(NODES, "a")


def test_unchanged_or_attributes_only_rename() -> None:
    derived = rebase(RENAME, but(NODES, "a", community=7), [])
    assert (only(derived).outcome, only(derived).note) == ("reapplied", "")
    renamed = rendered(derived.view)["nodes"][0]
    assert (renamed["label"], renamed["community"]) == ("Anew", 7)


def test_other_id_one_candidate_rename() -> None:
    derived = rebase(RENAME, but(NODES, "a", id="a2"), [])
    assert (only(derived).outcome, only(derived).note) == ("reapplied", "'A' has the id 'a2' now.")
    assert labels(derived)["a2"] == "Anew"


def test_other_label_same_id_rename() -> None:
    nodes = but(NODES, "a", label="Other")
    stuck = only(rebase(RENAME, nodes, []))
    assert stuck.outcome == "label-changed"
    assert "'A' is called 'Other' now, and was to be called 'Anew'" in stuck.note
    assert labels(rebase(RENAME, nodes, [], given=answer(stuck, "ours")))["a"] == "Anew"
    assert labels(rebase(RENAME, nodes, [], given=answer(stuck, "theirs")))["a"] == "Other"


def test_other_label_that_is_the_new_one_rename() -> None:
    for file in ("a.py", "moved.py"):
        derived = rebase(RENAME, but(NODES, "a", label="Anew", source_file=file), [])
        assert only(derived).outcome == "already"
        assert only(derived).witness == "a"


def test_a_label_that_differs_in_case_only_is_the_same_rename() -> None:
    assert labels(rebase(RENAME, but(NODES, "a", label="a"), []))["a"] == "Anew"


def test_target_gone_rename() -> None:
    stuck = only(rebase(RENAME, GONE, []))
    assert stuck.outcome == "target-missing"
    again = rebase(RENAME, GONE, [], given=answer(stuck, "ours"))
    assert labels(again)["a"] == "Anew"
    assert only(again).outcome == "reapplied"


def test_target_gone_and_a_later_merge_took_it_rename() -> None:
    derived = rebase((RENAME, 'replace_node("Anew", "B")'), GONE, [])
    assert words(derived) == ["already", "already"]
    assert derived.effects[0].witness == "b"


def test_target_gone_and_a_new_one_bears_the_name_rename() -> None:
    derived = rebase(RENAME, [*GONE, node("fresh", "Anew")], [])
    assert (only(derived).outcome, only(derived).witness) == ("already", "fresh")


def test_target_gone_and_two_new_ones_bear_the_name_rename() -> None:
    derived = rebase(RENAME, [*GONE, node("n1", "Anew"), node("n2", "Anew")], [])
    assert only(derived).outcome == "target-missing"


def test_id_gone_several_candidates_rename() -> None:
    nodes = [*GONE, node("a2", "A", source_file="a.py"), node("a3", "A", source_file="a.py")]
    stuck = only(rebase(RENAME, nodes, []))
    assert stuck.outcome == "target-ambiguous"
    chosen = labels(rebase(RENAME, nodes, [], given=answer(stuck, "ours", "a3")))
    assert (chosen["a2"], chosen["a3"]) == ("A", "Anew")


def test_label_shared_now_id_lives_rename() -> None:
    derived = rebase(RENAME, [*NODES, node("a2", "A", source_file="a.py")], [])
    assert only(derived).outcome == "reapplied"
    assert (labels(derived)["a"], labels(derived)["a2"]) == ("Anew", "A")


def test_id_is_another_entity_now_rename() -> None:
    nodes = but(NODES, "a", label="Z", source_file="z.py")
    stuck = only(rebase(RENAME, nodes, []))
    assert stuck.outcome == "identity-changed"
    assert labels(rebase(RENAME, nodes, [], given=answer(stuck, "ours")))["a"] == "Anew"


def test_already_so_by_others_rename() -> None:
    derived = rebase(RENAME, but(NODES, "a", label="Anew"), [])
    assert only(derived).outcome == "already"
    assert not derived.view.overlay.entities


def test_our_echo_survived_rename() -> None:
    first, again = rebase(RENAME, NODES, []), rebase(RENAME, NODES, [])
    assert rendered(first.view) == rendered(again.view)


def test_undone_from_outside_rename() -> None:
    derived = rebase(RENAME, NODES, [], given=Given(undone_outside=frozenset({"r1.1"})))
    assert only(derived).outcome == "reapplied"
    assert "`deeprefine-db undo r1`" in only(derived).note


def test_new_name_taken_now_rename() -> None:
    nodes = [*NODES, node("other", "Anew")]
    stuck = only(rebase(RENAME, nodes, []))
    assert stuck.outcome == "name-taken"
    assert stuck.note == "The name 'Anew' stands for other now."
    forced = labels(rebase(RENAME, nodes, [], given=answer(stuck, "ours")))
    assert (forced["a"], forced["other"]) == ("Anew", "Anew")


def test_a_rename_never_becomes_a_merge_rename() -> None:
    derived = rebase(RENAME, [*NODES, node("other", "Anew")], [])
    assert set(labels(derived)) == {"a", "b", "c", "other"}


def test_a_name_that_others_had_from_the_start_is_not_taken_rename() -> None:
    nodes = [node("a", "Z"), node("q", "a")]
    derived = rebase('replace_node("Z", "a")', nodes, [], before=(nodes, []))
    assert only(derived).outcome == "reapplied"
    assert labels(derived) == {"a": "a", "q": "a"}


def test_a_rename_of_what_was_merged_away_meanwhile_rename() -> None:
    base = graph(NODES, [])
    renaming, merging = made_on(base, RENAME)[0], made_on(base, 'replace_node("C", "B")', MERGE)[1]
    derived = derive(base, [merging, renaming])
    assert words(derived) == ["reapplied", "already"]
    assert derived.effects[1].note == "'A' was merged into 'B'."


def test_needs_an_end_of_a_suspended_refinement_rename() -> None:
    asked = ('insert_edge("A", "calls", "New")', 'replace_node("New", "Newer")')
    derived = rebase(asked, GONE, [])
    assert words(derived) == ["target-missing", "depends-on"]
    ours = rebase(asked, GONE, [], given=answer(derived.effects[1], "ours"))
    assert words(ours) == ["target-missing", "reapplied"]
    assert labels(ours)["new"] == "Newer"


def test_needs_an_end_of_an_action_in_conflict_of_its_own_refinement_rename() -> None:
    derived = rebase('insert_edge("A", "calls", "New")|replace_node("New", "Newer")', GONE, [])
    assert words(derived) == ["target-missing", "depends-on"]
    assert derived.effects[1].cause == "r1.1"


def test_resolved_theirs_or_drop_rename() -> None:
    stuck = only(rebase(RENAME, GONE, []))
    for keep in ("theirs", "drop"):
        derived = rebase(RENAME, GONE, [], given=answer(stuck, keep))
        assert only(derived).outcome == "dropped"
        assert set(labels(derived)) == {"b", "c"}
