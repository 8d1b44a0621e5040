"""What the log gets when records change the graph."""

from __future__ import annotations

from deeprefine_graphdb.model.actions import Effect
from deeprefine_graphdb.project.derivation import conclude, extended
from deeprefine_graphdb.provenance.log import Log
from deeprefine_graphdb.provenance.records import ConflictBody, EventBody, SettledBody, read_effects
from tests.unit.provenance.history import event, journal, refinement


def history() -> Log:
    return Log(
        journal(
            refinement("r1"), event("applied", "r1"),
            refinement("r2"), event("applied", "r2"),
            refinement("r3"), event("applied", "r3"),
        )
    )  # fmt: skip


SAID = [event("undone", "r1"), event("undone", "r2")]


def effect(outcome: str, refinement_id: str = "r3") -> Effect:
    return Effect(id=f"{refinement_id}.1", action=f"{refinement_id}.1", outcome=outcome)


def test_what_comes_out_otherwise_stands_beside_the_last_record_that_caused_it() -> None:
    log = history()
    found = conclude(log, SAID, {"r3": [effect("reapplied")]})
    assert [[each.action for each in read_effects(record)] for record in found.records] == [[], ["r3.1"]]
    assert [record.kind for record in found.records] == [EventBody.KIND] * 2


def test_what_comes_out_as_recorded_is_not_recorded_again() -> None:
    log = history()
    found = conclude(log, SAID, {"r3": log.effects_of("r3")})
    assert list(found.records) == SAID
    assert (found.became, found.changed, found.opened, found.settled) == ((), (), (), ())


def test_conflicts_that_open_or_are_over_follow_and_those_of_refinements_not_judged_stay() -> None:
    log = history()
    first = conclude(log, SAID, {"r3": [effect("target-missing")]})
    assert [record.kind for record in first.records] == [EventBody.KIND] * 2 + [ConflictBody.KIND]
    after = extended(log, first.records)
    stays = conclude(after, SAID[:1], {}, kept=[effect("target-missing")])
    assert (stays.opened, stays.settled) == ((), ())
    over = conclude(after, SAID[:1], {"r3": [effect("reapplied")]})
    assert [record.kind for record in over.records] == [EventBody.KIND, SettledBody.KIND]
    assert [each.id for each in over.settled] == [each.id for each in first.opened]
