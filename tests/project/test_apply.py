"""Applying on a real store: all of a refinement or nothing of it, once, and what was shown is what runs."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from deeprefine_graphdb.graph.render import graph_digest
from deeprefine_graphdb.model.errors import (
    ActionRefused,
    NeedsDecision,
    NothingToDo,
    StaleProposal,
    WriteFailed,
)
from deeprefine_graphdb.model.write import Statement, WritePlan
from deeprefine_graphdb.project.apply import apply_proposal, preview, reject_proposal
from deeprefine_graphdb.project.doctor import check
from deeprefine_graphdb.project.knowledge_base import KnowledgeBase
from deeprefine_graphdb.project.sync import sync
from deeprefine_graphdb.provenance.compile import record_statements
from deeprefine_graphdb.provenance.records import ProposalBody, RefinementFlags, to_record
from deeprefine_graphdb.stores.engine import Engine
from tests.support.jobs import apply, make_root, proposal

pytestmark = pytest.mark.engine
ALLOW = RefinementFlags(allow_low_confidence=True)


@pytest.fixture
def base(tmp_path: Path) -> KnowledgeBase:
    made = make_root(tmp_path / "kb")
    sync(made)
    return made


def digest(base: KnowledgeBase) -> str:
    with base.open("read") as store:
        return graph_digest(store)


def labelled(body: ProposalBody, label: str, *, executable: bool = True) -> ProposalBody:
    changed = [each.model_copy(update={"label": label, "executable": executable}) for each in body.actions]
    return body.model_copy(update={"actions": tuple(changed)})


def test_an_error_at_any_statement_leaves_the_graph_and_the_log_as_before(
    base: KnowledgeBase, monkeypatch: pytest.MonkeyPatch
) -> None:
    before, records = digest(base), len(base.records())
    total = len(preview(base, proposal(), by="t", flags=ALLOW).program)
    assert total > 20
    original = Engine.transaction
    for at in range(total):

        def failing(self: Engine, program: Any, at: int = at) -> None:
            broken = list(program)
            broken[at] = Statement(name="graph/entity_add", params=broken_entity())
            original(self, broken)

        monkeypatch.setattr(Engine, "transaction", failing)
        with pytest.raises(WriteFailed):
            apply(base)
        monkeypatch.setattr(Engine, "transaction", original)
        assert digest(base) == before, at
        assert len(base.records()) == records, at
    assert apply(base).revision == 1
    assert check(base).healthy


def broken_entity() -> dict[str, Any]:
    """Give the columns of an entity whose id is taken, which every engine refuses."""
    columns = (
        "label norm_label file_type source_file source_location community origin raw added_by changed_by retired_by "
        "retired_as successor seq"
    )
    return {"id": "server", **dict.fromkeys(columns.split()), "label": "x"}


def test_what_a_dry_run_shows_is_what_runs(base: KnowledgeBase, monkeypatch: pytest.MonkeyPatch) -> None:
    shown = preview(base, proposal(), by="t", flags=ALLOW)
    ran: list[Statement] = []
    original = Engine.transaction

    def watched(self: Engine, program: Any) -> None:
        ran.extend(program)
        original(self, program)

    monkeypatch.setattr(Engine, "transaction", watched)
    apply_proposal(base, proposal(), by="t", flags=ALLOW)
    graph = [
        each
        for each in shown.program
        if each.name.startswith("graph/") and not each.name.startswith("graph/store_")
    ]
    assert graph == [
        each for each in ran if each.name.startswith("graph/") and not each.name.startswith("graph/store_")
    ]
    assert [each.name for each in shown.program] == [each.name for each in ran]


def test_a_dry_run_changes_nothing(base: KnowledgeBase) -> None:
    before = digest(base)
    preview(base, proposal(), by="t", flags=ALLOW)
    assert (digest(base), len(base.records())) == (before, 1)


def test_a_second_apply_finds_nothing_to_do(base: KnowledgeBase) -> None:
    apply(base)
    after, records = digest(base), len(base.records())
    with pytest.raises(NothingToDo, match="applied already"):
        apply(base)
    with pytest.raises(NothingToDo, match="done already"):
        apply(base, 'insert_edge("Cache", "speeds_up", "Server")', name="p2")
    assert (digest(base), len(base.records())) == (after, records)


def test_an_action_that_is_refused_stops_all_of_them(base: KnowledgeBase) -> None:
    before = digest(base)
    with pytest.raises(ActionRefused, match="Action 2"):
        apply(base, 'insert_edge("Cache", "serves", "Client")|delete_edge("Cache", "nothing", "Client")')
    assert digest(base) == before


def test_low_confidence_and_what_cannot_be_executed_need_a_decision(base: KnowledgeBase) -> None:
    low = labelled(proposal(), "LOW")
    with pytest.raises(NeedsDecision, match="LOW confidence"):
        apply_proposal(base, low, by="t")
    stuck = labelled(proposal(), "LOW", executable=False)
    with pytest.raises(NeedsDecision, match="cannot be executed"):
        apply_proposal(base, stuck, by="t", flags=ALLOW)
    assert (
        apply_proposal(
            base, low, by="t", flags=RefinementFlags(allow_low_confidence=True, only=(1,))
        ).revision
        == 1
    )


def test_only_the_chosen_actions_are_applied_and_keep_their_numbers(base: KnowledgeBase) -> None:
    report = apply_proposal(base, proposal(), by="t", flags=RefinementFlags(reject=(1, 2, 3, 5)))
    assert [action.subject for action in report.refinement.actions] == ["Disk"]
    body = base.log().refinement(report.refinement.id).body
    assert body.numbers == (4,)
    assert body.actions[0].id == f"{body.id}.1"


def test_a_proposal_whose_ground_moved_is_stale_and_says_what_moved(base: KnowledgeBase) -> None:
    planned = preview(base, proposal('insert_edge("Cache", "serves", "Client")'), by="t", flags=ALLOW).plan
    waiting = proposal('insert_edge("Cache", "serves", "Client")', name="p2")
    waiting = waiting.model_copy(update={"footprint": planned.footprint})
    apply(base, 'replace_node("Queue", "Work queue")', name="other")
    assert apply_proposal(base, waiting, by="t", flags=ALLOW).revision == 2

    later = proposal('delete_edge("Client", "calls", "Server")', name="p3")
    planned = preview(base, later, by="t", flags=ALLOW).plan
    later = later.model_copy(update={"footprint": planned.footprint})
    apply(base, 'replace_node("Client", "Customer")', name="p4")
    with pytest.raises(StaleProposal, match="client"):
        apply_proposal(base, later, by="t", flags=ALLOW)


def test_a_rejected_proposal_is_not_applied(base: KnowledgeBase) -> None:
    body, before = proposal(), digest(base)
    record = to_record(body)
    with base.open("write") as store:
        store.write(WritePlan(statements=tuple(record_statements([record])), records=(record,)))
    reject_proposal(base, body, by="t", note="not wanted")
    with pytest.raises(NeedsDecision, match="was rejected"):
        apply_proposal(base, body, by="t", flags=ALLOW)
    with pytest.raises(NothingToDo, match="rejected already"):
        reject_proposal(base, body, by="t")
    assert digest(base) == before


def test_an_applied_proposal_is_not_rejected(base: KnowledgeBase) -> None:
    apply(base)
    with pytest.raises(NeedsDecision, match="is applied"):
        reject_proposal(base, proposal(), by="t")


def test_a_refinement_is_recorded_whole(base: KnowledgeBase) -> None:
    apply(base)
    with base.open("read") as store:
        rows = store.query(
            "MATCH (r:Refinement)-[:APPLIED]->(a:Action)<-[:OF]-(e:Effect) "
            "RETURN a.number, a.kind, e.outcome, e.note ORDER BY a.number",
            {},
        ).rows
        touched = store.query(
            "MATCH (a:Action)-[:TOUCHED]->(n:Entity) RETURN DISTINCT n.id ORDER BY n.id", {}
        ).rows
    assert [row[1] for row in rows] == ["insert", "insert", "delete", "replace", "replace"]
    assert {row[2] for row in rows} == {"applied"}
    assert [row[0] for row in touched] == ["cache", "disk", "operations_guide", "server", "srv"]
