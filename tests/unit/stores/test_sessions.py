"""Who shares a database's sessions with whom, and who has it alone."""

from __future__ import annotations

import threading
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import pytest

from deeprefine_graphdb.stores.sessions import Session, Sessions


class _Connection:
    def __init__(self) -> None:
        self.closed = False

    def close(self) -> None:
        self.closed = True


@pytest.fixture
def made() -> list[_Connection]:
    return []


@pytest.fixture
def sessions(made: list[_Connection]) -> Sessions:
    def connect() -> Any:
        made.append(_Connection())
        return made[-1]

    return Sessions(connect)


def test_one_thread_uses_one_session(sessions: Sessions, made: list[_Connection]) -> None:
    used: set[Session] = set()
    for _ in range(5):
        with sessions.one() as session:
            used.add(session)
    assert len(used) == len(made) == 1


def test_two_at_once_have_a_session_each(sessions: Sessions, made: list[_Connection]) -> None:
    with sessions.one() as first, sessions.one() as second:
        assert first is not second
    assert len(made) == 2


def test_whoever_wants_it_alone_waits_for_the_readers(sessions: Sessions) -> None:
    order: list[str] = []

    def write() -> None:
        with sessions.alone():
            order.append("written")

    with ThreadPoolExecutor(1) as pool:
        with sessions.one():
            writing = pool.submit(write)
            threading.Event().wait(0.05)
            order.append("read")
        writing.result(timeout=10)
    assert order == ["read", "written"]


def test_readers_wait_for_whoever_has_it_alone_but_its_own_thread_does_not(sessions: Sessions) -> None:
    order: list[str] = []

    def read() -> None:
        with sessions.one():
            order.append("read")

    with ThreadPoolExecutor(1) as pool:
        with sessions.alone(), sessions.alone(), sessions.one():
            reading = pool.submit(read)
            threading.Event().wait(0.05)
            order.append("written")
        reading.result(timeout=10)
    assert order == ["written", "read"]


def test_a_connection_that_cannot_be_made_blocks_nobody() -> None:
    def connect() -> Any:
        raise RuntimeError("no")

    sessions = Sessions(connect)
    with pytest.raises(RuntimeError), sessions.one():
        raise AssertionError
    with sessions.alone():
        pass


def test_closing_closes_every_connection(sessions: Sessions, made: list[_Connection]) -> None:
    with sessions.one(), sessions.one():
        pass
    with sessions.alone():
        sessions.close()
    assert [connection.closed for connection in made] == [True, True]
