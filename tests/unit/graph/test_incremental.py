"""Undo, redo and a person's word, one behaviour at a time."""

from __future__ import annotations

import pytest

from deeprefine_graphdb.grammar.actions import parse_answer
from deeprefine_graphdb.graph.compile import compile_overlay
from deeprefine_graphdb.graph.derive import Given
from deeprefine_graphdb.graph.incremental import Undo, rederive, undo
from deeprefine_graphdb.model.actions import Resolution
from tests.unit.graph.rebased import MERGE, NODES, RENAME, USES, B, made_on, without
from tests.unit.graph.small import graph, link, node
from tests.unit.graph.test_incremental_laws import History, assert_same, of_sides

CALLED = link("c", "calls", "a")


def store(
    *answers: str, nodes: list[dict[str, object]] = NODES, links: list[dict[str, object]] | None = None
) -> History:
    """Apply refinements ``r1``, ``r2`` … one after another."""
    history = History.rebased(graph(nodes, [USES, CALLED] if links is None else links), [])
    history.made = 0
    for answer in answers:
        history.apply(parse_answer(f"<refinement>{answer}</refinement>"))
    assert len(history.active) == len(answers)
    return history


def planned(history: History, refinement_id: str, *, cascade: bool = False) -> Undo:
    return undo(history.store, history.active, refinement_id, history.given, cascade=cascade)


def outcome_of(history: History, refinement_id: str) -> list[str]:
    (found,) = (each for each in history.active if each.refinement.id == refinement_id)
    return [effect.outcome for effect in found.effects]


def test_undo_judges_nothing_again_where_nothing_later_rests_on_it() -> None:
    history = store('insert_edge("A", "calls", "C")', 'insert_edge("C", "calls", "B")', links=[USES])
    assert not planned(history, "r1").result.effects
    history.undo("r1")
    assert_same(history)


def test_what_was_added_is_retired_by_the_undo_and_not_deleted() -> None:
    history = store('insert_edge("A", "calls", "New")')
    overlay = planned(history, "r1").result.overlay
    assert {row.retired_by for row in (*overlay.entities.values(), *overlay.edges.values())} == {"undo:r1"}
    assert all(not row.live for row in overlay.entities.values())
    names = {statement.name for statement in compile_overlay(overlay)}
    assert names == {"graph/edge_retire", "graph/entity_retire", "graph/names_set"}


def test_undo_is_refused_naming_whom_it_would_bring_into_conflict() -> None:
    history = store('insert_edge("A", "calls", "New")', 'replace_node("New", "Newer")')
    refused = planned(history, "r1").refused
    assert [(each.refinement, each.action, each.after) for each in refused] == [
        ("r2", "r2.1", "target-missing")
    ]
    assert refused[0].note == "'New' (new) is not in the graph any more."
    both = planned(history, "r1", cascade=True)
    assert (both.undone, both.refused) == (("r1", "r2"), ())
    history.undo(*both.undone)
    assert history.store.bytes() == history.base.base.bytes()


def test_undo_is_refused_where_another_outcome_changes() -> None:
    history = store('insert_edge("A", "calls", "B")', 'delete_edge("A", "calls", "B")')
    refused = planned(history, "r1").refused
    assert [(each.before, each.after, each.sense) for each in refused] == [
        ("reapplied", "already", "changed")
    ]


def test_an_insert_takes_over_where_its_witness_goes_and_is_said_to_be_carried_over() -> None:
    history = store(
        'insert_edge("A", "calls", "B")', 'insert_edge("B", "is", "C")|insert_edge("A", "calls", "B")'
    )
    assert outcome_of(history, "r2") == ["applied", "already"]
    done = planned(history, "r1")
    assert not done.refused
    assert [(each.action, each.after, each.sense) for each in done.result.differences] == [
        ("r2.2", "reapplied", "carried")
    ]
    history.undo("r1")
    assert_same(history)
    history.redo(history.undone[0])
    assert_same(history)
    assert outcome_of(history, "r1") == ["already"]


def test_an_end_that_goes_with_its_creator_is_created_by_whom_it_serves() -> None:
    history = store('insert_edge("A", "calls", "New")', 'insert_edge("New", "is", "B")')
    assert not planned(history, "r1").refused
    history.undo("r1")
    assert_same(history)
    created = history.store.entity("new")
    assert created is not None
    assert created.added_by == "r2.1"


def test_undo_of_a_merge_gives_back_what_was_moved_folded_and_dropped() -> None:
    links = [USES, CALLED, link("c", "calls", "b"), link("a", "is", "b")]
    history = store(MERGE, 'insert_edge("A", "is", "C")', links=links)
    assert planned(history, "r1").refused == ()
    history.undo("r1")
    assert_same(history)
    history.undo("r2")
    assert history.store.bytes() == history.base.base.bytes()


def test_what_looked_through_a_merge_is_judged_again_without_it() -> None:
    first = graph(NODES, [USES])
    answers = ('insert_edge("A", "calls", "C")', MERGE)
    history = History.rebased(graph(without(NODES, "a"), []), made_on(first, *answers))
    assert outcome_of(history, "r1") == ["reapplied"]
    refused = planned(history, "r2").refused
    assert [(each.refinement, each.after) for each in refused] == [("r1", "target-missing")]


def test_a_suspended_refinement_can_always_be_undone() -> None:
    first = graph(NODES, [USES])
    answers = ('insert_edge("A", "calls", "C")', f'{MERGE}|replace_node("C", "Cnew")')
    history = History.rebased(
        graph([B, node("c", "Other", source_file="c.py")], []), made_on(first, *answers)
    )
    assert outcome_of(history, "r2") == ["held", "label-changed"]
    done = planned(history, "r2")
    assert not done.refused
    assert [(each.refinement, each.after) for each in done.result.differences] == [("r1", "target-missing")]


def test_what_was_suspended_heals_when_what_stood_in_its_way_is_undone() -> None:
    history = store(RENAME)
    history.undo("r1")
    history.apply(parse_answer('<refinement>insert_edge("B", "is", "Anew")</refinement>'))
    history.redo(history.undone.pop())
    assert outcome_of(history, "r1") == ["name-taken"]
    done = planned(history, "r2")
    assert [(each.action, each.sense) for each in done.result.differences] == [("r1.1", "healed")]
    assert not done.refused
    history.undo("r2")
    assert_same(history)


def test_a_redo_that_is_in_conflict_says_so_and_changes_nothing() -> None:
    history = store(RENAME)
    history.undo("r1")
    history.apply(parse_answer('<refinement>insert_edge("B", "is", "Anew")</refinement>'))
    result = rederive(history.store, history.active, redone=history.undone[:1])
    assert [effect.outcome for effect in result.effects["r1"]] == ["name-taken"]
    assert result.suspended == {"r1"}
    assert not list(result.overlay.rows())


def test_a_word_on_a_conflict_is_carried_out_at_once() -> None:
    first = graph(NODES, [USES])
    history = History.rebased(
        graph(without(NODES, "a"), []), made_on(first, 'insert_edge("A", "calls", "C")')
    )
    stuck = history.active[0].effects[0]
    word = Resolution(action=stuck.id, keep="ours", kind=stuck.outcome, ground=stuck.ground)
    given = Given(resolutions=(word,))
    result = rederive(history.store, history.active, given, again={"r1"})
    assert [effect.outcome for effect in result.effects["r1"]] == ["reapplied"]
    assert [each.sense for each in result.differences] == ["healed"]
    assert result.view.entity("a") is not None


def test_an_edge_that_one_merge_moves_elsewhere_the_second_time_has_another_key() -> None:
    nodes = [*NODES, node("d", "D")]
    history = store(MERGE, nodes=nodes)
    history.undo("r1")
    history.apply(parse_answer('<refinement>replace_node("B", "D")</refinement>'))
    history.redo(history.undone.pop())
    assert_same(history)
    moved = {edge.tgt: edge.key for edge in history.store.view.overlay.edges.values() if "@r1.1" in edge.key}
    assert set(moved) == {"b", "d"}
    assert moved["d"].startswith(moved["b"] + "~")


def test_a_merge_done_again_sets_the_edges_that_stand_there_since_its_undo() -> None:
    history = store(MERGE)
    history.undo("r1")
    result = rederive(history.store, history.active, redone=history.undone[:1])
    assert not [each for each in compile_overlay(result.overlay) if each.name == "graph/edge_add"]
    history.redo(history.undone.pop())
    assert_same(history)


@pytest.mark.parametrize("first", ["r1", "r2"])
def test_what_another_store_says_to_the_contrary_counts_only_while_it_is_active(first: str) -> None:
    base = graph(NODES, [USES])
    erase = 'delete_edge("A", "uses", "B")'
    made = [
        *made_on(base, erase),
        made_on(base, 'insert_edge("B", "is", "C")', 'insert_edge("A", "uses", "B")')[1],
    ]
    order = made if first == "r1" else made[::-1]
    history = History.rebased(base, of_sides(order, [True]))
    second = "r2" if first == "r1" else "r1"
    assert outcome_of(history, second) == ["opposed"]
    done = planned(history, first)
    assert [(each.refinement, each.sense) for each in done.result.differences] == [(second, "healed")]
    history.undo(first)
    assert_same(history)


NEEDED = ('insert_edge("A", "calls", "New")', 'insert_edge("New", "is", "B")')


def test_undoing_a_suspended_refinement_frees_what_depends_on_it() -> None:
    history = History.rebased(graph(without(NODES, "a"), []), made_on(graph(NODES, []), *NEEDED))
    assert outcome_of(history, "r2") == ["depends-on"]
    history.undo("r1")
    assert_same(history)
    assert outcome_of(history, "r2") == ["reapplied"]


def test_leaving_an_action_out_frees_what_depends_on_its_refinement() -> None:
    history = History.rebased(graph(without(NODES, "a"), []), made_on(graph(NODES, []), *NEEDED))
    history.resolve("theirs", 0)
    assert_same(history)
    assert [outcome_of(history, each) for each in ("r1", "r2")] == [["dropped"], ["reapplied"]]


def test_dropping_what_another_store_said_frees_what_it_opposed() -> None:
    made = [
        *made_on(graph(NODES, [USES]), 'delete_edge("A", "uses", "B")'),
        made_on(graph(NODES, []), 'insert_edge("B", "is", "C")', 'insert_edge("A", "uses", "B")')[1],
    ]
    history = History.rebased(graph(NODES, []), of_sides(made, [True]))
    assert [outcome_of(history, each) for each in ("r1", "r2")] == [["already"], ["opposed"]]
    history.words.append(Resolution(action="r1.1", keep="drop"))
    history.judge_again("r1")
    assert_same(history)
    assert outcome_of(history, "r2") == ["reapplied"]


def test_an_edge_both_ends_of_which_were_merged_goes_back_at_one_end() -> None:
    history = store(
        'replace_node("A", "D")', 'replace_node("B", "C")', nodes=[*NODES, node("d", "D")], links=[USES]
    )
    history.undo("r1")
    assert_same(history)
    assert [(edge.src, edge.tgt) for edge in history.store.edges_of("a") if edge.live] == [("a", "c")]
