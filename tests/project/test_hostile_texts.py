"""Any text in a name, a relation or a question comes through store, log, export and rebuild as it is."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from deeprefine_graphdb.grammar.actions import format_actions
from deeprefine_graphdb.model.actions import Action, InsertEdge, ReplaceNode
from deeprefine_graphdb.project.apply import apply_proposal
from deeprefine_graphdb.project.doctor import check
from deeprefine_graphdb.project.export import export
from deeprefine_graphdb.project.rebuild import rebuild
from deeprefine_graphdb.project.sync import sync
from deeprefine_graphdb.provenance.records import ProposalBody, ProposedAction
from tests.support.jobs import make_root

pytestmark = pytest.mark.engine

HOSTILE = (
    'it\'s "quoted" `x` \\ back',
    "a\nb\r\nc\td",
    "}) DETACH DELETE n //",
    "$id",
    "$",
    "json:1",
    'json:"x"',
    "null",
    "\ud83d",
    "\U0001f600 Ω é é",
    "\x00nul",
    "​zero width",
    "a | b",
    "f::g::h()",
    "</refinement>",
    '{"a": [1, 2]}',
    "x" * 20_000,
    "r.1:deadbeef",
    "CON",
    " edges kept ",
)


def test_hostile_texts_come_through_unchanged(tmp_path: Path) -> None:
    base = make_root(tmp_path / "kb")
    sync(base)
    actions: list[Action] = []
    for number, text in enumerate(HOSTILE):
        actions = [
            InsertEdge(subject="Server", relation=text, object=f"{text}#{number}"),
            InsertEdge(subject=f"{text}#{number}", relation="back", object="Client"),
            ReplaceNode(old=f"{text}#{number}", new=f"{text}!{number}"),
        ]
        answer = format_actions(actions)
        body = ProposalBody(
            id=f"p{number}",
            query_id=f"q{number}",
            question=text,
            source="file",
            text=answer,
            digest=str(number),
            actions=tuple(
                ProposedAction(number=n, action=each, label="HIGH") for n, each in enumerate(actions, 1)
            ),
        )
        apply_proposal(base, body, by=text)
    report = check(base)
    assert report.healthy, report
    export(base)
    data = json.loads(base.project.graph_json.read_bytes())
    labels = {each["label"] for each in data["nodes"]}
    relations = {each["relation"] for each in data["links"]}
    assert {f"{text}!{number}" for number, text in enumerate(HOSTILE)} <= labels
    assert set(HOSTILE) <= relations
    assert {
        text for text in HOSTILE if text in {entry.question for entry in base.log().refinements()}
    } == set(HOSTILE)
    assert rebuild(base).healthy
    assert export(base).outcome == "unchanged"
