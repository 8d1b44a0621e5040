"""Nodes and relationships depend on the records alone, and are written by few statements that return nothing."""

from __future__ import annotations

import json
import random

import pytest

from deeprefine_graphdb.model.actions import Effect, ObjectChange
from deeprefine_graphdb.model.write import NodeRow, RelRow
from deeprefine_graphdb.provenance.columns import NODE_COLUMNS, RELATIONS
from deeprefine_graphdb.provenance.compile import compile_rows, record_statements
from deeprefine_graphdb.provenance.nodes import SHOWN_IMAGES, touched
from deeprefine_graphdb.provenance.project import Projection, project, project_all
from deeprefine_graphdb.provenance.records import (
    QueryBody,
    RefinementBody,
    read_body,
    read_effects,
    to_record,
)
from deeprefine_graphdb.stores import schema, statements
from tests.unit.provenance.history import TS, event, proposal, refinement, trace


def node(rows: Projection, table: str, key: str) -> NodeRow:
    return next(each for each in rows.nodes if (each.table, each.key) == (table, key))


def test_the_tables_are_those_of_the_schema() -> None:
    declared = {
        name: tuple(table.columns) for name, table in schema.node_tables().items() if name in NODE_COLUMNS
    }
    assert declared == dict(NODE_COLUMNS)
    pairs = {
        pair: tuple(table.columns) for pair, table in schema.rel_tables().items() if pair[0] != "RELATES"
    }
    assert pairs == dict(RELATIONS)


def test_every_node_has_a_caption_an_iso_time_and_exactly_its_columns() -> None:
    rows = project_all([
        to_record(trace(), TS),
        to_record(proposal(trace_id="t1"), TS),
        refinement(),
        event("applied", "r1"),
    ])
    assert {each.table for each in rows.nodes} == {
        "Query",
        "Trace",
        "Step",
        "LLMCall",
        "Proposal",
        "Action",
        "Refinement",
        "Effect",
        "Event",
    }
    for each in rows.nodes:
        assert tuple(each.columns) == NODE_COLUMNS[each.table]
        assert each.columns["caption"]
        assert each.columns["ts"] == TS


def test_the_first_record_of_a_question_stands() -> None:
    rows = project_all([
        to_record(QueryBody(id="q1", question="why?", source="memory"), TS),
        to_record(trace("t1"), "2027-01-01T00:00:00.000000Z"),
        to_record(trace("t2"), "2028-01-01T00:00:00.000000Z"),
    ])
    queries = [each for each in rows.nodes if each.table == "Query"]
    assert [(each.key, each.columns["source"], each.columns["ts"]) for each in queries] == [
        ("q1", "memory", TS)
    ]


def test_an_applied_action_is_one_statement() -> None:
    records = [refinement(numbers=(1, 2)), event("applied", "r1")]
    assert [each.name for each in record_statements(records)] == [
        "provenance/refinement",
        "provenance/effect_on_two",
        "provenance/effect_on_two",
        "provenance/event_of_refinement",
    ]


def test_an_action_whose_ends_are_one_entity_touches_it_once() -> None:
    (statement,) = record_statements([refinement(ends=("a", "a"))])[1:]
    assert statement.name == "provenance/effect_on_one"
    assert (statement.params["first"], statement.params["first_how"]) == ("a", "subject and object")


def test_an_effect_hangs_from_the_action_of_the_proposal_that_it_carried_out() -> None:
    rows = project(refinement(numbers=(1, 4)))
    assert node(rows, "Effect", "r1.2").columns["action_id"] == "p1.4"
    assert ("APPLIED", "r1", "p1.4") in {(row.type, row.from_key, row.to_key) for row in rows.relations}


def test_what_an_effect_was_bound_to_stands_before_the_reference() -> None:
    body = read_body(refinement())
    assert isinstance(body, RefinementBody)
    bound = body.actions[0]
    effect = Effect(id="r1.1", action="r1.1", bound={"object": "c"})
    assert touched(bound, None) == [("a", "subject"), ("b", "object")]
    assert touched(bound, effect) == [("a", "subject"), ("c", "object")]


def test_texts_that_an_engine_refuses_are_escaped_the_same_way_everywhere() -> None:
    rows = project(to_record(QueryBody(id="q\ud83d", question="why \ud83d ü?"), TS))
    assert rows.nodes[0].key == rows.nodes[0].columns["id"] == "q\\ud83d"
    assert rows.nodes[0].columns["question"] == "why \\ud83d ü?"


def test_a_hub_shows_its_first_images_and_how_many_more_there_are() -> None:
    record = refinement()
    changes = tuple(
        ObjectChange(table="RELATES", key=f"k{n}", how="moved", before={"key": n})
        for n in range(SHOWN_IMAGES + 7)
    )
    effect = read_effects(record)[0].model_copy(update={"changes": changes})
    rows = project(record.model_copy(update={"effects": [effect.model_dump(mode="json")]}))
    columns = node(rows, "Effect", "r1.1").columns
    assert json.loads(columns["before"])["more"] == 7
    assert len(json.loads(columns["before"])) == SHOWN_IMAGES + 1
    assert len(json.loads(columns["changes"])) == SHOWN_IMAGES + 7
    assert columns["after"] == "{}"


def test_the_footprint_of_a_node_leaves_out_the_digests() -> None:
    rows = project(to_record(proposal(seen=["entity:a"]), TS))
    assert json.loads(node(rows, "Proposal", "p1").columns["footprint"]) == {"ids": [], "names": []}


@pytest.mark.parametrize("seed", range(5))
def test_the_projection_does_not_depend_on_the_order_of_keys(seed: int) -> None:
    record = refinement(numbers=(1, 2))
    shuffled = list(record.body.items())
    random.Random(seed).shuffle(shuffled)
    assert project(record.model_copy(update={"body": dict(shuffled)})) == project(record)


def test_every_statement_gets_the_parameters_of_its_header() -> None:
    records = [
        to_record(trace(), TS),
        to_record(proposal(trace_id="t1"), TS),
        to_record(proposal("p2"), TS),
        refinement(),
        refinement("r2", "p2", ends=("a", "a")),
        event("approved", "p1"),
        event("applied", "r1"),
    ]
    for each in record_statements(records):
        statement = statements.load(each.name, "kuzu")
        statement.check(each.params)
        assert statement.columns == ()


def test_every_owner_and_every_relationship_has_a_statement() -> None:
    for kind, start, end in RELATIONS:
        if kind in {"RETRIEVED", "TOUCHED", "APPLIED", "REVERTS"}:
            row = RelRow(
                type=kind,
                from_table=start,
                from_key="a",
                to_table=end,
                to_key="b",
                columns={name: 1 if name == "rank" else "x" for name in RELATIONS[kind, start, end]},
            )
            (written,) = compile_rows(Projection(relations=(row,)))
            statements.load(written.name, "kuzu").check(written.params)


def test_no_statement_of_the_log_returns_rows_or_deletes() -> None:
    for name in statements.names("provenance", "kuzu"):
        statement = statements.load(name, "kuzu")
        words = statement.text.split()
        assert ("RETURN" in words) == name.startswith("provenance/read_")
        assert not {"DELETE", "DETACH", "REMOVE"} & set(words)


def test_an_effect_without_its_refinement_is_refused() -> None:
    rows = project(refinement())
    effects = tuple(each for each in rows.nodes if each.table == "Effect")
    with pytest.raises(ValueError, match="APPLIED"):
        compile_rows(Projection(nodes=effects))
