"""One test for each trap of the embedded engines: the guard holds, and where it can be seen, what happens without.

Traps that are kept out by how ``cypher/`` is written have their tests in ``tests/unit/stores/test_cypher_files.py``,
those of parameters in ``tests/unit/stores/test_statements.py``.
"""

from __future__ import annotations

import ast
import os
import subprocess
import sys
from pathlib import Path

import pytest

from deeprefine_graphdb import stores
from deeprefine_graphdb.model.errors import (
    StatementError,
    StoreLocked,
    UsageError,
    WriteFailed,
)
from deeprefine_graphdb.model.graph import Names
from deeprefine_graphdb.model.write import Statement
from deeprefine_graphdb.stores import bulk, engine, schema
from deeprefine_graphdb.stores.engine import Engine, Transaction
from deeprefine_graphdb.stores.generations import read_pointer
from tests.contract.harness import ENGINE, Harness, added_edge, added_entity, everything, plan, put
from tests.stores.raw import raw

pytestmark = pytest.mark.engine
ROOT = Path(__file__).parents[2]
NEW = put("entity_add", added_entity("n"))
TWICE = put("entity_add", added_entity("b"))


def database(harness: Harness) -> Path:
    directory = harness.log_dir.parent / "store"
    pointer = read_pointer(directory)
    assert pointer is not None
    return pointer.database(directory)


def test_copy_in_a_transaction_that_is_rolled_back_is_kept_out_of_generations_in_use(loaded: Harness) -> None:
    copy = Statement(name="schema/copy_relates", params={"rows": object()})
    with loaded.open() as store:
        before = everything(store)
        with pytest.raises(StatementError, match="generation in use"):
            store.write(plan(NEW, copy))
        assert everything(store) == before


def test_without_the_guard_a_copy_that_is_rolled_back_takes_every_edge_along_on_kuzu(tmp_path: Path) -> None:
    import pyarrow as pa

    with raw(ENGINE, tmp_path / "db") as database:
        database.run("CREATE REL TABLE S(FROM E TO E, key STRING)")
        database.run(
            "COPY S FROM $rows", rows=pa.table({"from": ["0", "1"], "to": ["1", "2"], "key": ["a", "b"]})
        )
        database.run("BEGIN TRANSACTION")
        database.run("COPY S FROM $rows", rows=pa.table({"from": ["0"], "to": ["2"], "key": ["c"]}))
        database.run("ROLLBACK")
        left = database.run("MATCH (:E)-[s:S]->(:E) RETURN count(s)")
    assert left == ([[0]] if ENGINE == "kuzu" else [[2]])


def test_a_copy_that_fails_leaves_the_generation_in_use_alone(loaded: Harness) -> None:
    from deeprefine_graphdb.stores.protocol import Touched

    with loaded.open("read") as store:
        before, state = everything(store), store.state()
    with pytest.raises(WriteFailed):
        loaded.load(touched=Touched(edges=[added_edge("k", "a", "nobody")]), state=state)
    with loaded.open("read") as store:
        assert everything(store) == before
    assert len(list((loaded.log_dir.parent / "store").glob("gen-*"))) == 1
    assert len(loaded.records()) == 1


def test_a_row_is_written_again_after_its_write_was_rolled_back(loaded: Harness) -> None:
    """Trap: SET, ROLLBACK, SET the same row ends in a false write-write conflict or a crash."""
    ada = added_entity("a", "Lovelace")
    with loaded.open() as store:
        for _ in range(20):
            with pytest.raises(WriteFailed):
                store.write(plan(put("entity_set", ada), TWICE))
        store.write(plan(put("entity_set", ada)))
        assert store.entity("a") == ada


def test_a_failed_transaction_closes_and_opens_the_database(
    loaded: Harness, monkeypatch: pytest.MonkeyPatch
) -> None:
    opened: list[str] = []
    original = Engine._open

    def noted(self: Engine) -> None:
        opened.append("again")
        original(self)

    monkeypatch.setattr(Engine, "_open", noted)
    with loaded.open() as store:
        opened.clear()
        with pytest.raises(WriteFailed):
            store.write(plan(TWICE))
        assert opened == ["again"]
        store.write(plan(NEW))
        assert opened == ["again"]


def test_a_generation_in_use_is_never_checkpointed(loaded: Harness) -> None:
    """Trap: killed inside a checkpoint, the database cannot be opened any more."""
    path = database(loaded)
    before = path.read_bytes()
    for revision in range(3):
        with loaded.open() as store:
            store.write(plan(put("entity_add", added_entity(f"n{revision}")), revision=revision))
    assert path.read_bytes() == before
    assert stores.wal_bytes(loaded.url) > 0
    with loaded.open("read") as store:
        assert store.entity("n2") is not None
    assert path.read_bytes() == before


def test_without_the_guard_closing_checkpoints(tmp_path: Path) -> None:
    path = tmp_path / "db"
    with raw(ENGINE, path):
        pass
    before = path.read_bytes()
    with raw(ENGINE, path, fill=False, auto_checkpoint=True) as database:
        database.run("CREATE (:E {id: 'new'})")
    assert path.read_bytes() != before


def test_nothing_runs_in_a_transaction_after_its_first_error(loaded: Harness) -> None:
    """Trap: after an error the transaction is over, and later statements commit by themselves."""
    running = Engine(ENGINE, database(loaded), read_only=False)
    try:
        transaction = Transaction(running)
        transaction.run(NEW)
        with pytest.raises(RuntimeError):
            transaction.run(TWICE)
        with pytest.raises(WriteFailed, match="poisoned"):
            transaction.run(put("entity_add", added_entity("later")))
        with pytest.raises(WriteFailed, match="poisoned"):
            transaction.commit()
        running.reopen()
        assert running.run("graph/entity", {"id": "later"}) == []
        assert running.run("graph/entity", {"id": "n"}) == []
    finally:
        running.close()


def test_without_the_guard_what_follows_an_error_is_committed(tmp_path: Path) -> None:
    with raw(ENGINE, tmp_path / "db") as database:
        database.run("BEGIN TRANSACTION")
        with pytest.raises(RuntimeError):
            database.run("CREATE (:E {id: '0'})")
        database.run("CREATE (:E {id: 'later'})")
    with raw(ENGINE, tmp_path / "db", fill=False) as database:
        assert "later" in database.ids()


@pytest.mark.parametrize(
    "text", ["BEGIN TRANSACTION", " begin transaction read only", "COMMIT", "/* */ ROLLBACK", "CHECKPOINT"]
)
def test_a_reader_never_begins(loaded: Harness, text: str) -> None:
    """Trap: a second connection's BEGIN beside a writing one, then any query on it, is a crash."""
    with loaded.open() as store:
        with pytest.raises(StatementError, match="one that reads"):
            store.query(text, {})
        store.write(plan(NEW))
        assert store.query("MATCH (e:Entity {id: 'n'}) RETURN e.id", {}).rows == [("n",)]


def test_only_a_transaction_begins() -> None:
    found = [
        path.name
        for path in (ROOT / "deeprefine_graphdb").rglob("*.py")
        if "schema/begin" in path.read_text(encoding="utf-8")
    ]
    assert found == ["engine.py"]


def test_without_the_guard_a_second_begin_kills_the_process(tmp_path: Path) -> None:
    done = subprocess.run(
        [sys.executable, "-m", "tests.stores.raw", ENGINE, str(tmp_path / "db")], cwd=ROOT, check=False
    )
    assert done.returncode < 0


def test_one_process_opens_a_store_once(loaded: Harness) -> None:
    """Trap: a second Database on the same path in one process is not refused by the engine."""
    for first in ("read", "write"):
        with loaded.open("read" if first == "read" else "write"):
            for second in ("read", "write"):
                with (
                    pytest.raises(StoreLocked, match=f"pid {os.getpid()}"),
                    loaded.open("read" if second == "read" else "write", wait=0),
                ):
                    raise AssertionError
    with loaded.open("read") as store:
        assert store.entity("a") is not None


def test_without_the_guard_a_second_database_on_the_path_is_not_refused(tmp_path: Path) -> None:
    with raw(ENGINE, tmp_path / "db"), raw(ENGINE, tmp_path / "db", fill=False) as second:
        assert second.database is not None


def test_the_log_of_a_former_generation_is_not_replayed_into_a_new_one(loaded: Harness) -> None:
    """Trap: a stale .wal beside a database file that was swapped in is replayed into it."""
    with loaded.open() as store:
        store.write(plan(NEW))
        state = store.state()
    assert stores.wal_bytes(loaded.url) > 0
    loaded.load(state=state)
    with loaded.open("read") as store:
        assert store.entity("n") is None
        assert store.entity("a") is not None
    assert stores.wal_bytes(loaded.url) == 0


def test_without_the_guard_a_stale_log_is_replayed_by_kuzu_and_refused_by_ladybug(tmp_path: Path) -> None:
    first, second = tmp_path / "first", tmp_path / "second"
    for path in (first, second):
        with raw(ENGINE, path) as database:
            database.run("CHECKPOINT")
    with raw(ENGINE, first, fill=False) as database:
        database.run("CREATE (:E {id: 'stale'})")
    (tmp_path / "first.wal").rename(tmp_path / "second.wal")
    if ENGINE == "ladybug":
        with pytest.raises(RuntimeError, match="does not match"), raw(ENGINE, second, fill=False):
            raise AssertionError
        return
    with raw(ENGINE, second, fill=False) as database:
        assert "stale" in database.ids()


def test_without_the_guard_rows_of_maps_swap_their_values(tmp_path: Path) -> None:
    """The guard: no statement takes rows of maps (``test_no_rows_of_maps_are_passed``)."""
    rows = [{"a": "1", "b": "2"}, {"b": "2", "a": "1"}]
    with raw(ENGINE, tmp_path / "db") as database:
        assert ["2", "1"] in database.run("UNWIND $rows AS row RETURN row.a, row.b", rows=rows)


def test_without_the_guard_a_fraction_becomes_another_number(tmp_path: Path) -> None:
    with raw(ENGINE, tmp_path / "db") as database:
        database.run("CREATE NODE TABLE N(id STRING PRIMARY KEY, n INT64)")
        database.run("CREATE (:N {id: 'a', n: $n})", n=2.7)
        assert database.run("MATCH (n:N) RETURN n.n") == [[3]]


def test_empty_lists_are_written_and_mixed_ones_refused(loaded: Harness) -> None:
    """Trap: ``[]`` as UNWIND rows, and int and str mixed in a column, are errors of the engine."""
    with loaded.open() as store:
        store.write(plan(put("names_set", Names(norm="bob"))))
        assert store.names("bob").ids == ()
        with pytest.raises(StatementError):
            store.write(
                plan(Statement(name="graph/alias_set", params={"norm": "n", "ids": ["a", 1]}), revision=1)
            )


def test_columns_are_copied_in_the_order_of_the_schema(tmp_path: Path) -> None:
    """Trap: COPY maps columns by position."""
    table = schema.node_tables()["Alias"]
    fresh = Engine(ENGINE, tmp_path / "db", read_only=False)
    try:
        bulk.create_tables(fresh)
        bulk._copy_node(fresh, table, {"ids": [["x"]], "norm": ["n"]})
        assert fresh.run("graph/alias", {"norm": "n"}) == [("n", ["x"])]
        with pytest.raises(StatementError):
            bulk._copy_node(fresh, table, {"norm": ["m"]})
    finally:
        fresh.close()


def test_bulk_loading_does_not_use_pandas() -> None:
    """Trap: string columns of pandas 3 fail an assertion in COPY."""
    for path in (ROOT / "deeprefine_graphdb").rglob("*.py"):
        tree = ast.parse(path.read_text(encoding="utf-8"))
        imported = {
            name.name for node in ast.walk(tree) if isinstance(node, ast.Import) for name in node.names
        }
        imported |= {node.module or "" for node in ast.walk(tree) if isinstance(node, ast.ImportFrom)}
        assert not [name for name in imported if name.split(".")[0] == "pandas"], path


def test_a_store_opens_under_a_memory_limit(loaded: Harness) -> None:
    """Trap: max_db_size is 8 TB by default, which fails where address space is limited."""
    code = (
        "import resource, sys, pathlib\n"
        "resource.setrlimit(resource.RLIMIT_AS, (16 << 30, 16 << 30))\n"
        "from deeprefine_graphdb import stores\n"
        "with stores.open_store(sys.argv[1], log_dir=pathlib.Path(sys.argv[2]), mode='read') as store:\n"
        "    assert store.entity('a') is not None\n"
    )
    command = [sys.executable, "-c", code, loaded.url, str(loaded.log_dir)]
    done = subprocess.run(command, cwd=ROOT, check=False, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr


def test_without_the_guard_the_default_size_does_not_fit_a_memory_limit(tmp_path: Path) -> None:
    code = (
        "import resource, sys, importlib\n"
        "resource.setrlimit(resource.RLIMIT_AS, (16 << 30, 16 << 30))\n"
        "importlib.import_module(sys.argv[1]).Database(sys.argv[2], max_db_size=1 << 43)\n"
    )
    command = [sys.executable, "-c", code, ENGINE, str(tmp_path / "db")]
    done = subprocess.run(command, check=False, capture_output=True, text=True)
    assert "Mmap for size 8796093022208 failed" in done.stderr


@pytest.mark.parametrize("size", [0, 1, 1 << 20, (1 << 30) - 1, 1 << 30, 5 << 30])
def test_the_room_for_a_database_is_a_power_of_two_with_room_to_grow(tmp_path: Path, size: int) -> None:
    path = tmp_path / "db"
    with path.open("wb") as stream:
        stream.truncate(size)
    room = engine._room_for(path)
    assert room & (room - 1) == 0
    assert room >= max(1 << 33, 16 * size)
    assert room <= max(1 << 33, 32 * size)


def test_several_statements_in_one_query_are_refused_before_the_engine_sees_them(
    loaded: Harness, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Trap: several statements in one execute, the first result dropped, is a crash."""
    monkeypatch.setattr(engine, "_fetch", lambda *_: pytest.fail("it reached the engine"))
    with loaded.open() as store, pytest.raises(StatementError, match="exactly one"):
        store.query("MATCH (e:Entity) RETURN e.id; MATCH (e:Entity) RETURN e.id", {})


@pytest.mark.parametrize(
    "text",
    [
        "COPY (MATCH (e:Entity) RETURN e.id) TO '{file}'",
        "EXPORT DATABASE '{file}'",
        "LOAD FROM '{file}' RETURN *",
        "CALL timeout = 1",
        "INSTALL json",
        "ATTACH '{file}' AS x (dbtype kuzu)",
    ],
)
def test_a_query_reaches_no_file_setting_or_network(loaded: Harness, tmp_path: Path, text: str) -> None:
    """Trap: a read-only connection still copies to files, loads them, changes settings and asks the network."""
    target = tmp_path / "out.csv"
    with loaded.open("read") as store, pytest.raises(StatementError, match="one that reads"):
        store.query(text.format(file=target), {})
    assert not target.exists()


def test_one_process_runs_one_engine() -> None:
    """Trap: ``import kuzu`` and then ``import ladybug`` in one process fails or crashes."""
    other = next(name for name in engine.ENGINES if name != ENGINE)
    engine.engine_module(ENGINE)
    with pytest.raises(UsageError, match=f"already runs the engine {ENGINE}"):
        engine.engine_module(other)
    assert other not in sys.modules


def test_a_store_is_opened_by_the_engine_that_made_it(loaded: Harness, tmp_path: Path) -> None:
    other = next(name for name in engine.ENGINES if name != ENGINE)
    with pytest.raises(UsageError, match=f"made by {ENGINE}"):  # noqa: SIM117 - the message is of the opening
        with stores.open_store(f"{other}:{tmp_path / 'store'}", log_dir=loaded.log_dir, mode="read"):
            raise AssertionError


@pytest.mark.parametrize("sizes", [(0, 3), (3, 0), (2, 0, 1), (0,), (0, 0)])
def test_an_empty_chunk_does_not_end_a_copy(tmp_path: Path, sizes: tuple[int, ...]) -> None:
    import pyarrow as pa

    keys = iter(range(10))
    columns = {"norm": pa.string(), "ids": pa.list_(pa.string())}
    chunks = [[str(next(keys)) for _ in range(size)] for size in sizes]
    table = pa.table({
        "norm": pa.chunked_array([pa.array(chunk, columns["norm"]) for chunk in chunks]),
        "ids": pa.chunked_array([pa.array([[key] for key in chunk], columns["ids"]) for chunk in chunks]),
    })
    fresh = Engine(ENGINE, tmp_path / "db", read_only=False)
    try:
        bulk.create_tables(fresh)
        bulk._run_copy(fresh, "schema/copy_alias", table)
        assert len(fresh.run("graph/aliases", {})) == sum(sizes)
    finally:
        fresh.close()


def test_a_copy_that_takes_fewer_rows_than_it_was_given_is_an_error(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    fresh = Engine(ENGINE, tmp_path / "db", read_only=False)
    try:
        bulk.create_tables(fresh)
        monkeypatch.setattr(fresh, "run", lambda *_: [("1 tuples have been copied to the Alias table.",)])
        with pytest.raises(RuntimeError, match="1 of 2 rows"):
            bulk._copy_node(fresh, schema.node_tables()["Alias"], {"norm": ["a", "b"], "ids": [[], []]})
    finally:
        monkeypatch.undo()
        fresh.close()


@pytest.mark.parametrize(("wal", "pool"), [(None, 256), (4 << 20, 256), (9 << 20, 1024)])
def test_a_long_write_ahead_log_is_given_the_memory_that_it_needs(
    tmp_path: Path, wal: int | None, pool: int
) -> None:
    if wal is not None:
        with engine.wal_path(tmp_path / "db").open("wb") as stream:
            stream.truncate(wal)
    assert engine._pool_for(tmp_path / "db") == pool << 20
