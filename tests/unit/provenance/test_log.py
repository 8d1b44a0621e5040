"""What the log says of refinements, proposals and tokens, from the records alone."""

from __future__ import annotations

import pytest

from deeprefine_graphdb.graph.rewind import written
from deeprefine_graphdb.model.errors import UsageError
from deeprefine_graphdb.model.write import NewRecord
from deeprefine_graphdb.provenance.log import Log
from deeprefine_graphdb.provenance.records import (
    ConflictBody,
    ExportBody,
    QueryBody,
    SyncBody,
    read_effects,
    to_record,
)
from tests.unit.provenance.history import TS, event, journal, proposal, refinement, trace


def test_active_refinements_stand_in_the_order_of_their_activation() -> None:
    records = journal(
        refinement("r1"), event("applied", "r1"),
        refinement("r2"), event("applied", "r2"),
        refinement("r3"), event("applied", "r3"),
        event("undone", "r1"), event("undone", "r2"),
        event("applied", "r1", 2),
    )  # fmt: skip
    assert Log(records).active() == ("r3", "r1")
    assert [(record.seq, body.id) for record, body in Log(records).active_bodies()] == [(5, "r3"), (1, "r1")]


def test_an_event_of_a_proposal_activates_nothing() -> None:
    assert Log(journal(to_record(proposal(), TS), event("approved", "p1"))).active() == ()


def test_a_refinement_is_applied_undone_suspended_or_only_recorded() -> None:
    log = Log(
        journal(
            refinement("r1"), event("applied", "r1"),
            refinement("r2"), event("applied", "r2"), event("undone", "r2"),
            refinement("r3", outcome="target-missing"), event("applied", "r3"),
            refinement("r4"),
            refinement("r5", outcome="already"), event("applied", "r5"),
        )
    )  # fmt: skip
    assert [(each.id, each.state, each.position) for each in log.refinements()] == [
        ("r1", "applied", 1),
        ("r2", "undone", None),
        ("r3", "suspended", 2),
        ("r4", "recorded", None),
        ("r5", "applied", 3),
    ]


def test_a_refinement_tells_its_question_model_labels_and_outcomes() -> None:
    log = Log(
        journal(
            to_record(trace(), TS),
            to_record(proposal(labels=["HIGH", "LOW"], trace_id="t1"), TS),
            refinement(numbers=(2,)),
            event("applied", "r1"),
            to_record(ConflictBody(id="c", action="r1.1", kind="collapsed"), TS),
        )
    )
    entry = log.refinement("r1")
    assert (entry.question, entry.model, entry.by) == ("why?", "m, n", "ana")
    assert [(a.number, a.label, a.outcome) for a in entry.actions] == [(2, "LOW", "applied")]
    assert [each.event for each in entry.events] == ["applied"]
    assert entry.proposal is not None
    assert [conflict.kind for conflict in entry.conflicts] == ["collapsed"]


def test_an_id_may_be_given_by_its_beginning_while_that_is_clear() -> None:
    log = Log(journal(refinement("rab1"), refinement("rab2"), refinement("rc")))
    assert log.refinement("rc").id == "rc"
    assert log.refinement("rab2").id == "rab2"
    with pytest.raises(UsageError, match="beginning of 2 refinements: rab1, rab2"):
        log.refinement("ra")
    with pytest.raises(UsageError, match="no refinement 'x'"):
        log.refinement("x")
    with pytest.raises(UsageError, match="no refinement ''"):
        log.refinement("")


def test_a_full_id_wins_over_longer_ones_that_begin_with_it() -> None:
    assert Log(journal(refinement("r1"), refinement("r12"))).refinement("r1").id == "r1"


def states(*records: NewRecord) -> dict[str, str]:
    log = Log(journal(*records))
    return {entry.id: entry.state for entry in log.proposals()}


def test_a_proposal_is_open_approved_rejected_applied_or_undone() -> None:
    assert states(to_record(proposal(), TS)) == {"p1": "open"}
    assert states(to_record(proposal(), TS), event("approved", "p1")) == {"p1": "approved"}
    assert states(to_record(proposal(), TS), event("approved", "p1"), event("rejected", "p1")) == {
        "p1": "rejected"
    }
    applied = [to_record(proposal(), TS), refinement(), event("applied", "r1")]
    assert states(*applied) == {"p1": "applied"}
    assert states(*applied, event("undone", "r1")) == {"p1": "undone"}


@pytest.mark.parametrize(
    ("seen", "state"),
    [
        ("edges:a", "stale"),
        ('between:["a", "b"]', "stale"),
        ("edges:c", "open"),
        ("entity:a", "open"),
    ],
)
def test_a_proposal_is_stale_when_a_later_refinement_changed_what_it_had_seen(seen: str, state: str) -> None:
    later = [to_record(proposal("p2"), TS), refinement("r1", "p2"), event("applied", "r1")]
    assert states(to_record(proposal(seen=[seen]), TS), *later)["p1"] == state


def test_what_was_there_before_a_proposal_does_not_make_it_stale() -> None:
    before = [to_record(proposal("p2"), TS), refinement("r1", "p2"), event("applied", "r1")]
    last = to_record(proposal(seen=["edges:a"]), TS)
    assert states(*before, last)["p1"] == "open"
    assert states(*before, last, event("undone", "r1"))["p1"] == "stale"


def test_the_refinements_that_made_a_proposal_stale_are_named() -> None:
    log = Log(
        journal(to_record(proposal(seen=["edges:b"]), TS), refinement("r1", "p9"), event("applied", "r1"))
    )
    assert log.proposals()[0].stale_by == ("r1",)


def test_written_questions_are_named_as_a_footprint_names_them() -> None:
    assert set(written(read_effects(refinement()))) == {'between:["a", "b"]', "edges:a", "edges:b"}


def test_a_proposal_is_found_by_the_digest_of_its_text() -> None:
    log = Log(journal(to_record(proposal("p1"), TS), to_record(proposal("p2"), TS)))
    found = log.proposal_with_digest("dp2")
    assert found is not None
    assert found.id == "p2"
    assert log.proposal_with_digest("no") is None


def test_tokens_are_summed_by_model_and_over_all() -> None:
    log = Log(journal(to_record(trace("t1"), TS), to_record(trace("t2"), TS)))
    assert [(u.model, u.calls, u.failed, u.tokens_in, u.tokens_out, u.seconds) for u in log.tokens()] == [
        ("m", 2, 0, 10, 2, 1.0),
        ("n", 2, 2, 14, 4, 2.0),
        ("", 4, 2, 24, 6, 3.0),
    ]


def test_questions_are_listed_once_whether_asked_or_traced() -> None:
    query = QueryBody(id="q0", question="first?", source="memory")
    log = Log(journal(to_record(query, TS), to_record(trace("t1"), TS), to_record(trace("t2"), TS)))
    assert [(each.id, each.question) for each in log.queries()] == [("q0", "first?"), ("q1", "why?")]
    assert [each.id for each in log.traces("q1")] == ["t1", "t2"]


def test_snapshots_keep_their_order_and_the_file_knows_how_far_it_is_behind() -> None:
    sync = to_record(SyncBody(id="y1", file_digest="f", base_digest="b", revision=1), TS)
    export = to_record(ExportBody(id="x1", file_digest="g", base_digest="b", revision=2, active=("r1",)), TS)
    log = Log(journal(sync, refinement("r1"), event("applied", "r1"), export))
    assert [each.id for each in log.snapshots()] == ["y1", "x1"]
    assert log.not_exported() == 0
    more = Log(journal(sync, refinement("r1"), event("applied", "r1"), export, event("undone", "r1")))
    assert more.not_exported() == 1
    assert Log(journal(sync, refinement("r1"), event("applied", "r1"))).not_exported() == 1
