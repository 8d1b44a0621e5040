"""Each named question gives the right answer about a history that is known, on the engine under test."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest

from deeprefine_graphdb.model.errors import UsageError
from deeprefine_graphdb.provenance.audit import list_audits, run_audit
from deeprefine_graphdb.provenance.guard import check_reading
from deeprefine_graphdb.stores import statements
from deeprefine_graphdb.stores.embedded import EmbeddedStore
from tests.audit.scene import empty_scene

pytestmark = pytest.mark.engine

NEEDED: Mapping[str, Mapping[str, str | int]] = {
    "why-edge": {"subject": "dulce", "object": "argentina"},
    "why-entity": {"entity": "toffee"},
}


def answer(store: EmbeddedStore, name: str, *columns: str, **params: str | int) -> list[tuple[Any, ...]]:
    table = run_audit(store, name, params)
    places = [table.columns.index(column) for column in columns]
    return [tuple(row[place] for place in places) for row in table.rows]


def test_an_edge_that_was_deleted_tells_where_it_came_from_and_who_deleted_it(store: EmbeddedStore) -> None:
    rows = answer(
        store, "why-edge", "state", "what", "action", "by", "question", subject="dulce", object="argentina"
    )
    assert rows == [
        ("removed", "in graph.json", None, None, None),
        ("removed", "removed", "r1.2", "ana", "what is dulce?"),
    ]


def test_an_edge_that_was_inserted_tells_its_action_and_its_review(store: EmbeddedStore) -> None:
    rows = answer(store, "why-edge", "state", "what", "action", "label", subject="dulce", object="caramel")
    assert rows == [("live", "added", "r1.1", "HIGH")]


def test_an_edge_that_nobody_touched_is_as_in_the_file(store: EmbeddedStore) -> None:
    rows = answer(store, "why-edge", "what", "action", subject="toffee", object="sugar", relation="made_of")
    assert rows == [("in graph.json", None)]
    assert answer(store, "why-edge", "what", subject="toffee", object="sugar", relation="no") == []


@pytest.mark.parametrize("name", ["toffee", "english toffee"])
def test_an_entity_is_found_by_id_and_by_its_new_name(store: EmbeddedStore, name: str) -> None:
    rows = answer(store, "why-entity", "id", "label", "action", "review", "by", entity=name)
    assert rows == [("toffee", "english toffee", "r1.3", "MEDIUM", "ana")]


def test_an_entity_that_nobody_touched_has_one_row_without_an_action(store: EmbeddedStore) -> None:
    assert answer(store, "why-entity", "id", "state", "action", entity="milk") == [("milk", "live", None)]


@pytest.mark.parametrize("question", ["q1", "dulce", "what is dulce?"])
def test_a_question_names_what_it_changed(store: EmbeddedStore, question: str) -> None:
    rows = answer(store, "question-changes", "action", "state", question=question)
    assert rows == [("r1.1", "active"), ("r1.2", "active"), ("r1.3", "active"), ("r1.4", "active")]


def test_what_was_undone_is_told_as_undone(store: EmbeddedStore) -> None:
    assert answer(store, "question-changes", "action", "what", "state", question="q3") == [
        ("r3.1", "replace caramel by sugar", "undone")
    ]


def test_what_was_removed_is_listed_with_its_action(store: EmbeddedStore) -> None:
    assert answer(store, "removed", "kind", "what", "how", "action") == [
        ("edge", "dulce -from-> argentina", "removed", "r1.2")
    ]


def test_low_confidence_actions_that_were_applied_are_found(store: EmbeddedStore) -> None:
    assert answer(store, "low-confidence-applied", "action", "by") == [("r1.4", "ana"), ("r3.1", "ben")]
    assert answer(store, "low-confidence-applied", "action", label="MEDIUM") == [("r1.3",)]


def test_the_most_edited_entities_come_first_and_the_list_is_limited(store: EmbeddedStore) -> None:
    rows = answer(store, "most-edited-entities", "id", "actions", "refinements", "last")
    assert rows[:2] == [
        ("dulce", 3, 1, "2026-03-01T06:00:00.000000Z"),
        ("caramel", 2, 2, "2026-03-01T10:00:00.000000Z"),
    ]
    assert answer(store, "most-edited-entities", "id", limit=1) == [("dulce",)]
    assert answer(store, "most-edited-entities", "id", limit="2") == [("dulce",), ("caramel",)]


def test_questions_without_an_answer_are_listed_with_the_diagnosis(store: EmbeddedStore) -> None:
    assert answer(store, "unanswered-questions", "id", "runs", "diagnosis", "proposals") == [
        ("q1", 1, "The link to caramel is missing.", 1),
        ("q4", 0, None, 0),
    ]


def test_the_model_behind_an_undone_refinement_is_named(store: EmbeddedStore) -> None:
    rows = answer(store, "models-undone", "model", "refinement", "actions", "by", "note")
    assert rows == [("model-b", "r3", 1, "ana", "sugar is no caramel")]


def test_changes_are_counted_by_file_each_action_once(store: EmbeddedStore) -> None:
    assert answer(store, "changes-by-file", "file", "actions", "refinements") == [
        ("land.md", 4, 2),
        ("food.md", 3, 2),
        ("", 1, 1),
    ]


def test_changes_are_counted_by_day_and_kind(store: EmbeddedStore) -> None:
    rows = run_audit(store, "changes-by-day").rows
    assert rows == [("2026-03-01", 2, 5, 2, 1, 2)]
    assert all(type(value) is int for value in rows[0][1:])


def test_tokens_are_related_to_the_actions_that_were_applied(store: EmbeddedStore) -> None:
    rows = answer(
        store,
        "tokens-per-applied-action",
        "question",
        "tokens_in",
        "tokens_out",
        "applied",
        "tokens_per_action",
    )
    assert rows == [
        ("what is dulce?", 400, 40, 4, 110),
        ("what is caramel?", 210, 30, 1, 240),
        ("what is milk?", 40, 10, 0, None),
    ]


def test_entities_that_never_helped_are_found(store: EmbeddedStore) -> None:
    assert answer(store, "retrieved-never-in-answer", "id", "steps") == [("toffee", 1)]


def test_conflicts_name_the_action_that_does_not_apply(store: EmbeddedStore) -> None:
    assert answer(store, "conflicts", "kind", "action", "refinement", "resolved") == [
        ("target-missing", "r1.2", "r1", "")
    ]


def test_renames_and_merges_are_told_apart(store: EmbeddedStore) -> None:
    assert answer(store, "renamed-and-merged", "kind", "old", "new") == [
        ("rename", "toffee", "english toffee"),
        ("merge", "caramel", "sugar"),
    ]


def test_reviews_and_decisions_stand_beside_each_proposal(store: EmbeddedStore) -> None:
    assert answer(store, "review-decisions", "proposal", "reviewers", "decisions", "refinements") == [
        ("p1", ["deeprefine-db"], ["approved by ana"], ["r1"]),
        ("p3", [], [], ["r3"]),
        ("p4", [], ["rejected by ben"], []),
    ]


def test_model_use_is_summed_by_stage(store: EmbeddedStore) -> None:
    assert answer(store, "model-use", "model", "stage", "calls", "tokens_in", "seconds") == [
        ("model-a", "judgement", 4, 340, 2.0),
        ("model-a", "refinement", 1, 100, 0.5),
        ("model-b", "judgement", 2, 140, 1.0),
        ("model-b", "refinement", 1, 70, 0.5),
    ]


def test_snapshots_say_how_far_the_file_is_from_the_base(store: EmbeddedStore) -> None:
    rows = answer(store, "snapshots", "kind", "nodes", "active", "differs")
    assert [row[:3] for row in rows] == [("sync", 6, "[]"), ("export", 7, '["r1"]')]
    assert '"objects":{"added":2,"removed":1}' in rows[1][3]


def test_every_audit_runs_on_a_store_without_any_history(tmp_path: Path) -> None:
    with empty_scene(tmp_path).open("read") as store:
        for audit in list_audits():
            table = run_audit(store, audit.name, NEEDED.get(audit.name, {}))
            assert table.columns == audit.columns
            assert all(len(row) == len(audit.columns) for row in table.rows)


@pytest.mark.parametrize("name", [audit.name for audit in list_audits()])
def test_an_audit_is_a_reading_statement_with_the_parameters_of_its_header(name: str) -> None:
    statement = statements.load(f"audit/{name.replace('-', '_')}", "kuzu")
    assert set(check_reading(statement.text).parameters) == statement.params.keys()


@pytest.mark.parametrize("name", [audit.name for audit in list_audits()])
def test_no_audit_counts_distinct_values_beside_other_sums(name: str) -> None:
    """Kùzu 0.11.3 gives NULLs for the others, or dies of SIGSEGV, when a grouped query mixes the two."""
    assert "(DISTINCT" not in statements.load(f"audit/{name.replace('-', '_')}", "kuzu").text


def test_there_are_at_least_fifteen_audits_each_with_a_purpose_and_defaults_it_declares() -> None:
    audits = list_audits()
    assert len(audits) >= 15
    for audit in audits:
        assert audit.purpose.endswith(".")
        assert "defaults" not in audit.purpose
        assert audit.defaults.keys() <= audit.params.keys()
        assert audit.columns


def test_an_unknown_audit_a_missing_and_an_unknown_parameter_are_refused(store: EmbeddedStore) -> None:
    for name, params, word in (
        ("nothing", {}, "audit list"),
        ("why-entity", {}, "-p entity="),
        ("why-entity", {"entity": "x", "colour": "red"}, "colour"),
        ("removed", {"limit": "many"}, "whole number"),
        ("removed", {"limit": -1}, "whole number"),
    ):
        with pytest.raises(UsageError) as refused:
            run_audit(store, name, params)
        assert word in str(refused.value)
