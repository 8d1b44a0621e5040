"""A knowledge base and its store, opened for as long as one job needs them."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Literal

from deeprefine_graphdb import stores
from deeprefine_graphdb.model.errors import StoreDamaged, StoreMissing
from deeprefine_graphdb.model.write import Record
from deeprefine_graphdb.project.digests import file_digest
from deeprefine_graphdb.project.lost import LostStore, find_lost
from deeprefine_graphdb.project.paths import ProjectPaths
from deeprefine_graphdb.project.settings import Settings
from deeprefine_graphdb.provenance.log import Log
from deeprefine_graphdb.provenance.records import ExportBody, SyncBody
from deeprefine_graphdb.stores.journal import Journal
from deeprefine_graphdb.stores.protocol import GraphStore

_ONE_HANDLE = threading.RLock()


@dataclass(frozen=True)
class _ReadSoFar:
    """What was read of a journal: up to which byte, and the log that it gave."""

    journal: Path
    end: int
    log: Log


@dataclass(frozen=True)
class KnowledgeBase:
    """Paths, store URL and how many seconds to wait for a store that is in use."""

    project: ProjectPaths
    url: str
    wait: float
    _read: list[_ReadSoFar] = field(default_factory=list, init=False, repr=False, compare=False)

    @classmethod
    def of(cls, project: ProjectPaths, settings: Settings) -> KnowledgeBase:
        """Give the knowledge base that settings point at."""
        return cls(project, settings.text("store"), settings.number("wait"))

    def has_store(self) -> bool:
        """Tell whether there is a store at the URL."""
        return stores.store_exists(self.url)

    def lost(self) -> LostStore | None:
        """Give what is left of a store where there is none, or ``None``: nothing is, or there is a store.

        In a clone lie the journals of stores that are at home elsewhere: these are not lost.
        """
        if self.has_store():
            return None
        lost = find_lost(self.project, self.url)
        if lost is None or lost.generations or lost.home in lost.journals:
            return lost
        return None

    def require_store(self) -> None:
        """See that there is a store. Raises :class:`StoreMissing`, and :class:`StoreDamaged` where one is lost."""
        if self.has_store():
            return
        if (lost := self.lost()) is not None:
            raise StoreDamaged(lost.sentence(), "Run `deeprefine-db doctor --rebuild`.")
        raise StoreMissing(f"There is no store at {self.url}.", "Run `deeprefine-db sync` first.")

    @contextmanager
    def open(self, mode: Literal["read", "write"]) -> Iterator[GraphStore]:
        """Open the store; threads of this process take turns, since an engine is opened once in a process.

        Raises what :meth:`require_store` raises where there is no store.
        """
        self.require_store()
        with (
            _ONE_HANDLE,
            stores.open_store(self.url, log_dir=self.project.log, mode=mode, wait=self.wait) as store,
        ):
            yield store

    def log(self) -> Log:
        """Read the log from the journal, without opening the engine. Empty where nothing was synced yet.

        Where a writer died, or the journal was cut, the store is opened first so that the journal is complete.
        The journal of a store that is lost is read as it is. What was read before is not read again. Raises
        :class:`StoreDamaged`.
        """
        store_id = stores.store_id(self.url)
        if store_id is None:
            lost = self.lost()
            store_id = None if lost is None else lost.store_id()
            return Log(()) if store_id is None else self._read_on(Journal.of(self.project.log, store_id))
        journal = Journal.of(self.project.log, store_id)
        if stores.needs_healing(self.url, journal):
            with self.open("read"):
                pass
        return self._read_on(journal)

    def records(self) -> list[Record]:
        """Give the journal's records as :meth:`log` reads them."""
        return list(self.log().records)

    def _read_on(self, journal: Journal) -> Log:
        before = next((read for read in self._read if read.journal == journal.path), None)
        if before is not None:
            head = before.log.records[-1].hash if before.log.records else ""
            more = journal.read_on(before.end, head)
            if more is not None:
                records, end = more
                log = before.log.extended(records) if records else before.log
                self._read[:] = [_ReadSoFar(journal.path, end, log)]
                return log
        found, end = journal.read_to_end()
        log = Log(found)
        self._read[:] = [_ReadSoFar(journal.path, end, log)]
        return log

    def graph_digest(self) -> str | None:
        """Give the SHA-256 of graph.json as it is on disk, or ``None`` when there is none."""
        return file_digest(self.project.graph_json)


def known_digests(log: Log) -> dict[str, SyncBody | ExportBody]:
    """Give every state of graph.json that the current base is known to have had, by digest."""
    snapshots = log.snapshots()
    if not snapshots:
        return {}
    base = snapshots[-1].base_digest
    return {snapshot.file_digest: snapshot for snapshot in snapshots if snapshot.base_digest == base}
