"""Every record is whole: what is read back is what was written, and nothing else is taken."""

from __future__ import annotations

import json
import re

import pytest
from pydantic import ValidationError

from deeprefine_graphdb.model.actions import Resolution
from deeprefine_graphdb.model.errors import StoreDamaged
from deeprefine_graphdb.model.graph import Triple
from deeprefine_graphdb.model.write import NewRecord
from deeprefine_graphdb.provenance.records import (
    BODIES,
    AnyBody,
    ConflictBody,
    EventBody,
    ExportBody,
    Origins,
    ProposalBody,
    QueryBody,
    RefinementBody,
    ResolutionBody,
    ReviewBody,
    SettledBody,
    StepBody,
    SyncBody,
    UnionBody,
    UpdateBody,
    new_id,
    now,
    read_body,
    read_effects,
    to_record,
)
from tests.unit.provenance.history import TS, proposal, refinement, trace

SAMPLES: list[AnyBody] = [
    QueryBody(id="q", question="why? \ud83d ünï"),
    trace(),
    proposal(),
    ReviewBody(id="v", proposal_id="p1"),
    read_body(refinement()),
    EventBody(id="e", event="approved", of="p1", of_kind="proposal"),
    SyncBody(id="y", file_digest="f", base_digest="b", revision=1),
    ExportBody(
        id="x", file_digest="f", base_digest="b", revision=1, manifest={"entries": []}, active=("r1",)
    ),
    ConflictBody(id="c", action="r1.1", kind="target-missing"),
    SettledBody(id="v1", conflict="c", how="ours"),
    ResolutionBody(id="w", conflict="c", resolution=Resolution(action="r1.1", keep="ours")),
    UpdateBody(id="g", phase="started", base_digest="b"),
    UnionBody(id="u", taken=("r1",), origins=(Origins(side="y1", aware=("r2",), refinements=("r1",)),)),
]


def test_there_is_a_sample_of_every_kind() -> None:
    assert {body.KIND for body in SAMPLES} == BODIES.keys()


@pytest.mark.parametrize("body", SAMPLES, ids=lambda body: body.KIND)
def test_a_record_survives_the_journal_whole(body: AnyBody) -> None:
    line = json.dumps(to_record(body, TS).model_dump(mode="json"))
    record = NewRecord.model_validate(json.loads(line))
    assert record.ts == TS
    assert read_body(record) == body


def test_effects_stand_beside_the_record_and_come_back() -> None:
    record = refinement(numbers=(2, 3))
    assert [effect.action for effect in read_effects(record)] == ["r1.1", "r1.2"]
    assert "effects" not in record.body


def test_an_unknown_kind_and_an_unknown_key_are_damage() -> None:
    with pytest.raises(StoreDamaged, match="kind 'poem' is unknown"):
        read_body(NewRecord(kind="poem", ts=TS, body={}))
    with pytest.raises(StoreDamaged, match=r"\(query\) cannot be read: colour: .*Restore the journal"):
        read_body(NewRecord(kind="query", ts=TS, body={"id": "q", "question": "x", "colour": "red"}))


def test_the_actions_of_a_proposal_are_numbered_without_a_gap() -> None:
    whole = proposal(labels=["HIGH", "LOW"]).model_dump()
    whole["actions"] = whole["actions"][1:]
    with pytest.raises(ValidationError, match="numbered from 1"):
        ProposalBody.model_validate(whole)


def test_the_actions_of_a_refinement_carry_its_name_and_another_number_each() -> None:
    whole = refinement(numbers=(1, 3)).body
    assert [number for number, _ in RefinementBody.model_validate(whole).numbered()] == [1, 3]
    assert [number for number, _ in RefinementBody.model_validate(whole | {"numbers": []}).numbered()] == [
        1,
        2,
    ]
    with pytest.raises(ValidationError, match="named after its refinement"):
        RefinementBody.model_validate(whole | {"id": "r2"})
    with pytest.raises(ValidationError, match="another action"):
        RefinementBody.model_validate(whole | {"numbers": [1, 1]})
    with pytest.raises(ValidationError, match="another action"):
        RefinementBody.model_validate(whole | {"numbers": [1]})


def test_a_step_names_each_entity_once_in_the_order_of_the_prompt() -> None:
    first = Triple(subject="B", relation="r", object="A", subject_id="b", object_id="a")
    second = Triple(subject="A", relation="r", object="Text only", subject_id="a")
    assert StepBody(number=1, triples=(first, second)).retrieved() == [("b", "B"), ("a", "A")]


def test_ids_are_unique_and_fit_into_a_stamp() -> None:
    ids = {new_id("r") for _ in range(1000)}
    assert len(ids) == 1000
    assert all(re.fullmatch(r"r[0-9a-f]{16}", each) for each in ids)


def test_later_times_sort_later() -> None:
    first, second = now(), now()
    assert first <= second
    assert re.fullmatch(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{6}Z", first)
