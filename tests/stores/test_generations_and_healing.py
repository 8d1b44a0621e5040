"""New generations replace old ones whole, and whatever a crash left behind is put right at the next open."""

from __future__ import annotations

import json
import os
import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from deeprefine_graphdb import stores
from deeprefine_graphdb.model.errors import RevisionMoved, StoreDamaged, StoreTooNew, UsageError, WriteFailed
from deeprefine_graphdb.model.graph import Alias
from deeprefine_graphdb.model.write import FORMAT_VERSION, NodeRow, RelRow, Statement, StoreState
from deeprefine_graphdb.stores import bulk, generations, loading
from deeprefine_graphdb.stores.engine import Engine
from deeprefine_graphdb.stores.journal import Journal
from deeprefine_graphdb.stores.protocol import Generation
from deeprefine_graphdb.stores.second_name import second_name
from deeprefine_loaders.graphfile import parse_graph
from tests.contract.harness import (
    A_B_C,
    ENGINE,
    STORE_ID,
    Harness,
    added_edge,
    added_entity,
    everything,
    harness_at,
    plan,
    put,
    record,
)

pytestmark = pytest.mark.engine
OTHER = {"nodes": [{"id": "z", "label": "Zoe"}], "links": []}


def store_directory(harness: Harness) -> Path:
    return harness.log_dir.parent / "store"


def generation_names(harness: Harness) -> list[str]:
    return sorted(path.name for path in store_directory(harness).glob("gen-*"))


def change(harness: Harness, entity_id: str = "n") -> None:
    with harness.open() as store:
        revision = store.state().revision
        rows = (
            put("entity_add", added_entity(entity_id)),
            put("edge_add", added_edge("k" + entity_id, entity_id, "a")),
        )
        store.write(plan(*rows, revision=revision, id=entity_id))


def test_a_second_load_replaces_the_graph_and_goes_on_with_the_log(loaded: Harness) -> None:
    change(loaded)
    with loaded.open("read") as store:
        state = store.state()
    loaded.load(OTHER, state=state.model_copy(update={"revision": state.revision + 1}))
    with loaded.open("read") as store:
        assert store.entity("a") is None
        assert store.entity("z") is not None
        assert store.base.slice("node", "z") == '{"id": "z", "label": "Zoe"}'
        assert (store.state().revision, store.state().seq) == (2, 3)
        assert store.state().base_digest == store.base.digest
    assert loaded.journal.verify() is None
    assert [each.kind for each in loaded.records()] == ["sync", "refinement", "sync"]


def test_the_generation_before_stays_until_the_next_successful_open(loaded: Harness) -> None:
    with loaded.open("read") as store:
        state = store.state()
    loaded.load(OTHER, state=state)
    assert generation_names(loaded) == ["gen-000001", "gen-000002"]
    with loaded.open("read"):
        assert generation_names(loaded) == ["gen-000002"]


def test_a_generation_that_was_not_finished_is_removed(loaded: Harness) -> None:
    left = generations.new_generation(store_directory(loaded))
    (left / "graph.part").write_bytes(b"x")
    with loaded.open("read") as store:
        assert store.entity("a") is not None
    assert generation_names(loaded) == ["gen-000001"]


def test_a_load_that_fails_on_the_way_leaves_everything(
    loaded: Harness, monkeypatch: pytest.MonkeyPatch
) -> None:
    with loaded.open("read") as store:
        before, state = everything(store), store.state()

    def fail(*_: object) -> None:
        raise OSError("no space left")

    for owner, name in [
        (loading, "write_text"),
        (loading, "write_index"),
        (generations, "sync_file"),
        (generations, "write_pointer"),
    ]:
        with monkeypatch.context() as patch:
            patch.setattr(owner, name, fail)
            with pytest.raises(WriteFailed, match="no space"):
                loaded.load(OTHER, state=state)
        with loaded.open("read") as store:
            assert everything(store) == before
        assert generation_names(loaded) == ["gen-000001"]
    assert len(loaded.records()) == 1


def test_a_load_planned_on_an_older_log_is_refused(loaded: Harness) -> None:
    with loaded.open("read") as store:
        state = store.state()
    change(loaded)
    with pytest.raises(RevisionMoved):
        loaded.load(OTHER, state=state)
    with loaded.open("read") as store:
        assert store.entity("n") is not None


def test_a_fold_that_fails_at_any_copy_leaves_the_store(
    loaded: Harness, monkeypatch: pytest.MonkeyPatch
) -> None:
    change(loaded)
    with loaded.open("read") as store:
        before, state = everything(store), store.state()
    run_copy = bulk._run_copy

    def fail_at(table: str) -> Callable[[Engine, str, Any], None]:
        def copy(engine: Engine, name: str, rows: Any) -> None:
            if name == f"schema/copy_{table}":
                raise RuntimeError("the pool is full")
            run_copy(engine, name, rows)

        return copy

    for table in ("entity", "relates", "label"):
        with monkeypatch.context() as patch:
            patch.setattr(bulk, "_run_copy", fail_at(table))
            with pytest.raises(WriteFailed, match="the pool is full"):
                stores.fold(loaded.url, log_dir=loaded.log_dir)
        with loaded.open("read") as store:
            assert (everything(store), store.state()) == (before, state)
        assert generation_names(loaded) == ["gen-000001"]


def test_a_fold_keeps_everything_and_empties_the_write_ahead_log(harness: Harness) -> None:
    harness.load(A_B_C, aliases=[Alias(norm="lovelace", ids=("a",))])
    change(harness)
    with harness.open() as store:
        params = {"id": "q1", "caption": "q", "ts": "t", "question": "?", "source": "cli"}
        store.write(plan(Statement(name="provenance/query", params=params), revision=None))
        before, state = everything(store), store.state()
    assert stores.wal_bytes(harness.url) > 0
    assert stores.fold(harness.url, log_dir=harness.log_dir) == state
    assert stores.wal_bytes(harness.url) == 0
    with harness.open("read") as store:
        assert everything(store) == before
        assert store.state() == state
        assert store.read("provenance/read_query") == [("q1", "q", "t", "?", "cli")]
        assert store.names("ada").ids == ("a", "c")
        assert len(store.edges_of("a")) == 6
        assert store.base.slice("node", "d") == '{"id": "d"}'
    assert len(harness.records()) == 3
    change(harness, "m")


def test_provenance_rows_are_loaded_with_their_owners(harness: Harness) -> None:
    query = {"id": "q", "caption": "c", "ts": "t", "question": "?", "source": "s"}
    step = {"id": "s", "ts": "t", "number": 1, "answerable": False}
    stores.load_generation(
        harness.url,
        Generation(
            parse_graph(json.dumps(A_B_C).encode()),
            StoreState(store_id=STORE_ID),
            nodes=[
                NodeRow(table="Query", key="q", columns=query),
                NodeRow(table="Trace", key="t", columns={}, owner=("HAS_TRACE", "Query", "q", False)),
                NodeRow(table="Step", key="s", columns=step, owner=("HAS_STEP", "Trace", "t", False)),
                NodeRow(table="Proposal", key="p", columns={}),
                NodeRow(table="Event", key="e", columns={}, owner=("OF", "Proposal", "p", True)),
            ],
            relations=[
                RelRow(type="RETRIEVED", from_table="Step", from_key="s", to_table="Entity", to_key=key)
                for key in ("b", "a")
            ],
        ),
        [],
        log_dir=harness.log_dir,
    )
    with harness.open("read") as store:
        way = "MATCH (q:Query)-[:HAS_TRACE]->(t:Trace)-[:HAS_STEP]->(s:Step)-[:RETRIEVED]->(e:Entity) RETURN e.id"
        assert sorted(store.query(way, {}).rows) == [("a",), ("b",)]
        assert store.query("MATCH (e:Event)-[:OF]->(p:Proposal) RETURN e.id, p.id", {}).rows == [("e", "p")]
        assert store.query("MATCH (s:Step) RETURN s.number, s.answerable, s.method", {}).rows == [
            (1, False, None)
        ]


def test_a_node_row_with_an_unknown_column_is_refused(harness: Harness) -> None:
    nodes = [NodeRow(table="Query", key="q", columns={"colour": "red"})]
    generation = Generation(parse_graph(b'{"nodes":[]}'), StoreState(store_id=STORE_ID), nodes=nodes)
    with pytest.raises(Exception, match="no column colour"):
        stores.load_generation(harness.url, generation, [], log_dir=harness.log_dir)
    assert not stores.store_exists(harness.url)


def test_a_journal_that_missed_the_last_write_is_completed_at_the_next_open(loaded: Harness) -> None:
    change(loaded)
    before = loaded.journal.path.read_bytes()
    loaded.journal.path.write_bytes(before[: before.rfind(b'{"body"') + 20])
    with loaded.open("read"):
        pass
    assert loaded.journal.path.read_bytes() == before


def test_a_write_whose_record_cannot_be_appended_is_healed_by_the_next(
    loaded: Harness, monkeypatch: pytest.MonkeyPatch
) -> None:
    original = Journal._append

    def full(*_: object) -> None:
        raise OSError("no space left")

    with loaded.open() as store:
        monkeypatch.setattr(Journal, "_append", full)
        with pytest.raises(StoreDamaged, match="is in the store"):
            store.write(plan(put("entity_add", added_entity("n"))))
        with pytest.raises(StoreDamaged):
            store.write(plan(put("entity_add", added_entity("m")), revision=1))
        monkeypatch.setattr(Journal, "_append", original)
        store.write(plan(put("entity_add", added_entity("o")), revision=1))
        assert [store.entity(key) is not None for key in "nmo"] == [True, False, True]
    assert [each.seq for each in loaded.records()] == [1, 2, 3]
    assert loaded.journal.verify() is None


def test_a_journal_of_another_history_is_damage_and_is_left_alone(loaded: Harness) -> None:
    change(loaded)
    loaded.journal.append([loaded.records()[-1].model_copy(update={"seq": 9, "hash": "0" * 64})])
    before = loaded.journal.path.read_bytes()
    with pytest.raises(StoreDamaged, match="Restore the journal"), loaded.open("read"):
        raise AssertionError
    assert loaded.journal.path.read_bytes() == before
    with pytest.raises(StoreDamaged), loaded.open("read"):
        raise AssertionError


def test_a_store_that_is_behind_its_journal_is_to_be_rebuilt(loaded: Harness) -> None:
    store, behind = store_directory(loaded), store_directory(loaded).with_name("behind")
    shutil.copytree(store, behind)
    change(loaded)
    shutil.rmtree(store)
    behind.rename(store)
    with pytest.raises(StoreDamaged, match=r"earlier state.*doctor --rebuild"), loaded.open("read"):
        raise AssertionError


@pytest.mark.parametrize("left", [b"", None])
def test_a_journal_that_is_gone_is_to_be_restored(loaded: Harness, left: bytes | None) -> None:
    change(loaded)
    change(loaded, "m")
    loaded.journal.path.unlink()
    second_name(store_directory(loaded), STORE_ID).unlink()
    if left is not None:
        loaded.journal.path.write_bytes(left)
    with (
        pytest.raises(StoreDamaged, match=r"missing or empty, and the store has 3 records.*Restore"),
        loaded.open(),
    ):
        raise AssertionError


@pytest.mark.parametrize("linked", [True, False])
def test_a_journal_that_version_control_replaced_goes_on_under_its_second_name(
    loaded: Harness, monkeypatch: pytest.MonkeyPatch, linked: bool
) -> None:
    if not linked:
        monkeypatch.setattr(os, "link", _no_link)
    change(loaded)
    with loaded.open("read"):
        pass
    path = loaded.journal.path
    whole = path.read_bytes()
    path.unlink()
    path.write_bytes(whole.splitlines(keepends=True)[0])
    with loaded.open() as store:
        assert path.read_bytes() == whole
        assert store.state().seq == len(whole.splitlines())
    change(loaded, "m")
    grown = path.read_bytes()
    assert grown.startswith(whole)
    path.unlink()
    first, _, rest = grown.partition(b"\n")
    path.write_bytes(b"<<<<<<< HEAD\n" + first + b"\n=======\n>>>>>>> theirs\n" + rest)
    with loaded.open("read"):
        assert path.read_bytes() == grown
    path.unlink()
    other = whole[::-1].strip() + b"\n"
    path.write_bytes(other)
    with pytest.raises(StoreDamaged), loaded.open():
        raise AssertionError
    assert path.read_bytes() == other


def _no_link(*_: object) -> None:
    raise OSError


def test_a_journal_that_is_a_folder_is_named(loaded: Harness) -> None:
    loaded.journal.path.unlink()
    loaded.journal.path.mkdir()
    with pytest.raises(StoreDamaged, match=str(loaded.journal.path)), loaded.open():
        raise AssertionError


def test_a_table_that_is_not_there_is_damage(loaded: Harness) -> None:
    with loaded.open() as store:
        engine = store._engine  # type: ignore[attr-defined] # the engine's own handle
        engine._module.Connection(engine._database).execute("DROP TABLE Alias")
        with pytest.raises(StoreDamaged, match="doctor --rebuild"):
            store.alias("ada")


def test_a_base_and_a_database_of_two_graphs_are_damage(loaded: Harness, tmp_path: Path) -> None:
    other = harness_at(tmp_path / "other")
    other.load(OTHER)
    (folder,) = store_directory(loaded).glob("gen-*")
    for name in ("base.json", "base.idx"):
        shutil.copy(store_directory(other) / "gen-000001" / name, folder / name)
    with pytest.raises(StoreDamaged, match="not the one"), loaded.open("read"):
        raise AssertionError


def test_a_reader_whose_open_fails_reads_the_pointer_again(
    loaded: Harness, monkeypatch: pytest.MonkeyPatch
) -> None:
    real = generations.read_pointer(store_directory(loaded))
    assert real is not None
    former = generations.Pointer(real.format, real.engine, real.store_id, "gen-000000")
    answers = iter([real, former, real])
    monkeypatch.setattr(generations, "read_pointer", lambda _: next(answers))
    with loaded.open("read") as store:
        assert store.entity("a") is not None


def test_a_database_that_is_gone_or_not_one_is_damage(loaded: Harness) -> None:
    pointer = generations.read_pointer(store_directory(loaded))
    assert pointer is not None
    path = pointer.database(store_directory(loaded))
    path.write_bytes(b"not a database" * 1000)
    with pytest.raises(StoreDamaged, match="cannot be opened"), loaded.open("read"):
        raise AssertionError
    path.unlink()
    with pytest.raises(StoreDamaged, match="is not there"), loaded.open("read"):
        raise AssertionError
    assert not path.exists()


def test_a_base_that_is_damaged_is_named(loaded: Harness) -> None:
    base = next(store_directory(loaded).glob("gen-*")) / "base.json"
    base.write_bytes(base.read_bytes()[:-5])
    with pytest.raises(StoreDamaged, match="base"), loaded.open("read"):
        raise AssertionError
    base.unlink()
    with pytest.raises(StoreDamaged), loaded.open("read"):
        raise AssertionError


def test_a_damaged_store_is_set_aside_whole_when_the_new_one_counts(loaded: Harness) -> None:
    change(loaded)
    last = loaded.records()[-1]
    state = StoreState(store_id=STORE_ID, seq=last.seq, head=last.hash, revision=7)
    (aside,) = rebuild(loaded, state)
    assert aside.name == "aside-000001"
    assert generation_names(loaded) == ["gen-000002"]
    with loaded.open("read") as store:
        assert store.state().revision == 7
    assert {"base.json", "graph." + ENGINE} <= set(os.listdir(aside))


@pytest.mark.parametrize("content", ["", "[]", None, "gone"])
def test_a_store_is_rebuilt_whatever_its_pointer_says(loaded: Harness, content: str | None) -> None:
    last = loaded.records()[-1]
    directory = store_directory(loaded)
    if content == "gone":
        shutil.rmtree(directory / "gen-000001")
    elif content is None:
        (directory / "CURRENT").unlink()
    else:
        (directory / "CURRENT").write_text(content, encoding="utf-8")
    rebuild(loaded, StoreState(store_id=STORE_ID, seq=last.seq, head=last.hash))
    assert generation_names(loaded) == ["gen-000002"]
    with loaded.open("read") as store:
        assert store.entity("a") is not None


def test_a_rebuild_that_fails_on_the_way_leaves_the_store(
    loaded: Harness, monkeypatch: pytest.MonkeyPatch
) -> None:
    last = loaded.records()[-1]
    with loaded.open("read") as store:
        before = everything(store)

    def fail(*_: object) -> None:
        raise OSError("no space left")

    for owner, name in [
        (loading, "write_text"),
        (loading, "write_index"),
        (generations, "sync_file"),
        (generations, "write_pointer"),
    ]:
        with monkeypatch.context() as patch:
            patch.setattr(owner, name, fail)
            with pytest.raises(WriteFailed, match="no space"):
                rebuild(loaded, StoreState(store_id=STORE_ID, seq=last.seq, head=last.hash))
        with loaded.open("read") as store:
            assert everything(store) == before


def rebuild(harness: Harness, state: StoreState) -> tuple[Path, ...]:
    generation = Generation(parse_graph(json.dumps(A_B_C).encode()), state)
    return stores.rebuild_generation(harness.url, generation, log_dir=harness.log_dir)


def test_a_full_disk_is_named_before_the_engine_meets_it(
    loaded: Harness, monkeypatch: pytest.MonkeyPatch
) -> None:
    last = loaded.records()[-1]
    with loaded.open("read") as store:
        before, state = everything(store), store.state()
    usage = shutil.disk_usage(loaded.log_dir)
    with monkeypatch.context() as patch:
        patch.setattr(shutil, "disk_usage", lambda _: usage._replace(free=1 << 20))
        for job in (
            lambda: change(loaded),
            lambda: loaded.load(OTHER, state=state),
            lambda: rebuild(loaded, StoreState(store_id=STORE_ID, seq=last.seq, head=last.hash)),
            lambda: stores.fold(loaded.url, log_dir=loaded.log_dir),
        ):
            with pytest.raises(WriteFailed, match=r"1\.0 MB free.*Make room"):
                job()
    with loaded.open("read") as store:
        assert everything(store) == before
    assert generation_names(loaded) == ["gen-000001"]
    change(loaded)


def test_a_store_of_a_newer_format_is_refused(loaded: Harness) -> None:
    with loaded.open() as store:
        store.write(plan(revision=None).model_copy(update={"store": {"format": FORMAT_VERSION + 1}}))
    with pytest.raises(StoreTooNew, match=f"format {FORMAT_VERSION + 1}"), loaded.open("read"):
        raise AssertionError


def test_the_base_is_read_without_the_engine(loaded: Harness, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(Engine, "__init__", lambda *_: pytest.fail("the engine was opened"))
    base = stores.base_of(loaded.url)
    assert base.slice("node", "d") == '{"id": "d"}'
    base.close()


def test_an_engine_that_is_not_installed_is_named(loaded: Harness, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("importlib.util.find_spec", lambda _: None)
    with pytest.raises(UsageError, match="pip install"), loaded.open("read"):
        raise AssertionError


def test_everything_of_a_store_is_below_its_directory(loaded: Harness) -> None:
    change(loaded)
    assert sorted(os.listdir(loaded.log_dir.parent)) == ["log", "store"]
    assert os.listdir(loaded.log_dir) == [f"{STORE_ID}.jsonl"]
    assert sorted(os.listdir(store_directory(loaded))) == [
        "CURRENT",
        "gen-000001",
        "holders",
        f"journal-{STORE_ID}.jsonl",
        "lock",
        "turnstile",
    ]


def test_a_duplicate_key_is_refused_by_the_load(loaded: Harness) -> None:
    with loaded.open("read") as store:
        state = store.state()
    nodes = [NodeRow(table="Query", key="q", columns={})] * 2
    generation = Generation(parse_graph(b'{"nodes":[]}'), state, nodes=nodes)
    with pytest.raises(WriteFailed, match="refused the new generation"):
        stores.load_generation(loaded.url, generation, [record("sync")], log_dir=loaded.log_dir)
    assert len(loaded.records()) == 1
