"""What a store can be made of anew, and what is missing where it cannot."""

from __future__ import annotations

import contextlib
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from deeprefine_graphdb import stores
from deeprefine_graphdb.graph.reverse import reversed_manifest
from deeprefine_graphdb.model.errors import (
    DeepRefineError,
    GraphFormatError,
    StoreDamaged,
    StoreLocked,
    StoreMissing,
)
from deeprefine_graphdb.model.write import Record
from deeprefine_graphdb.project.digests import file_digest
from deeprefine_graphdb.project.knowledge_base import KnowledgeBase
from deeprefine_graphdb.project.lost import find_lost
from deeprefine_graphdb.project.source import read_source
from deeprefine_graphdb.provenance.log import Log
from deeprefine_graphdb.stores.journal import RESTORE, Journal
from deeprefine_loaders.basefile import BASE_NAME
from deeprefine_loaders.errors import FormatError
from deeprefine_loaders.graphfile import GraphFile, parse_graph
from deeprefine_loaders.shelf import Shelf

REBUILD = "Run `deeprefine-db doctor --rebuild`, which makes the store anew from its base and the log."
SHOWN_IDS = 10


@dataclass(frozen=True)
class Material:
    """What a store is made of: its id, its log, and the base that the log is about."""

    store_id: str
    log: Log
    graph: GraphFile


def gather(base: KnowledgeBase) -> Material:
    """Find everything that the store can be made of; a journal that lacks the last write is completed first.

    Raises a :class:`DeepRefineError` that says what is missing and how to get it: the journal is gone or broken, the
    store has records that the journal lacks, or the base is nowhere.
    """
    journal = _journal(base)
    records = _whole_records(base, journal)
    log = Log(records)
    snapshots = log.snapshots()
    if not snapshots:
        raise StoreDamaged(f"The journal {journal.path} has no record of a sync.", RESTORE)
    return Material(journal.path.stem, log, _find_base(base, log, snapshots[-1].base_digest))


def next_step(base: KnowledgeBase) -> str:
    """Say what brings back a store that is damaged or lost. Raises :class:`StoreLocked`."""
    try:
        gather(base)
    except StoreLocked:
        raise
    except DeepRefineError as error:
        return str(error)
    return REBUILD


def _journal(base: KnowledgeBase) -> Journal:
    try:
        found = stores.store_id(base.url)
        if found is not None:
            return Journal.of(base.project.log, found)
    except StoreDamaged:
        if not stores.parse_url(base.url).directory.is_dir():
            raise
    lost = find_lost(base.project, base.url)
    if lost is None:
        raise StoreMissing(
            f"There is no store at {base.url}, and no log in {base.project.log}.",
            "Run `deeprefine-db sync` for a new store.",
        )
    store_id = lost.store_id()
    if store_id is None:
        raise StoreDamaged(
            f"{base.project.log} has the logs of {len(lost.journals)} stores, and nothing says which one is meant.",
            "Leave only that one there and run this again.",
        )
    return Journal.of(base.project.log, store_id)


def _whole_records(base: KnowledgeBase, journal: Journal) -> list[Record]:
    """Give the records of a journal that is whole and has everything that the store has."""
    kept = stores.kept(base.url, wait=base.wait)
    apart: StoreDamaged | None = None
    if kept is not None:
        try:
            journal.heal(kept.state)
        except StoreDamaged as error:
            apart = error
    bad = journal.verify()
    if bad is not None:
        raise StoreDamaged(f"Line {bad.line} of the journal {journal.path} {bad.reason}.", RESTORE)
    records = journal.read()
    if apart is not None and kept is not None and not journal.goes_through(kept.state.seq, kept.state.head):
        only_there = list(_missing(kept, records))
        if only_there:
            raise StoreDamaged(
                f"{apart.message} A rebuild would lose what only the store has: {'; '.join(only_there)}.",
                f"{RESTORE} To go on without it, {_retire(base)} and run `deeprefine-db doctor --rebuild`.",
            )
    if not records:
        place = stores.parse_url(base.url).directory
        raise StoreDamaged(
            f"The journal {journal.path} is missing or empty.",
            f"{RESTORE} To start over without it, move {place} and {base.project.log} away and run "
            "`deeprefine-db sync`.",
        )
    return records


def _missing(kept: stores.Kept, records: list[Record]) -> Iterator[str]:
    """Name what a database has and records do not, by kind."""
    known = {str(record.body.get("id")) for record in records}
    for kind, ids in kept.ids.items():
        if lost := sorted(set(ids) - known):
            more = f" and {len(lost) - SHOWN_IDS} more" if len(lost) > SHOWN_IDS else ""
            yield f"{kind} {', '.join(lost[:SHOWN_IDS])}{more}"


def _retire(base: KnowledgeBase) -> str:
    former = stores.base_path(base.url)
    return "" if former is None else f"rename {former} to {former.name.replace('gen-', 'aside-')}"


def _find_base(base: KnowledgeBase, log: Log, digest: str) -> GraphFile:
    """Find what the log is about: a base of any generation, a former one, graph.json, or an export taken back."""
    project = base.project
    folders = (*stores.store_folders(base.url), *stores.store_folders(f"kuzu:{project.store}"))
    files = (project.graph_json, project.backup, project.before_update)
    for path in dict.fromkeys((*(folder / BASE_NAME for folder in folders), *files)):
        with contextlib.suppress(GraphFormatError):
            if file_digest(path) == digest:
                return read_source(path)
    with contextlib.suppress(KeyError, FormatError):
        return parse_graph(Shelf(project.bases).get(digest), f"the base {digest[:12]}")
    for path in files:
        with contextlib.suppress(GraphFormatError):
            found = _taken_back(path, log, digest)
            if found is not None:
                return found
    raise StoreDamaged(
        f"No file here is the graph.json with the SHA-256 {digest} that the log is about, or an export of it.",
        f"Put that file at {project.backup} (version control may have it as a former graph.json), and run "
        "`deeprefine-db doctor --rebuild`.",
    )


def _taken_back(path: Path, log: Log, digest: str) -> GraphFile | None:
    """Take the refinements out of a file that was exported from the base, if it is one."""
    written = file_digest(path)
    for snapshot in reversed(log.snapshots()):
        if snapshot.file_digest == written and snapshot.base_digest == digest:
            found = reversed_manifest(read_source(path), snapshot.entries(), digest)
            if found is not None:
                return found
    return None
