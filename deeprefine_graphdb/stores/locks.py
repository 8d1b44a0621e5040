"""The lock of a store: many readers or one writer, in the order in which they came, each with its process id.

Two files: ``lock`` is held shared by readers and exclusively by the writer; ``turnstile`` is passed on the way to it,
so that a waiting writer lets no further reader by. Each holder keeps a mark in ``holders/`` that it has locked itself:
a mark that can be locked belongs to a process that died.
"""

from __future__ import annotations

import itertools
import json
import os
import platform
import threading
import time
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import IO, Literal

from deeprefine_graphdb.model.errors import StoreLocked
from deeprefine_graphdb.stores.flock import try_lock
from deeprefine_graphdb.stores.room import naming

Mode = Literal["read", "write"]
_PAUSE = 0.005
_numbers = itertools.count(1)
_open_here: dict[Path, int] = {}
_registry = threading.Lock()


@dataclass(frozen=True)
class Holder:
    """A process that holds a store, or held it when it died (``alive`` false). ``since`` is an ISO time."""

    pid: int
    mode: Mode
    host: str
    since: str
    alive: bool


@contextmanager
def store_lock(directory: Path, mode: Mode, wait: float) -> Iterator[None]:
    """Hold the lock of the store in ``directory``; give up after ``wait`` seconds.

    Raises :class:`StoreLocked`, naming who holds it, and at once when this very thread does: a second handle on one
    path would go unnoticed by the engine. Threads of one process take turns.
    """
    place = directory.resolve()
    deadline = time.monotonic() + wait
    _register(place, directory, deadline)
    try:
        with ExitStack() as stack:
            with naming(directory):
                turnstile = stack.enter_context(_open(directory / "turnstile", mode))
                lock = stack.enter_context(_open(directory / "lock", mode))
            _acquire(turnstile, directory, "write", deadline)
            _acquire(lock, directory, mode, deadline)
            with naming(directory):
                mark = _leave_mark(directory, mode, stack)
            turnstile.close()
            try:
                yield
            finally:
                if mark is not None:
                    mark.unlink(missing_ok=True)
    finally:
        with _registry:
            del _open_here[place]


def holders(directory: Path) -> list[Holder]:
    """Give everyone whose mark is there, the dead too; reads no lock."""
    found = []
    for path in sorted((directory / "holders").glob("*.json")):
        try:
            with path.open("rb") as stream:
                mark = json.loads(stream.read())
                alive = not try_lock(stream, exclusive=False)
            found.append(Holder(mark["pid"], mark["mode"], mark["host"], mark["since"], alive))
        except (OSError, ValueError, KeyError):
            continue
    return found


def dead_writer(directory: Path) -> bool:
    """Tell whether a writer died with the store open, so that the next command should open it and heal it."""
    return any(holder.mode == "write" and not holder.alive for holder in holders(directory))


def forget_dead(directory: Path) -> None:
    """Take away the marks of those who died. To be called by a holder, after the store was opened and healed."""
    for path in (directory / "holders").glob("*.json"):
        try:
            with path.open("rb") as stream:
                if try_lock(stream, exclusive=False):
                    path.unlink(missing_ok=True)
        except OSError:
            continue


def _register(place: Path, directory: Path, deadline: float) -> None:
    """Note that this thread has the store open, as soon as no other thread of the process has."""
    me = threading.get_ident()
    while True:
        with _registry:
            holder = _open_here.get(place)
            if holder is None:
                _open_here[place] = me
                return
        if holder == me or time.monotonic() >= deadline:
            raise StoreLocked(
                f"This process (pid {os.getpid()}) already has the store {directory} open.",
                "Close that handle first.",
            )
        time.sleep(_PAUSE)


def _acquire(stream: IO[bytes], directory: Path, mode: Mode, deadline: float) -> None:
    while not try_lock(stream, exclusive=mode == "write"):
        if time.monotonic() >= deadline:
            raise _locked(directory)
        time.sleep(_PAUSE)


def _locked(directory: Path) -> StoreLocked:
    alive = [holder for holder in holders(directory) if holder.alive]
    here = platform.node()
    who = ", ".join(
        f"pid {holder.pid}{'' if holder.host == here else ' on ' + holder.host} ({holder.mode}ing since {holder.since})"
        for holder in alive
    ).replace("writeing", "writing")
    return StoreLocked(
        f"The store {directory} is in use by {who or 'another process'}.",
        "Try again when it is done, or wait longer with `--wait SECONDS`.",
    )


def _open(path: Path, mode: Mode) -> IO[bytes]:
    """Open a lock file; a reader locks one that is there even where it may not write."""
    try:
        return path.open("ab")
    except OSError:
        if mode == "write" or not path.is_file():
            raise
        return path.open("rb")


def _leave_mark(directory: Path, mode: Mode, stack: ExitStack) -> Path | None:
    """Leave the mark of a holder. A reader that dies leaves nothing to heal, so it may do without."""
    try:
        return _write_mark(directory, mode, stack)
    except OSError:
        if mode == "write":
            raise
        return None


def _write_mark(directory: Path, mode: Mode, stack: ExitStack) -> Path:
    folder = directory / "holders"
    folder.mkdir(exist_ok=True)
    path = folder / f"{os.getpid()}-{next(_numbers)}.json"
    stream = stack.enter_context(path.open("wb", buffering=0))
    try_lock(stream, exclusive=True)
    since = time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime())
    mark = {"pid": os.getpid(), "mode": mode, "host": platform.node(), "since": since}
    try:
        stream.write(json.dumps(mark).encode("ascii"))
    except OSError:
        path.unlink(missing_ok=True)
        raise
    return path
