"""A knowledge base and its store, opened for as long as one job needs them."""

from __future__ import annotations

import hashlib
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

from deeprefine_graphdb import stores
from deeprefine_graphdb.model.errors import GraphFormatError, StoreMissing
from deeprefine_graphdb.model.write import Record
from deeprefine_graphdb.project.paths import ProjectPaths
from deeprefine_graphdb.project.settings import Settings
from deeprefine_graphdb.provenance.log import Log
from deeprefine_graphdb.provenance.records import ExportBody, SyncBody
from deeprefine_graphdb.stores.journal import Journal
from deeprefine_graphdb.stores.protocol import GraphStore

CHUNK = 1 << 20
_ONE_HANDLE = threading.RLock()


@dataclass(frozen=True)
class KnowledgeBase:
    """Paths, store URL and how many seconds to wait for a store that is in use."""

    project: ProjectPaths
    url: str
    wait: float

    @classmethod
    def of(cls, project: ProjectPaths, settings: Settings) -> KnowledgeBase:
        """Give the knowledge base that settings point at."""
        return cls(project, settings.text("store"), settings.number("wait"))

    def has_store(self) -> bool:
        """Tell whether there is a store at the URL."""
        return stores.store_exists(self.url)

    @contextmanager
    def open(self, mode: Literal["read", "write"]) -> Iterator[GraphStore]:
        """Open the store; threads of this process take turns, since an engine is opened once in a process.

        Raises :class:`StoreMissing` where nothing was synced yet.
        """
        if not self.has_store():
            raise StoreMissing(f"There is no store at {self.url}.", "Run `deeprefine-db sync` first.")
        with (
            _ONE_HANDLE,
            stores.open_store(self.url, log_dir=self.project.log, mode=mode, wait=self.wait) as store,
        ):
            yield store

    def log(self) -> Log:
        """Read the log from the journal, without opening the engine. Empty where nothing was synced yet."""
        return Log(self.records())

    def records(self) -> list[Record]:
        """Read the journal's records; where a writer died, the store is opened first so that they are complete."""
        store_id = stores.store_id(self.url)
        if store_id is None:
            return []
        if stores.needs_healing(self.url):
            with self.open("read"):
                pass
        return Journal.of(self.project.log, store_id).read()

    def graph_digest(self) -> str | None:
        """Give the SHA-256 of graph.json as it is on disk, or ``None`` when there is none."""
        return file_digest(self.project.graph_json)


def file_digest(path: Path) -> str | None:
    """Give the SHA-256 of a file, or ``None`` when it does not exist. Raises :class:`GraphFormatError`."""
    digest = hashlib.sha256()
    try:
        with path.open("rb") as stream:
            while chunk := stream.read(CHUNK):
                digest.update(chunk)
    except FileNotFoundError:
        return None
    except OSError as error:
        raise GraphFormatError(f"{path} cannot be read: {error.strerror}.") from error
    return digest.hexdigest()


def known_digests(log: Log) -> dict[str, SyncBody | ExportBody]:
    """Give every state of graph.json that the current base is known to have had, by digest."""
    snapshots = log.snapshots()
    if not snapshots:
        return {}
    base = snapshots[-1].base_digest
    return {snapshot.file_digest: snapshot for snapshot in snapshots if snapshot.base_digest == base}
