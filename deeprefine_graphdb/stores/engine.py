"""One open database of an embedded engine: running named statements, transactions, and the guards around them."""

from __future__ import annotations

import importlib
import importlib.util
import re
import sys
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

from deeprefine_graphdb.model.errors import (
    DeepRefineError,
    StatementError,
    StoreDamaged,
    StoreLocked,
    UsageError,
    WriteFailed,
)
from deeprefine_graphdb.model.write import Statement
from deeprefine_graphdb.stores import room, statements
from deeprefine_graphdb.stores.protocol import Table
from deeprefine_graphdb.stores.sessions import Session, Sessions

ENGINES = ("kuzu", "ladybug")
POOL_BYTES = 256 << 20
LONG_WAL_POOL_BYTES = 1 << 30
LONG_WAL_BYTES = 8 << 20
_SMALLEST_DB = 1 << 33
_READS = re.compile(r"\s*(MATCH|OPTIONAL|WITH|UNWIND|RETURN|EXPLAIN|PROFILE|CALL\s+\w+\s*\()", re.IGNORECASE)


def engine_module(engine: str) -> Any:
    """Import an embedded engine; two of them in one process crash it.

    Raises :class:`UsageError` when the other one is loaded already, or this one is not installed.
    """
    for other in ENGINES:
        if other != engine and other in sys.modules:
            raise UsageError(
                f"This process already runs the engine {other}, and cannot run {engine} beside it.",
                "Use one store URL a process; a store moves from one engine to the other through files.",
            )
    if importlib.util.find_spec(engine) is None:
        extra = "" if engine == "kuzu" else f"[{engine}]"
        raise UsageError(
            f"The engine {engine} is not installed.", f"Run `pip install 'deeprefine-graphdb{extra}'`."
        )
    return importlib.import_module(engine)


class Engine:
    """A database file that is open. ``pool_bytes`` bounds the memory of its buffer pool.

    Automatic checkpoints are off, and closing makes none. Raises :class:`StoreDamaged` when it cannot be opened.
    """

    def __init__(self, engine: str, path: Path, *, read_only: bool, pool_bytes: int | None = None) -> None:
        self.name = engine
        self.path = path
        self.read_only = read_only
        self._module = engine_module(engine)
        self._pool_bytes = pool_bytes
        self._sessions = Sessions(lambda: self._module.Connection(self._database))
        self._open()

    def run(self, name: str, params: Mapping[str, Any]) -> list[tuple[Any, ...]]:
        """Run a statement of ``cypher/`` by name and give its rows.

        Raises :class:`StatementError` for parameters that do not fit, ``RuntimeError`` when the engine refuses.
        """
        statements.load(name, self.name).check(params)
        return self.run_checked(name, params)

    def batches(self, name: str, params: Mapping[str, Any], size: int) -> Iterator[list[tuple[Any, ...]]]:
        """Run a statement by name and give its rows in lists of at most ``size``."""
        with self._sessions.one() as session:
            result = self._execute(session, name, params)
        try:
            while rows := result.get_n(size):
                yield [tuple(row) for row in rows]
        finally:
            result.close()

    def arrow(self, name: str) -> Any:
        """Run a reading statement by name and give its rows as one pyarrow table."""
        with self._sessions.one() as session:
            result = self._execute(session, name, {})
            try:
                return result.get_as_arrow(100_000)
            finally:
                result.close()

    def query(self, text: str, params: Mapping[str, Any], limit: int, timeout: float) -> Table:
        """Run a statement that somebody typed, on a connection of its own, with a time and a row limit.

        Raises :class:`StatementError` when it is not exactly one statement, or the engine refuses or ends it.
        """
        if statements.statement_count(text) != 1:
            raise StatementError("The query must be exactly one statement.", "Run several one after another.")
        if not _READS.match(statements.without_quoted(text)):
            raise StatementError(
                "The query does not begin like one that reads.", "Begin it with MATCH or CALL."
            )
        with self._sessions.one():
            connection = self._module.Connection(self._database)
            try:
                connection.set_query_timeout(max(1, int(timeout * 1000)))
                return _fetch(connection, text, params, limit)
            except RuntimeError as error:
                message = " ".join(str(error).split())
                if "interrupted" in message.lower():
                    raise StatementError(
                        f"The query did not finish within {timeout:g} seconds.", "Narrow it, or add a LIMIT."
                    ) from error
                raise StatementError(f"The engine refused the query: {message.rstrip('.')}.") from error
            finally:
                connection.close()

    def transaction(self, program: Sequence[Statement]) -> None:
        """Run statements in one transaction: all of them, durably, or none.

        When one fails the database is closed and opened again, since what follows a failed transaction in the same
        handle is not sound. Raises :class:`WriteFailed`, or the error that came from outside the engine.
        """
        with self._sessions.alone():
            for statement in program:
                if statement.name.startswith("schema/"):
                    raise StatementError(
                        f"The statement {statement.name} must not run on a generation in use."
                    )
                statements.load(statement.name, self.name).check(statement.params)
            room.require(self.path.parent, room.for_a_write(program))
            transaction = Transaction(self)
            try:
                for statement in program:
                    transaction.run(statement)
                transaction.commit()
            except BaseException as error:
                self.reopen()
                if isinstance(error, RuntimeError) and not isinstance(error, DeepRefineError):
                    message = " ".join(str(error).split())
                    raise WriteFailed(
                        f"The engine refused the write: {message}", "Nothing was changed."
                    ) from error
                raise

    def reopen(self) -> None:
        """Close the database and open it again. What was not committed is gone."""
        with self._sessions.alone():
            self.close()
            self._open()

    def close(self) -> None:
        """Close connections and database; no checkpoint is made."""
        with self._sessions.alone():
            self._sessions.close()
            self._database.close()

    def _open(self) -> None:
        try:
            self._database = self._module.Database(
                str(self.path),
                buffer_pool_size=self._pool_bytes or _pool_for(self.path),
                max_db_size=_room_for(self.path),
                read_only=self.read_only,
                auto_checkpoint=False,
            )
            self.run_checked("schema/keep_wal", {})
        except (RuntimeError, IndexError) as error:
            message = " ".join(str(error).split())
            if "lock on file" in message:
                raise StoreLocked(
                    f"Another program has the database {self.path} open, without the lock of this one.",
                    "Close it there.",
                ) from error
            raise StoreDamaged(
                f"The database {self.path} cannot be opened: {message}",
                "Run `deeprefine-db doctor --rebuild`.",
            ) from error

    def run_checked(self, name: str, params: Mapping[str, Any]) -> list[tuple[Any, ...]]:
        """Run a statement as :meth:`run` does, when its parameters have been checked before."""
        with self._sessions.one() as session:
            result = self._execute(session, name, params)
            more, take, found = result.has_next, result.get_next, []
            try:
                while more():
                    found.append(tuple(take()))
                return found
            finally:
                result.close()

    def _execute(self, session: Session, name: str, params: Mapping[str, Any]) -> Any:
        return session.execute(name, statements.load(name, self.name), params)


class Transaction:
    """A transaction that has begun. The first error poisons it: nothing more runs in it, and it cannot commit.

    An engine ends a transaction at an error by itself, and would commit each later statement on its own.
    """

    def __init__(self, engine: Engine) -> None:
        self._engine = engine
        self._state = "open"
        engine.run("schema/begin", {})

    def run(self, statement: Statement) -> None:
        """Run one statement, whose parameters have been checked."""
        self._step(statement.name, statement.params)

    def commit(self) -> None:
        """Make everything durable."""
        self._step("schema/commit", {})
        self._state = "done"

    def _step(self, name: str, params: Mapping[str, Any]) -> None:
        if self._state != "open":
            raise WriteFailed(
                f"The transaction is {self._state}; {name} was not run.", "Plan and write again."
            )
        self._state = "poisoned"
        self._engine.run_checked(name, params)
        self._state = "open"


def wal_path(database: Path) -> Path:
    """Give the path of the write-ahead log of a database file."""
    return database.with_name(database.name + ".wal")


def _fetch(connection: Any, text: str, params: Mapping[str, Any], limit: int) -> Table:
    result = connection.execute(text, dict(params))
    if isinstance(result, list):
        for one in reversed(result):
            one.close()
        raise StatementError("The query must be exactly one statement.", "Run several one after another.")
    try:
        rows = [tuple(row) for row in result.get_n(limit + 1)]
        return Table(tuple(result.get_column_names()), rows[:limit], len(rows) > limit)
    finally:
        result.close()


def _size(path: Path) -> int:
    try:
        return path.stat().st_size
    except FileNotFoundError:
        return 0


def _pool_for(path: Path) -> int:
    return LONG_WAL_POOL_BYTES if _size(wal_path(path)) > LONG_WAL_BYTES else POOL_BYTES


def _room_for(path: Path) -> int:
    """Give the address space for a database: a power of two with room to grow sixteenfold."""
    return max(_SMALLEST_DB, 1 << (16 * _size(path)).bit_length())
