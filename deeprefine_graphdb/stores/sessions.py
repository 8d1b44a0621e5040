"""Connections to one open database: one for whoever comes, a second one while the first is busy."""

from __future__ import annotations

import os
import threading
import warnings
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from typing import Any

from deeprefine_graphdb.stores.statements import StatementText


class Session:
    """A connection with the statements that were prepared on it. Used by one thread at a time."""

    def __init__(self, connection: Any) -> None:
        self._connection = connection
        self._prepared: dict[str, Any] = {}
        self._threads = 0

    def execute(self, name: str, statement: StatementText, params: Mapping[str, Any]) -> Any:
        """Run a statement and give the engine's result, which the caller closes."""
        whole_tables = "TABLE" in statement.params.values() or not params
        self._use_threads((os.cpu_count() or 1) if whole_tables else 1)
        if whole_tables:
            return self._connection.execute(statement.text, dict(params))
        prepared = self._prepared.get(name)
        if prepared is None:
            with warnings.catch_warnings():
                warnings.simplefilter("ignore", DeprecationWarning)
                prepared = self._prepared[name] = self._connection.prepare(statement.text)
        return self._connection.execute(prepared, dict(params))

    def close(self) -> None:
        """Close the connection; a transaction that is open is rolled back."""
        self._prepared.clear()
        self._connection.close()

    def _use_threads(self, count: int) -> None:
        """Set the threads of the next statement: handing one row's work to a second one costs more than the work."""
        if count != self._threads:
            self._connection.set_max_threads_for_exec(count)
            self._threads = count


class Sessions:
    """The sessions of an open database. Readers may be several at once; whoever needs it alone waits for them.

    ``connect`` makes a new connection.
    """

    def __init__(self, connect: Callable[[], Any]) -> None:
        self._connect = connect
        self._gate = threading.Condition()
        self._free: list[Session] = []
        self._busy = 0
        self._owner: int | None = None

    @contextmanager
    def one(self) -> Iterator[Session]:
        """Take a session; the thread that has the database alone takes the same one always."""
        with self._gate:
            self._gate.wait_for(lambda: self._owner in {None, threading.get_ident()})
            self._busy += 1
            session = self._free.pop() if self._free else None
        try:
            if session is None:
                session = Session(self._connect())
            yield session
        finally:
            with self._gate:
                if session is not None:
                    self._free.append(session)
                self._busy -= 1
                self._gate.notify_all()

    @contextmanager
    def alone(self) -> Iterator[None]:
        """Have the database alone: no other thread is in a session, or gets one before the end."""
        me = threading.get_ident()
        with self._gate:
            nested = self._owner == me
            if not nested:
                self._gate.wait_for(lambda: self._owner is None and self._busy == 0)
                self._owner = me
        try:
            yield
        finally:
            if not nested:
                with self._gate:
                    self._owner = None
                    self._gate.notify_all()

    def close(self) -> None:
        """Close every session; only for whoever has the database alone."""
        while self._free:
            self._free.pop().close()
