"""An engine without any of the store's guards, to see a trap bite."""

from __future__ import annotations

import importlib
import importlib.util  # noqa: F401 - an engine that is handed pyarrow needs it imported
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

ENTITIES = 5


class Raw:
    """A database with five entities in a chain of four edges."""

    def __init__(self, engine: str, path: Path, *, fill: bool = True, **settings: Any) -> None:
        self.module = importlib.import_module(engine)
        own = {"auto_checkpoint": False, "max_db_size": 1 << 33, "buffer_pool_size": 128 << 20}
        self.database = self.module.Database(str(path), **own | settings)
        self.connection = self.module.Connection(self.database)
        if not settings:
            self.run("CALL force_checkpoint_on_close = false")
        if fill:
            self._fill()

    def run(self, text: str, **params: Any) -> list[list[Any]]:
        rows: list[list[Any]] = self.connection.execute(text, params).get_all()
        return rows

    def ids(self) -> list[str]:
        return sorted(row[0] for row in self.run("MATCH (e:E) RETURN e.id"))

    def edges(self) -> int:
        return int(self.run("MATCH (:E)-[r:R]->(:E) RETURN count(r)")[0][0])

    def close(self) -> None:
        self.connection.close()
        self.database.close()

    def _fill(self) -> None:
        self.run("CREATE NODE TABLE E(id STRING PRIMARY KEY, a STRING)")
        self.run("CREATE REL TABLE R(FROM E TO E, key STRING)")
        for number in range(ENTITIES):
            self.run("CREATE (:E {id: $id})", id=str(number))
        for number in range(ENTITIES - 1):
            self.run(
                "MATCH (a:E {id: $s}) MATCH (b:E {id: $t}) CREATE (a)-[:R {key: $s}]->(b)",
                s=str(number),
                t=str(number + 1),
            )


@contextmanager
def raw(engine: str, path: Path, **settings: Any) -> Iterator[Raw]:
    database = Raw(engine, path, **settings)
    try:
        yield database
    finally:
        database.close()


def crash_by_second_begin(engine: str, path: Path) -> None:
    """Begin a second transaction beside one that writes, then ask anything on its connection."""
    database = Raw(engine, path)
    database.run("BEGIN TRANSACTION")
    database.run("CREATE (:E {id: 'new'})")
    second = database.module.Connection(database.database)
    try:
        second.execute("BEGIN TRANSACTION")
    except RuntimeError:
        second.execute("MATCH (e:E) RETURN count(e)").get_all()


if __name__ == "__main__":
    crash_by_second_begin(sys.argv[1], Path(sys.argv[2]))
