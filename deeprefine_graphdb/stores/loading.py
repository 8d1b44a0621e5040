"""New generations: built beside the one in use, made durable, and put in its place in one step."""

from __future__ import annotations

import os
import shutil
from collections.abc import Callable, Iterator, Sequence
from contextlib import closing, contextmanager, suppress
from pathlib import Path
from typing import TYPE_CHECKING

from deeprefine_graphdb.model.errors import RevisionMoved, StoreDamaged, UsageError, WriteFailed
from deeprefine_graphdb.model.write import FORMAT_VERSION, NewRecord, Record, StoreState
from deeprefine_graphdb.stores import generations, room
from deeprefine_graphdb.stores.engine import Engine, wal_path
from deeprefine_graphdb.stores.journal import Journal, chain, pack
from deeprefine_graphdb.stores.locks import store_lock
from deeprefine_graphdb.stores.opening import base_of, opened
from deeprefine_graphdb.stores.protocol import Generation
from deeprefine_graphdb.stores.second_name import keep, second_name
from deeprefine_graphdb.stores.urls import Place, parse_url
from deeprefine_loaders.atomic import fsync_directory
from deeprefine_loaders.basefile import NAMES, write_index, write_text
from deeprefine_loaders.collector import collector_paused
from deeprefine_loaders.seen import note_seen

if TYPE_CHECKING:
    from deeprefine_loaders.graphfile import GraphFile


def load_generation(
    url: str, generation: Generation, records: Sequence[NewRecord], *, log_dir: Path, wait: float = 5.0
) -> StoreState:
    """Make a generation the store's content, and append records to its log; a store that is missing is made.

    ``generation.state`` says where the log stands before the records and which revision the graph has after. The text
    of ``generation.base`` is let go of on the way, since the store has it then. Raises
    :class:`RevisionMoved` when the log went on meanwhile, :class:`WriteFailed` when the engine refuses a row;
    the store is then as before.
    """
    place = parse_url(url)
    state = generation.state.model_copy(update={"base_digest": generation.base.digest})
    journal = Journal.of(log_dir, state.store_id)
    with _building(place, wait):
        _check_engine(place.directory, place.engine)
        _check_log(journal, state)
        chained = chain(records, state.seq, state.head)
        state = _after(state, chained)
        directory = _put_in_place(place, state.store_id, _filling(place, generation, state, journal))
        journal.append(chained)
        keep(journal, second_name(place.directory, state.store_id))
        generations.note_journal(directory, journal.size())
    return state


def rebuild_generation(
    url: str, generation: Generation, *, log_dir: Path, wait: float = 5.0
) -> tuple[Path, ...]:
    """Put a generation in the place of a damaged one, which is set aside when the new one counts.

    What ``CURRENT`` says need not be readable, and what it names need not be there. Gives the folders that were set
    aside. Raises what :func:`load_generation` raises; the store is then as before.
    """
    place = parse_url(url)
    state = generation.state.model_copy(update={"base_digest": generation.base.digest})
    journal = Journal.of(log_dir, state.store_id)
    with _building(place, wait):
        former = generations.in_use(place.directory)
        with suppress(StoreDamaged):
            _check_engine(place.directory, place.engine)
        _check_log(journal, state)
        _put_in_place(place, state.store_id, _filling(place, generation, state, journal))
        return tuple(generations.set_aside(place.directory, former))


def fold(url: str, *, log_dir: Path, wait: float = 5.0) -> StoreState:
    """Build a new generation with the same content, revision and log: its write-ahead log is empty.

    Raises :class:`StoreMissing`, and whatever opening the store raises.
    """
    place = parse_url(url)
    with closing(base_of(url)) as base, _building(place, wait):
        from deeprefine_graphdb.stores import bulk

        pool = bulk.pool_bytes(base.count("links") + base.count("edges"))
        with opened(place, log_dir, "read", pool) as (source, store):
            state = store.state()
            wal = wal_path(source.path)
            held = source.path.stat().st_size + (wal.stat().st_size if wal.exists() else 0)
            room.require(place.directory, room.for_a_fold(held))

            def build(directory: Path) -> None:
                for name in NAMES:
                    _same_file(source.path.parent / name, directory / name)
                note_seen(directory, NAMES)
                engine = _fresh(place.engine, directory, pool)
                try:
                    bulk.copy_all(source, engine)
                    engine.run("schema/checkpoint", {})
                finally:
                    engine.close()

            _put_in_place(place, state.store_id, build)
    return state


@contextmanager
def _building(place: Place, wait: float) -> Iterator[None]:
    with room.naming(place.directory):
        place.directory.mkdir(parents=True, exist_ok=True)
        with store_lock(place.directory, "write", wait), collector_paused():
            yield


def _filling(
    place: Place, generation: Generation, state: StoreState, journal: Journal
) -> Callable[[Path], None]:
    """Give what fills the folder of a generation, once there is room for it."""
    base = generation.base
    objects = len(base.nodes.id) + len(base.links.key)
    room.require(place.directory, room.for_a_generation(base.header.size, objects, journal.size()))

    def build(directory: Path) -> None:
        from deeprefine_graphdb.stores import bulk
        from deeprefine_graphdb.stores.beside import beside

        with beside(lambda: _write_base(base, directory)):
            engine = _fresh(place.engine, directory, bulk.pool_bytes(len(base.links.key)))
            try:
                bulk.fill(engine, generation, state)
                engine.run("schema/checkpoint", {})
            finally:
                engine.close()

    return build


def _write_base(base: GraphFile, directory: Path) -> None:
    """Write the files of a base; its text is let go of as soon as it is written."""
    write_text(base, directory)
    base.text = ""
    write_index(base, directory)


def _check_log(journal: Journal, state: StoreState) -> None:
    last = journal.last()
    if (last.seq, last.hash) != (state.seq, state.head) if last else state.seq != 0:
        raise RevisionMoved(
            f"The log {journal.path} went on since this change was planned.", "Plan it again."
        )


def _check_engine(directory: Path, engine: str) -> None:
    pointer = generations.read_pointer(directory)
    if pointer is not None and pointer.engine != engine:
        raise UsageError(
            f"The store {directory} was made by {pointer.engine}, not by {engine}.",
            f"Name it {pointer.engine}:{directory}, or use another directory.",
        )


def _after(state: StoreState, records: Sequence[Record]) -> StoreState:
    if not records:
        return state
    return state.model_copy(update={"seq": records[-1].seq, "head": records[-1].hash, "tail": pack(records)})


def _fresh(engine: str, directory: Path, pool: int) -> Engine:
    return Engine(engine, directory / f"graph.{engine}", read_only=False, pool_bytes=pool)


def _put_in_place(place: Place, store_id: str, build: Callable[[Path], None]) -> Path:
    """Build a generation, make it the one that counts and give its folder; one that cannot be built is removed."""
    directory, engine = place.directory, place.engine
    target = generations.new_generation(directory)
    try:
        build(target)
        for path in target.iterdir():
            generations.sync_file(path)
        fsync_directory(target)
    except BaseException as error:
        shutil.rmtree(target, ignore_errors=True)
        if isinstance(error, RuntimeError):
            message = " ".join(str(error).split())
            raise WriteFailed(f"The engine {engine} refused the new generation: {message}") from error
        raise
    pointer = generations.Pointer(FORMAT_VERSION, engine, store_id, target.name)
    generations.write_pointer(directory, pointer)
    generations.mark_generation(directory, pointer)
    return target


def _same_file(source: Path, target: Path) -> None:
    """Give a file that never changes a second name, or a copy where that is not possible."""
    try:
        os.link(source, target)
    except OSError:
        shutil.copyfile(source, target)
