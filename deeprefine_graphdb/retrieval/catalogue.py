"""The index's own copy of every live edge and its text, in one SQLite file, kept in step with the store.

The file can be deleted at any time; the next search makes it again. Row numbers follow the order of edge
keys up to ``ordered``; edges that came later stand behind that, so that ties can still be broken by key.
"""

from __future__ import annotations

import contextlib
import json
import os
import secrets
import sqlite3
import threading
import time
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import AbstractContextManager
from pathlib import Path
from typing import NamedTuple

from deeprefine_graphdb.graph.view import GraphView
from deeprefine_graphdb.model.actions import Frozen
from deeprefine_graphdb.model.errors import DeepRefineError
from deeprefine_graphdb.model.write import StoreState
from deeprefine_graphdb.retrieval.terms import terms
from deeprefine_graphdb.stores.protocol import GraphStore
from deeprefine_loaders.atomic import naming

FORMAT = 1
OpenReader = Callable[[], AbstractContextManager[GraphStore]]

SCHEMA = """
CREATE TABLE entity(id INTEGER PRIMARY KEY, text TEXT NOT NULL UNIQUE);
CREATE TABLE edge(id INTEGER PRIMARY KEY, key TEXT NOT NULL, src INTEGER NOT NULL, tgt INTEGER NOT NULL,
                  text TEXT NOT NULL);
CREATE VIRTUAL TABLE word USING fts5(terms, content='', tokenize='ascii');
CREATE VIRTUAL TABLE word_count USING fts5vocab(word, 'row');
CREATE TABLE watched(key TEXT PRIMARY KEY, src TEXT NOT NULL, tgt TEXT NOT NULL) WITHOUT ROWID;
CREATE TABLE stamp(body TEXT NOT NULL);
"""
SPOOL = "CREATE TEMP TABLE spool(key TEXT, src TEXT, tgt TEXT, text TEXT);"
MAX_UNORDERED = 50_000
STALE_BUILD_SECONDS = 3600
ARRANGE = """
INSERT INTO entity(text) SELECT src FROM spool UNION SELECT tgt FROM spool;
INSERT INTO edge(key, src, tgt, text)
SELECT s.key, a.id, b.id, s.text
FROM spool s JOIN entity a ON a.text = s.src JOIN entity b ON b.text = s.tgt ORDER BY s.key;
CREATE UNIQUE INDEX edge_key ON edge(key);
DROP TABLE spool;
"""


class IndexedEdge(NamedTuple):
    """A live edge as it is indexed: row number, key, ids of its ends, and ``subject relation object``."""

    row: int
    key: str
    source: str
    target: str
    text: str


class Stamp(Frozen):
    """What a catalogue was made from. ``length`` is the number of terms of all ``edges`` together.

    ``ordered`` is the last row number up to which rows follow the order of keys; ``build`` names the full
    build that row numbers come from.
    """

    format: int = FORMAT
    store_id: str = ""
    base_digest: str = ""
    revision: int = -1
    edges: int = 0
    length: int = 0
    ordered: int = 0
    build: str = ""

    def of(self, state: StoreState) -> bool:
        """Whether the catalogue shows exactly this state of a store."""
        return self.same_base(state) and self.revision == state.revision

    def same_base(self, state: StoreState) -> bool:
        """Whether only refinements lie between the catalogue and this state of a store."""
        mine = (self.format, self.store_id, self.base_digest)
        return mine == (FORMAT, state.store_id, state.base_digest)


class EdgeCatalogue:
    """The catalogue in a folder: ``edges.sqlite``, and ``edges.json`` that says what it was made from."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.path = folder / "edges.sqlite"
        self.sidecar = folder / "edges.json"
        self._building = threading.Lock()

    def stamp(self) -> Stamp:
        """Give what the catalogue was made from; revision −1 when there is none, or none that can be read."""
        if not self.path.exists():
            return Stamp()
        try:
            with self.open() as db:
                return read_stamp(db)
        except (sqlite3.Error, ValueError, TypeError):
            return Stamp()

    def refresh(self, open_reader: OpenReader, rebuild: bool = False) -> Stamp:
        """Bring the catalogue to the store's present state and give its stamp.

        After refinements only the edges that they touched are read again; on a new base, or with ``rebuild``,
        everything is. The store is open while edges are read, not while they are indexed.

        Raises :class:`DeepRefineError` when the index cannot be written.
        """
        with self._building, naming(self.folder), self._writing():
            with open_reader() as store:
                state = store.state()
                stamp = self.stamp()
                if not rebuild and stamp.of(state):
                    return stamp
                if not rebuild and stamp.same_base(state):
                    with contextlib.suppress(sqlite3.DatabaseError):
                        return self._update(store, state)
                building, db = self._spool(store)
            return self._build(building, db, state)

    @contextlib.contextmanager
    def _writing(self) -> Iterator[None]:
        """Say in a sentence of ours what SQLite cannot do: a full or read-only disk, a folder that is a file."""
        try:
            yield
        except sqlite3.Error as error:
            raise DeepRefineError(
                f"The index {self.path} cannot be written: {error}.",
                "Free some space there or let this user write there; the index can be removed at any time.",
            ) from error

    @contextlib.contextmanager
    def open(self) -> Iterator[sqlite3.Connection]:
        """Open the file for reading or for one transaction; closed, and rolled back on error, at the end."""
        db = sqlite3.connect(
            f"{self.path.absolute().as_uri()}?mode=rw", uri=True, timeout=30, isolation_level=None
        )
        try:
            yield db
        finally:
            db.close()

    def edges(self, db: sqlite3.Connection, rows: Iterable[int]) -> list[IndexedEdge]:
        """Give the edges of row numbers, in the order asked for."""
        sql = (
            "SELECT e.id, e.key, a.text, b.text, e.text FROM edge e JOIN entity a ON a.id = e.src "
            "JOIN entity b ON b.id = e.tgt WHERE e.id = ?"
        )
        found = (db.execute(sql, (row,)).fetchone() for row in rows)
        return [IndexedEdge(*edge) for edge in found if edge is not None]

    def texts(self, keys: Iterable[str]) -> dict[str, str]:
        """Give the texts of the edges that the catalogue knows, by key."""
        with self.open() as db:
            found = (
                db.execute("SELECT key, text FROM edge WHERE key = ?", (key,)).fetchone() for key in keys
            )
            return {row[0]: row[1] for row in found if row is not None}

    def watched(self) -> dict[str, tuple[str, str]]:
        """Give the ends of the edges that may be otherwise in the next state of the store, by key."""
        with self.open() as db:
            return {key: (src, tgt) for key, src, tgt in db.execute("SELECT key, src, tgt FROM watched")}

    def all_texts(self) -> Iterator[tuple[int, str]]:
        """Give row number and text of every edge, by row number."""
        with self.open() as db:
            yield from db.execute("SELECT id, text FROM edge ORDER BY id")

    def _spool(self, store: GraphStore) -> tuple[Path, sqlite3.Connection]:
        self.folder.mkdir(parents=True, exist_ok=True)
        for left in self.folder.glob("edges.*.tmp"):
            with contextlib.suppress(OSError):
                if time.time() - left.stat().st_mtime > STALE_BUILD_SECONDS:
                    left.unlink()
        building = self.folder / f"edges.{os.getpid()}.{threading.get_ident()}.tmp"
        building.unlink(missing_ok=True)
        db = sqlite3.connect(building, isolation_level=None)
        try:
            db.executescript(
                f"PRAGMA journal_mode=OFF; PRAGMA synchronous=OFF; PRAGMA temp_store=FILE;{SCHEMA}{SPOOL}"
            )
            db.execute("BEGIN")
            for batch in store.edge_texts():
                rows = ((key, src, tgt, edge_text(a, relation, b)) for key, src, a, relation, b, tgt in batch)
                db.executemany("INSERT INTO temp.spool VALUES (?, ?, ?, ?)", rows)
            db.executemany("INSERT OR REPLACE INTO watched VALUES (?, ?, ?)", touched_edges(store))
            db.execute("COMMIT")
        except BaseException:
            db.close()
            building.unlink(missing_ok=True)
            raise
        return building, db

    def _build(self, building: Path, db: sqlite3.Connection, state: StoreState) -> Stamp:
        try:
            with contextlib.closing(db):
                db.executescript(f"BEGIN;{ARRANGE}COMMIT;")
                db.execute("BEGIN")
                edges, length = _index_words(db)
                stamp = _stamped(state, edges, length, ordered=edges, build=secrets.token_hex(6))
                db.execute("INSERT INTO stamp VALUES (?)", (stamp.model_dump_json(),))
                db.execute("COMMIT")
            with building.open("rb+") as file:
                os.fsync(file.fileno())
            building.replace(self.path)
        finally:
            building.unlink(missing_ok=True)
        self._say(stamp)
        return stamp

    def _update(self, store: GraphStore, state: StoreState) -> Stamp:
        view = GraphView(store)
        touched = list(touched_edges(store))
        with self.open() as db:
            db.execute("BEGIN IMMEDIATE")
            before = read_stamp(db)
            if before.of(state):
                return before
            if not before.same_base(state):
                raise sqlite3.DatabaseError("replaced meanwhile")
            watched = {row[0]: (row[1], row[2]) for row in db.execute("SELECT key, src, tgt FROM watched")}
            watched.update((key, (src, tgt)) for key, src, tgt in touched)
            edges, length = _reconcile(db, wanted_texts(view, watched))
            db.execute("DELETE FROM watched")
            db.executemany("INSERT OR REPLACE INTO watched VALUES (?, ?, ?)", touched)
            stamp = _stamped(
                state, before.edges + edges, before.length + length, before.ordered, before.build
            )
            db.execute("UPDATE stamp SET body = ?", (stamp.model_dump_json(),))
            db.execute("COMMIT")
        self._say(stamp)
        return stamp

    def _say(self, stamp: Stamp) -> None:
        written = self.sidecar.with_suffix(f".{os.getpid()}.{threading.get_ident()}.tmp")
        written.write_text(json.dumps(stamp.model_dump(), indent=2) + "\n", encoding="utf-8")
        written.replace(self.sidecar)


def read_stamp(db: sqlite3.Connection) -> Stamp:
    """Give the stamp of an open catalogue."""
    row = db.execute("SELECT body FROM stamp").fetchone()
    return Stamp.model_validate_json(row[0]) if row is not None else Stamp()


def _stamped(state: StoreState, edges: int, length: int, ordered: int, build: str) -> Stamp:
    return Stamp(
        store_id=state.store_id,
        base_digest=state.base_digest,
        revision=state.revision,
        edges=edges,
        length=length,
        ordered=ordered,
        build=build,
    )


def _index_words(db: sqlite3.Connection) -> tuple[int, int]:
    """Fill the word index from the edge table; give the number of edges and of terms."""
    edges = length = 0
    reading = db.execute("SELECT id, text FROM edge ORDER BY id")
    while batch := reading.fetchmany(5_000):
        split = [(row, terms(text)) for row, text in batch]
        db.executemany(
            "INSERT INTO word(rowid, terms) VALUES (?, ?)", ((row, " ".join(of)) for row, of in split)
        )
        edges += len(split)
        length += sum(len(of) for _, of in split)
    return edges, length


def touched_edges(store: GraphStore) -> Iterator[tuple[str, str, str]]:
    """Give (key, source, target) of every edge whose text may differ from its base's."""
    touched = store.touched()
    for edge in touched.edges:
        yield edge.key, edge.src, edge.tgt
    for entity in touched.entities:
        for edge in store.edges_of(entity.id):
            yield edge.key, edge.src, edge.tgt


def wanted_texts(
    view: GraphView, watched: Mapping[str, tuple[str, str]]
) -> Iterator[tuple[str, tuple[str, str, str] | None]]:
    """Give each watched edge's key with (source, target, text), or ``None`` when it is not live."""
    by_pair: dict[tuple[str, str], list[str]] = {}
    for key, pair in watched.items():
        by_pair.setdefault(pair, []).append(key)
    for (src, tgt), keys in by_pair.items():
        live = {edge.key: edge for edge in view.edges_between(src, tgt)}
        source, target = view.entity(src), view.entity(tgt)
        for key in keys:
            edge = live.get(key)
            if edge is None or source is None or target is None:
                yield key, None
            else:
                yield key, (src, tgt, edge_text(source.label, edge.relation, target.label))


def edge_text(subject: str, relation: str, target: str) -> str:
    """Give the text by which an edge is found and embedded."""
    return f"{subject} {relation} {target}"


def _reconcile(
    db: sqlite3.Connection, wanted: Iterable[tuple[str, tuple[str, str, str] | None]]
) -> tuple[int, int]:
    """Make the catalogue agree with what is wanted of some edges; give how many more there are now."""
    edges = length = 0
    for key, want in wanted:
        have = db.execute("SELECT id, text FROM edge WHERE key = ?", (key,)).fetchone()
        if have is not None and want is not None and have[1] == want[2]:
            continue
        if have is not None:
            row, lost = have[0], terms(have[1])
            db.execute("INSERT INTO word(word, rowid, terms) VALUES ('delete', ?, ?)", (row, " ".join(lost)))
            db.execute("DELETE FROM edge WHERE id = ?", (row,))
            edges, length = edges - 1, length - len(lost)
        if want is not None:
            found = terms(want[2])
            ends = [_entity_number(db, text) for text in want[:2]]
            row = have[0] if have is not None else _next_row(db)
            db.execute("INSERT INTO edge VALUES (?, ?, ?, ?, ?)", (row, key, *ends, want[2]))
            db.execute("INSERT INTO word(rowid, terms) VALUES (?, ?)", (row, " ".join(found)))
            edges, length = edges + 1, length + len(found)
    return edges, length


def _next_row(db: sqlite3.Connection) -> int:
    ordered = read_stamp(db).ordered
    last: int = db.execute("SELECT coalesce(max(id), 0) FROM edge").fetchone()[0]
    if last - ordered > MAX_UNORDERED:
        raise sqlite3.DatabaseError("too many edges out of order, to be built anew")
    return max(last, ordered) + 1


def _entity_number(db: sqlite3.Connection, text: str) -> int:
    db.execute("INSERT OR IGNORE INTO entity(text) VALUES (?)", (text,))
    number: int = db.execute("SELECT id FROM entity WHERE text = ?", (text,)).fetchone()[0]
    return number
