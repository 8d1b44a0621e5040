"""Writes are all or nothing on every engine, one after another, and each has its record in the log."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from deeprefine_graphdb.model.errors import RevisionMoved, StatementError, UsageError, WriteFailed
from deeprefine_graphdb.model.graph import Alias, Edge, Entity, Loose, Names
from deeprefine_graphdb.model.write import Statement, WritePlan
from deeprefine_graphdb.stores import embedded, engine
from deeprefine_loaders.identity import edge_key
from tests.contract.harness import Harness, added_edge, added_entity, everything, plan, put, record

pytestmark = pytest.mark.engine
KEY = edge_key("c", "owns", "a")
OWNS = Edge(key=KEY, origin_key=KEY, src="c", tgt="a", relation="owns")
RETIRED = OWNS.model_copy(update={"retired_by": "r.1", "retired_as": "removed"})
ADA = Entity(id="a", label="Lovelace", source_file="a.py", raw='{"id":"a"}', changed_by="r.1")
LOOSE = Loose(key="hyperedges:h", kind="hyperedge", members=("a",), raw="{}", changed_by="r.1")
NEW = added_entity("n")
LINK = added_edge("k", "n", "a")
STATEMENTS = (
    put("edge_set", RETIRED),
    put("entity_set", ADA),
    put("entity_add", NEW),
    put("edge_add", LINK),
    put("loose_set", LOOSE),
    put("loose_add", Loose(key="x", kind="header", raw="1", added_by="r.1")),
    put("names_set", Names(norm="ada", ids=("c",), labels=("ADA",), files=("",))),
    put("names_set", Names(norm="lovelace", ids=("a",), labels=("Lovelace",), files=("a.py",))),
    put("alias_set", Alias(norm="ada", ids=("a",))),
)


def test_each_kind_of_row_is_written_and_read_back(loaded: Harness) -> None:
    with loaded.open() as store:
        store.write(plan(*STATEMENTS))
    with loaded.open("read") as store:
        assert store.edges_between("c", "a") == [RETIRED]
        assert store.entity("a") == ADA
        assert store.entity("n") == NEW
        assert store.edges_of("n") == [LINK]
        assert store.loose("hyperedges:h") == LOOSE
        assert store.names("ada").ids == ("c",)
        assert store.names("lovelace").files == ("a.py",)
        assert store.alias("ada").ids == ("a",)
        assert list(store.touched().entities) == [ADA, NEW]


def test_a_row_goes_back_to_what_it_was(loaded: Harness) -> None:
    with loaded.open() as store:
        before = store.entity("a")
        assert before is not None
        store.write(plan(put("entity_set", ADA), put("edge_set", RETIRED)))
        store.write(plan(put("entity_set", before), put("edge_set", OWNS), revision=1))
        assert store.entity("a") == before
        assert store.edges_between("c", "a") == [OWNS]
        assert list(store.touched().edges) == []


def test_a_name_that_nothing_bears_any_more_is_empty(loaded: Harness) -> None:
    with loaded.open() as store:
        store.write(plan(put("names_set", Names(norm="bob")), put("alias_set", Alias(norm="bob"))))
        assert store.names("bob") == Names(norm="bob")
        assert store.alias("bob") == Alias(norm="bob")


def test_edges_of_a_merged_entity_are_moved_at_once_but_for_the_others(loaded: Harness) -> None:
    with loaded.open() as store:
        others = [edge.key for edge in store.edges_of("a") if edge.src == edge.tgt]
        moved = {"id": "a", "retired_by": "r.1", "others": others}
        store.write(plan(*(Statement(name=f"graph/edges_move_{way}", params=moved) for way in ("out", "in"))))
        assert [edge.key for edge in store.edges_of("a")] == others
        touched = store.touched().edges
        assert len(touched) == 4
        assert all(edge.retired_as == "moved" for edge in touched)
        assert all(edge.successor == f"{edge.key}@r.1" for edge in touched)


def test_a_change_of_the_graph_counts_one_revision_and_other_writes_none(loaded: Harness) -> None:
    with loaded.open() as store:
        assert store.write(plan(put("entity_set", ADA))).revision == 1
        assert store.write(plan(revision=None)).revision == 1
        assert store.write(WritePlan(store={"file_digest": "f"})).revision == 1
    with loaded.open("read") as store:
        assert (store.state().revision, store.state().seq, store.state().file_digest) == (1, 3, "f")


def test_a_plan_for_another_revision_is_refused_and_changes_nothing(loaded: Harness) -> None:
    with loaded.open() as store:
        store.write(plan(put("entity_set", ADA)))
        before = everything(store)
        for revision in (0, 2):
            with pytest.raises(RevisionMoved):
                store.write(plan(put("entity_add", NEW), revision=revision))
        assert everything(store) == before
    assert len(loaded.records()) == 2


def test_records_are_chained_in_the_journal_and_effects_stand_outside_the_hash(loaded: Harness) -> None:
    effect = record("refinement", id="r").model_copy(update={"effects": [{"outcome": "applied"}]})
    with loaded.open() as store:
        state = store.write(WritePlan(records=(record("query", q="x"), effect)))
    records = loaded.records()
    assert [(each.seq, each.kind) for each in records] == [(1, "sync"), (2, "query"), (3, "refinement")]
    assert [each.prev for each in records[1:]] == [each.hash for each in records[:-1]]
    assert (state.seq, state.head) == (3, records[-1].hash)
    assert records[2].effects == [{"outcome": "applied"}]
    assert loaded.journal.verify() is None


def test_the_program_is_what_the_write_runs(loaded: Harness, monkeypatch: pytest.MonkeyPatch) -> None:
    ran: list[Statement] = []
    original = engine.Transaction.run

    def run(self: engine.Transaction, statement: Statement) -> None:
        ran.append(statement)
        original(self, statement)

    monkeypatch.setattr(engine.Transaction, "run", run)
    with loaded.open() as store:
        program = store.program(plan(*STATEMENTS))
        assert ran == []
        assert store.entity("n") is None
        store.write(plan(*STATEMENTS))
    assert ran == program
    assert program[: len(STATEMENTS)] == list(STATEMENTS)


def test_an_empty_plan_runs_nothing(loaded: Harness) -> None:
    with loaded.open() as store:
        before = store.state()
        assert store.program(WritePlan()) == []
        assert store.write(WritePlan()) == before


def test_a_reader_cannot_write(loaded: Harness) -> None:
    with loaded.open("read") as store, pytest.raises(UsageError):
        store.write(plan(put("entity_set", ADA)))


Fail = Callable[[], None]


def _engine_error() -> None:
    raise RuntimeError("Runtime exception: injected")


def _interrupt() -> None:
    raise KeyboardInterrupt


@pytest.mark.parametrize("fail", [_engine_error, _interrupt])
def test_a_failure_at_any_statement_leaves_everything_as_before(
    loaded: Harness, monkeypatch: pytest.MonkeyPatch, fail: Fail
) -> None:
    """The statements, then the store's own row, then the commit."""
    with loaded.open() as store:
        before = everything(store)
        for at in range(len(STATEMENTS) + 2):
            with monkeypatch.context() as patch:
                _fail_at_step(patch, at, fail)
                with pytest.raises((WriteFailed, KeyboardInterrupt)):
                    store.write(plan(*STATEMENTS))
            assert everything(store) == before, at
        assert store.write(plan(*STATEMENTS)).revision == 1
    with loaded.open("read") as store:
        assert list(store.touched().entities) == [ADA, NEW]
    assert [each.kind for each in loaded.records()] == ["sync", "refinement"]


def test_a_statement_that_the_engine_refuses_undoes_the_others(loaded: Harness) -> None:
    twice = put("entity_add", added_entity("b"))
    with loaded.open() as store:
        before = everything(store)
        for at in range(len(STATEMENTS) + 1):
            with pytest.raises(WriteFailed):
                store.write(plan(*STATEMENTS[:at], twice, *STATEMENTS[at:]))
            assert everything(store) == before, at
    with loaded.open("read") as store:
        assert everything(store) == before


def test_parameters_are_checked_before_anything_runs(
    loaded: Harness, monkeypatch: pytest.MonkeyPatch
) -> None:
    def begun(*_: Any) -> None:
        raise AssertionError("a transaction was begun")

    monkeypatch.setattr(engine.Transaction, "__init__", begun)
    with loaded.open() as store:
        for wrong in ({"ids": None}, {"ids": "a"}, {"other": 1}, {"norm": None}):
            with pytest.raises(StatementError):
                store.write(
                    plan(
                        STATEMENTS[0],
                        Statement(name="graph/alias_set", params={"norm": "n", "ids": []} | wrong),
                    )
                )


def test_a_commit_that_arrived_although_it_was_reported_lost_counts(
    loaded: Harness, monkeypatch: pytest.MonkeyPatch
) -> None:
    original = engine.Transaction.commit

    def commit(self: engine.Transaction) -> None:
        original(self)
        raise RuntimeError("connection lost")

    with loaded.open() as store:
        with monkeypatch.context() as patch:
            patch.setattr(engine.Transaction, "commit", commit)
            assert store.write(plan(*STATEMENTS)).revision == 1
        assert store.entity("n") == NEW
    assert [each.kind for each in loaded.records()] == ["sync", "refinement"]


def test_the_store_of_the_suite_is_the_engine_that_was_asked_for(loaded: Harness) -> None:
    with loaded.open("read") as store:
        assert isinstance(store, embedded.EmbeddedStore)
        assert loaded.url.startswith(store.capabilities.engine)


def _fail_at_step(patch: pytest.MonkeyPatch, at: int, fail: Fail) -> None:
    steps = iter(range(1000))
    for name in ("run", "commit"):
        original = getattr(engine.Transaction, name)

        def step(self: engine.Transaction, *args: Any, original: Callable[..., None] = original) -> None:
            if next(steps) == at:
                fail()
            original(self, *args)

        patch.setattr(engine.Transaction, name, step)
