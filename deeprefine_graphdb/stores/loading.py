"""New generations: built beside the one in use, made durable, and put in its place in one step."""

from __future__ import annotations

import os
import shutil
from collections.abc import Callable, Sequence
from contextlib import closing
from pathlib import Path

from deeprefine_graphdb.model.errors import RevisionMoved, UsageError, WriteFailed
from deeprefine_graphdb.model.write import FORMAT_VERSION, NewRecord, Record, StoreState
from deeprefine_graphdb.stores import generations
from deeprefine_graphdb.stores.engine import Engine
from deeprefine_graphdb.stores.journal import Journal, chain, pack
from deeprefine_graphdb.stores.locks import store_lock
from deeprefine_graphdb.stores.opening import base_of, opened
from deeprefine_graphdb.stores.protocol import Generation
from deeprefine_graphdb.stores.urls import parse_url
from deeprefine_loaders.atomic import fsync_directory
from deeprefine_loaders.basefile import BASE_NAME, INDEX_NAME, write_base
from deeprefine_loaders.collector import collector_paused


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
    place.directory.mkdir(parents=True, exist_ok=True)
    state = generation.state.model_copy(update={"base_digest": generation.base.digest})
    journal = Journal.of(log_dir, state.store_id)
    with store_lock(place.directory, "write", wait), collector_paused():
        _check_engine(place.directory, place.engine)
        last = journal.last()
        if (last.seq, last.hash) != (state.seq, state.head) if last else state.seq != 0:
            raise RevisionMoved(
                f"The log {journal.path} went on since this change was planned.", "Plan it again."
            )
        chained = chain(records, state.seq, state.head)
        state = _after(state, chained)

        def build(directory: Path) -> None:
            from deeprefine_graphdb.stores import bulk

            write_base(generation.base, directory)
            generation.base.text = ""
            engine = _fresh(place.engine, directory, bulk.pool_bytes(len(generation.base.links.key)))
            try:
                bulk.create_tables(engine)
                bulk.fill(engine, generation, state)
                engine.run("schema/checkpoint", {})
            finally:
                engine.close()

        _put_in_place(place.directory, place.engine, state.store_id, build)
        journal.append(chained)
    return state


def fold(url: str, *, log_dir: Path, wait: float = 5.0) -> StoreState:
    """Build a new generation with the same content, revision and log: its write-ahead log is empty.

    Raises :class:`StoreMissing`, and whatever opening the store raises.
    """
    place = parse_url(url)
    with closing(base_of(url)) as base, store_lock(place.directory, "write", wait):
        from deeprefine_graphdb.stores import bulk

        pool = bulk.pool_bytes(base.count("links") + base.count("edges"))
        with opened(place, log_dir, "read", pool) as (source, store):
            state = store.state()

            def build(directory: Path) -> None:
                for name in (BASE_NAME, INDEX_NAME):
                    _same_file(source.path.parent / name, directory / name)
                engine = _fresh(place.engine, directory, pool)
                try:
                    bulk.create_tables(engine)
                    bulk.copy_all(source, engine)
                    engine.run("schema/checkpoint", {})
                finally:
                    engine.close()

            _put_in_place(place.directory, place.engine, state.store_id, build)
    return state


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


def _put_in_place(directory: Path, engine: str, store_id: str, build: Callable[[Path], None]) -> None:
    """Build a generation and make it the one that counts; one that cannot be built is removed again."""
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


def _same_file(source: Path, target: Path) -> None:
    """Give a file that never changes a second name, or a copy where that is not possible."""
    try:
        os.link(source, target)
    except OSError:
        shutil.copyfile(source, target)
