"""One writer or many readers, in the order in which they came, and nobody is shut out by the dead."""

from __future__ import annotations

import errno
import os
import platform
import subprocess
import sys
import threading
import time
from pathlib import Path
from typing import Any

import pytest

from deeprefine_graphdb import stores
from deeprefine_graphdb.model.errors import StoreLocked, WriteFailed
from deeprefine_graphdb.stores import locks
from tests.contract.harness import Harness, added_entity, plan, put
from tests.stores.holder import ROOT, holding

pytestmark = pytest.mark.engine


def directory(harness: Harness) -> Path:
    return harness.log_dir.parent / "store"


@pytest.mark.parametrize(("held", "asked"), [("write", "read"), ("write", "write"), ("read", "write")])
def test_who_is_shut_out_is_told_by_whom(loaded: Harness, held: str, asked: str) -> None:
    """Trap: another process has the database open read-write, and it cannot be opened at all."""
    with holding(loaded, held) as other:
        started = time.monotonic()
        with (
            pytest.raises(StoreLocked, match=rf"pid {other.pid} \({held[:4]}") as caught,
            loaded.open("read" if asked == "read" else "write", wait=0.2),
        ):
            raise AssertionError
        assert 0.2 <= time.monotonic() - started < 3
    assert caught.value.exit_code == 5


def test_readers_share(loaded: Harness) -> None:
    with holding(loaded, "read"), loaded.open("read", wait=0) as store:
        assert store.entity("a") is not None


def test_the_wait_ends_when_the_holder_goes(loaded: Harness) -> None:
    with holding(loaded, "write") as other:
        threading.Timer(0.3, other.kill).start()
        with loaded.open("write", wait=20) as store:
            assert store.entity("a") is not None


def test_a_waiting_writer_lets_no_further_reader_by(loaded: Harness) -> None:
    with holding(loaded, "read") as reader:
        command = [
            sys.executable,
            "-m",
            "tests.stores.holder",
            loaded.url,
            str(loaded.log_dir),
            "write",
            "20",
        ]
        writer = subprocess.Popen(
            command, cwd=ROOT, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, text=True
        )
        try:
            deadline = time.monotonic() + 20
            while _reader_gets_in(loaded) and time.monotonic() < deadline:
                time.sleep(0.05)
            assert not _reader_gets_in(loaded)
            reader.kill()
            assert writer.communicate(timeout=20)[0] == "open\n"
            assert writer.returncode == 0
        finally:
            writer.kill()
            writer.wait()


def _reader_gets_in(harness: Harness) -> bool:
    try:
        with harness.open("read", wait=0):
            return True
    except StoreLocked:
        return False


def test_the_dead_hold_nothing_and_are_told_apart(loaded: Harness) -> None:
    with holding(loaded, "write") as other:
        (holder,) = locks.holders(directory(loaded))
        assert (holder.pid, holder.mode, holder.host, holder.alive) == (
            other.pid,
            "write",
            platform.node(),
            True,
        )
        assert not stores.needs_healing(loaded.url, loaded.journal)
        other.kill()
        other.wait()
        (holder,) = locks.holders(directory(loaded))
        assert not holder.alive
        assert stores.needs_healing(loaded.url, loaded.journal)
        with loaded.open("read", wait=0) as store:
            assert store.entity("a") is not None
        assert locks.holders(directory(loaded)) == []
        assert not stores.needs_healing(loaded.url, loaded.journal)


def test_a_dead_reader_needs_no_healing(loaded: Harness) -> None:
    with holding(loaded, "read") as other:
        other.kill()
        other.wait()
        assert not stores.needs_healing(loaded.url, loaded.journal)


def test_a_holder_takes_its_mark_away(loaded: Harness) -> None:
    with loaded.open():
        assert [holder.pid for holder in locks.holders(directory(loaded))] == [os.getpid()]
    assert locks.holders(directory(loaded)) == []
    with pytest.raises(RuntimeError), loaded.open():
        raise RuntimeError
    assert locks.holders(directory(loaded)) == []
    with loaded.open("write", wait=0):
        pass


def test_threads_of_one_process_take_turns(loaded: Harness) -> None:
    found: list[object] = []

    def read() -> None:
        with loaded.open("read", wait=20) as store:
            found.append(store.entity("a"))

    threads = [threading.Thread(target=read) for _ in range(4)]
    with loaded.open("write") as store:
        for thread in threads:
            thread.start()
        time.sleep(0.1)
        assert found == []
        expected = store.entity("a")
    for thread in threads:
        thread.join()
    assert found == [expected] * 4


def test_the_journal_is_read_while_somebody_writes(loaded: Harness) -> None:
    with loaded.open() as store:
        store.write(plan(put("entity_add", added_entity("n"))))
        assert [record.kind for record in loaded.records()] == ["sync", "refinement"]
        assert stores.store_id(loaded.url) == "contract"
        assert stores.wal_bytes(loaded.url) > 0


def test_a_sync_waits_for_a_reader_and_gives_up(loaded: Harness) -> None:
    from deeprefine_graphdb.model.write import StoreState
    from deeprefine_graphdb.stores.protocol import Generation
    from deeprefine_loaders.graphfile import parse_graph

    generation = Generation(parse_graph(b'{"nodes":[],"links":[]}'), StoreState(store_id="contract"))
    with holding(loaded, "read"):
        for call in (
            lambda: stores.load_generation(loaded.url, generation, [], log_dir=loaded.log_dir, wait=0),
            lambda: stores.fold(loaded.url, log_dir=loaded.log_dir, wait=0),
            lambda: stores.rebuild_generation(loaded.url, generation, log_dir=loaded.log_dir, wait=0),
        ):
            with pytest.raises(StoreLocked):
                call()


def test_a_reader_locks_where_it_may_not_write_and_a_writer_is_refused(
    loaded: Harness, monkeypatch: pytest.MonkeyPatch
) -> None:
    with loaded.open("read"):
        pass
    original = Path.open

    def read_only(self: Path, mode: str = "r", *args: Any, **kwargs: Any) -> Any:
        if set(mode) & set("wax+"):
            raise OSError(errno.EROFS, os.strerror(errno.EROFS), str(self))
        return original(self, mode, *args, **kwargs)

    monkeypatch.setattr(Path, "open", read_only)
    with loaded.open("read") as store:
        assert store.entity("a") is not None
    with pytest.raises(WriteFailed, match="turnstile cannot be written"), loaded.open("write"):
        raise AssertionError
    monkeypatch.undo()
    with holding(loaded, "write"):
        monkeypatch.setattr(Path, "open", read_only)
        with pytest.raises(StoreLocked), loaded.open("read", wait=0):
            raise AssertionError
