"""Logs of several stores united: one order for all, nothing lost or doubled, whatever the clocks say."""

from __future__ import annotations

import itertools
from collections.abc import Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta

from hypothesis import given
from hypothesis import strategies as st

from deeprefine_graphdb.model.write import NewRecord
from deeprefine_graphdb.provenance.log import Log
from deeprefine_graphdb.provenance.records import (
    EventBody,
    QueryBody,
    RefinementBody,
    UnionBody,
    to_record,
)
from deeprefine_graphdb.provenance.union import news, united
from deeprefine_graphdb.stores.journal import chain
from tests.unit.loaders.odd_files import few
from tests.unit.provenance.history import proposal, trace

START = datetime(2026, 1, 1, tzinfo=UTC)
NAMES = "abc"


@dataclass
class Store:
    """A store's log, written by a clock that goes wrong by some seconds."""

    name: str
    skew: int
    log: Log = field(init=False)

    def __post_init__(self) -> None:
        first = to_record(QueryBody(id=f"first-{self.name}", question="?"), self.time(0))
        self.log = Log(chain([first], 0, ""))

    def time(self, now: int) -> str:
        return (START + timedelta(seconds=now + self.skew)).strftime("%Y-%m-%dT%H:%M:%S.%fZ")

    def write(self, *records: NewRecord) -> None:
        last = self.log.records[-1]
        self.log = self.log.extended(chain(records, last.seq, last.hash))

    def apply(self, refinement: str, now: int) -> None:
        ts = self.time(now)
        body = RefinementBody(id=refinement, proposal_id=f"p-{refinement}", actions=())
        self.write(to_record(body, ts), self.event("applied", refinement, now))

    def event(self, what: str, refinement: str, now: int) -> NewRecord:
        made = {"event": what, "of": refinement, "of_kind": "refinement"}
        return to_record(
            EventBody.model_validate({"id": f"e-{self.name}-{len(self.log.records)}-{what}", **made}),
            self.time(now),
        )

    def take_in(self, others: Sequence[Store]) -> None:
        self.write(*news(self.log, [other.log for other in others]))


steps = st.lists(
    st.tuples(
        st.sampled_from(NAMES), st.sampled_from(["apply", "undo", "redo", "take in"]), st.sampled_from(NAMES)
    ),
    max_size=16,
)
skews = st.lists(st.sampled_from([-50, 0, 3, 70]), min_size=3, max_size=3)


def lived(steps: list[tuple[str, str, str]], skews: list[int]) -> tuple[list[Store], dict[str, set[str]]]:
    """Play a history; give the stores, and what each refinement's store knew when it was made."""
    stores = {name: Store(name, skew) for name, skew in zip(NAMES, skews, strict=True)}
    knew: dict[str, set[str]] = {}
    for now, (name, what, other) in enumerate(steps):
        store = stores[name]
        active = store.log.active()
        known = {body.id for body in store.log.refinement_bodies()}
        if what == "apply":
            knew[f"r{now}"] = known
            store.apply(f"r{now}", now)
            assert store.log.active() == (*active, f"r{now}")
        elif what == "undo" and active:
            store.write(store.event("undone", active[0], now))
            assert store.log.active() == active[1:]
        elif what == "redo" and known - set(active):
            again = min(known - set(active))
            store.write(store.event("applied", again, now))
            assert store.log.active() == (*active, again)
        elif what == "take in" and name != other:
            store.take_in([stores[other]])
            assert news(store.log, [stores[other].log]) == []
    return list(stores.values()), knew


@few
@given(steps, skews)
def test_stores_that_took_in_each_other_agree(steps: list[tuple[str, str, str]], skews: list[int]) -> None:
    stores, knew = lived(steps, skews)
    logs = [store.log for store in stores]
    wanted = united(logs)
    for order in itertools.permutations(logs):
        other = united(order)
        assert other.active() == wanted.active()
        assert other.order.places() == wanted.order.places()
        assert other.order.origins() == wanted.order.origins()
    for store in stores:
        store.take_in([each for each in stores if each is not store])
    for store in stores:
        ids = [body.id for body in store.log.refinement_bodies()]
        assert sorted(ids) == sorted(knew)
        assert store.log.active() == wanted.active()
        assert store.log.order.origins() == wanted.order.origins() or not store.log.order.united
        if store.log.order.united:
            assert store.log.order.places() == wanted.order.places()
        assert news(store.log, logs) == []


@few
@given(steps, skews)
def test_a_refinement_knows_what_its_store_had_of_others(
    steps: list[tuple[str, str, str]], skews: list[int]
) -> None:
    stores, knew = lived(steps, skews)
    origins = united([store.log for store in stores]).order.origins()
    for refinement, known in knew.items():
        side = origins[refinement].side
        assert origins[refinement].aware == {one for one in known if origins[one].side != side}


def test_what_refinements_rest_on_comes_along_and_nothing_else() -> None:
    mine, theirs = Store("a", 0), Store("b", 0)
    told = proposal("p-r1", trace_id="t1")
    theirs.write(
        to_record(QueryBody(id="q1", question="why?")),
        to_record(trace("t1", "q1")),
        to_record(told),
        to_record(proposal("open")),
    )
    theirs.apply("r1", 1)
    mine.take_in([theirs])
    kinds = {
        (record.kind, record.body["id"]) for record in mine.log.records[1:] if record.kind != UnionBody.KIND
    }
    assert {("proposal", "p-r1"), ("trace", "t1"), ("refinement", "r1")} <= kinds
    assert ("proposal", "open") not in kinds
    assert ("query", "first-b") not in kinds
