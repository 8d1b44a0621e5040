"""Opening a store: lock, pointer, engine, base, and the comparison of its log with the journal."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

from deeprefine_graphdb.model.errors import StoreDamaged, StoreMissing, StoreTooNew, UsageError
from deeprefine_graphdb.model.write import FORMAT_VERSION, StoreState
from deeprefine_graphdb.stores import generations, rows
from deeprefine_graphdb.stores.embedded import EmbeddedStore
from deeprefine_graphdb.stores.engine import Engine, wal_path
from deeprefine_graphdb.stores.generations import Pointer
from deeprefine_graphdb.stores.journal import Journal
from deeprefine_graphdb.stores.locks import dead_writer, forget_dead, store_lock
from deeprefine_graphdb.stores.second_name import bring_back, keep, second_name
from deeprefine_graphdb.stores.urls import Place, parse_url
from deeprefine_loaders.basefile import BASE_NAME, INDEX_NAME, BaseFile
from deeprefine_loaders.errors import FormatError

Mode = Literal["read", "write"]
_REBUILD = "Run `deeprefine-db doctor --rebuild`."
_RECORD_TABLES = ("query", "trace", "proposal", "review", "refinement", "conflict", "snapshot", "event")


@dataclass(frozen=True)
class Kept:
    """What a database keeps of its log: its state, and the ids of its provenance nodes by kind."""

    state: StoreState
    ids: Mapping[str, tuple[str, ...]]


@contextmanager
def open_store(url: str, *, log_dir: Path, mode: Mode, wait: float = 5.0) -> Iterator[EmbeddedStore]:
    """Open a store for one short piece of work; its lock is held until the block ends.

    ``log_dir`` is the folder of journals, ``wait`` the seconds to wait for others. A journal that lacks what the store
    has is completed. Raises :class:`StoreMissing`, :class:`StoreLocked`, :class:`StoreTooNew`, :class:`StoreDamaged`,
    and :class:`UsageError` for an engine that is not the store's or not installed.
    """
    place = parse_url(url)
    if generations.read_pointer(place.directory) is None:
        raise StoreMissing(f"There is no store at {place.directory}.", "Run `deeprefine-db sync`.")
    with store_lock(place.directory, mode, wait), opened(place, log_dir, mode) as (_, store):
        yield store


@contextmanager
def opened(
    place: Place, log_dir: Path, mode: Mode, pool_bytes: int | None = None
) -> Iterator[tuple[Engine, EmbeddedStore]]:
    """Open a store whose lock the caller holds; give the engine too, with a buffer pool of the given size."""
    pointer, engine = _open_engine(place, mode, pool_bytes)
    try:
        base = _open_base(place.directory / pointer.generation)
    except BaseException:
        engine.close()
        raise
    try:
        journal = Journal.of(log_dir, pointer.store_id)
        kept = second_name(place.directory, pointer.store_id)
        store = EmbeddedStore(engine, base, journal)
        _check_format(place, store.state().format)
        if base.digest != store.state().base_digest:
            raise StoreDamaged(
                f"The base in {place.directory / pointer.generation} is not the one that its database was made of.",
                _REBUILD,
            )
        bring_back(journal, kept)
        store.heal()
        keep(journal, kept)
        generations.remove_superseded(place.directory, pointer.generation)
        forget_dead(place.directory)
        yield engine, store
    finally:
        engine.close()
        base.close()


def store_exists(url: str) -> bool:
    """Tell whether there is a store at a URL. Raises what :func:`read_pointer` raises."""
    return generations.read_pointer(parse_url(url).directory) is not None


def store_id(url: str) -> str | None:
    """Give the id of the store, by which its journal is found, or ``None``; opens no engine and takes no lock."""
    pointer = generations.read_pointer(parse_url(url).directory)
    return pointer.store_id if pointer else None


def needs_healing(url: str, journal: Journal) -> bool:
    """Tell whether a writer died, or the journal was cut, so that the next command should open the store."""
    directory = parse_url(url).directory
    pointer = generations.read_pointer(directory)
    noted = 0 if pointer is None else generations.noted_journal(directory / pointer.generation)
    return dead_writer(directory) or journal.size() < max(1, noted)


def wal_bytes(url: str) -> int:
    """Give the size of the store's write-ahead log, 0 when there is none. Does not open any file."""
    place = parse_url(url)
    pointer = generations.read_pointer(place.directory)
    if pointer is None:
        return 0
    try:
        return wal_path(pointer.database(place.directory)).stat().st_size
    except FileNotFoundError:
        return 0


def missing_part(url: str) -> Path | None:
    """Give a file of the store in use that is not there, or ``None``; opens none of them."""
    place = parse_url(url)
    pointer = generations.read_pointer(place.directory)
    if pointer is None:
        return None
    folder = place.directory / pointer.generation
    parts = (pointer.database(place.directory), folder / BASE_NAME, folder / INDEX_NAME)
    return next((path for path in parts if not path.is_file()), None)


def kept(url: str, *, wait: float = 5.0) -> Kept | None:
    """Give what the database in use says of itself and its log, or ``None`` when it cannot be read.

    Neither base nor journal is looked at. Raises :class:`StoreLocked`.
    """
    place = parse_url(url)
    with suppress(StoreDamaged, StoreMissing, RuntimeError):
        if generations.read_pointer(place.directory) is None:
            return None
        with store_lock(place.directory, "read", wait):
            _, engine = _open_engine(place, "read", None)
            try:
                found = engine.run("graph/store", {})
                ids = {
                    table: tuple(str(row[0]) for row in engine.run(f"provenance/read_{table}", {}))
                    for table in _RECORD_TABLES
                }
                return Kept(rows.state(found[0]), ids) if len(found) == 1 else None
            finally:
                engine.close()
    return None


def store_folders(url: str) -> Sequence[Path]:
    """Give every folder of a store that may hold a base, the newest first, whether it is in use or not."""
    return generations.folders(parse_url(url).directory)


def lost_pointers(url: str) -> list[Pointer]:
    """Give the pointers of the generations that counted once and are still there, the newest first."""
    return generations.marked(parse_url(url).directory)


def base_of(url: str) -> BaseFile:
    """Open the base of the generation in use, without the engine.

    Raises :class:`StoreMissing` and :class:`StoreDamaged`.
    """
    place = parse_url(url)
    pointer = generations.read_pointer(place.directory)
    if pointer is None:
        raise StoreMissing(f"There is no store at {place.directory}.", "Run `deeprefine-db sync`.")
    return _open_base(place.directory / pointer.generation)


def base_path(url: str) -> Path | None:
    """Give the directory that holds the base of the generation in use, or ``None`` when there is no store."""
    place = parse_url(url)
    pointer = generations.read_pointer(place.directory)
    return None if pointer is None else place.directory / pointer.generation


def _open_engine(place: Place, mode: Mode, pool_bytes: int | None) -> tuple[Pointer, Engine]:
    """Open the database that ``CURRENT`` names, and look there once more if that fails and it names another one now."""
    before: Pointer | None = None
    while True:
        pointer = generations.read_pointer(place.directory)
        if pointer is None:
            raise StoreMissing(f"There is no store at {place.directory}.", "Run `deeprefine-db sync`.")
        if pointer.engine != place.engine:
            raise UsageError(
                f"The store {place.directory} was made by {pointer.engine}, not by {place.engine}.",
                f"Name it {pointer.engine}:{place.directory}.",
            )
        path = pointer.database(place.directory)
        try:
            if not path.is_file():
                raise StoreDamaged(f"The database {path} is not there.", _REBUILD)
            return pointer, Engine(pointer.engine, path, read_only=mode == "read", pool_bytes=pool_bytes)
        except StoreDamaged:
            if pointer == before:
                raise
            before = pointer


def _open_base(directory: Path) -> BaseFile:
    try:
        return BaseFile.open(directory)
    except FormatError as error:
        raise StoreDamaged(f"The base in {directory} cannot be opened: {error.message}", _REBUILD) from error
    except OSError as error:
        raise StoreDamaged(
            f"The base {error.filename or directory} cannot be opened: {error.strerror}.", _REBUILD
        ) from error


def _check_format(place: Place, found: int) -> None:
    if found > FORMAT_VERSION:
        raise StoreTooNew(
            f"The store {place.directory} has format {found}; this program reads formats up to {FORMAT_VERSION}.",
            "Upgrade deeprefine-graphdb.",
        )
