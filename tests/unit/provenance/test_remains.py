"""What the history speaks of stays in the graph, retired, when a new graph.json does not have it."""

from __future__ import annotations

from deeprefine_graphdb.provenance.project import project_all
from deeprefine_graphdb.provenance.records import EventBody, to_record
from deeprefine_graphdb.provenance.remains import left_behind
from tests.unit.provenance.history import TS, proposal, refinement, trace


def test_entities_that_were_shown_or_touched_and_are_gone_are_given_once_as_retired() -> None:
    records = [to_record(trace(), TS), to_record(proposal(), TS), refinement(ends=("b", "c"))]
    rows = left_behind(records, {"a"}, revision=7)
    assert [(row.id, row.label, row.retired_by, row.live) for row in rows] == [
        ("b", "B", "sync:7", False),
        ("c", "C", "sync:7", False),
    ]


def test_with_them_every_relationship_to_an_entity_has_both_ends() -> None:
    records = [to_record(trace(), TS), to_record(proposal(), TS), refinement(ends=("b", "c"))]
    rows = project_all(records)
    ends = {row.to_key for row in rows.relations if row.to_table == "Entity"}
    assert ends == {row.id for row in left_behind(records, (), revision=1)}


def test_nothing_is_left_behind_when_all_is_there() -> None:
    assert left_behind([to_record(trace(), TS)], {"a", "b"}, revision=1) == []


def test_an_entity_that_an_action_was_bound_to_only_when_it_was_derived_again_is_left_behind_too() -> None:
    made = refinement(ends=("b", "c"))
    again = {**made.effects[0], "bound": {"subject": "b", "object": "c_2"}}
    event = EventBody(id="u1.1", event="undone", of="other", of_kind="refinement", by="t")
    records = [to_record(proposal(), TS), made, to_record(event, TS).model_copy(update={"effects": [again]})]
    rows = left_behind(records, {"b", "c"}, revision=2)
    assert [(row.id, row.label) for row in rows] == [("c_2", "C")]
    ends = {row.to_key for row in project_all(records).relations if row.to_table == "Entity"}
    assert ends == {"b", "c", "c_2"}
