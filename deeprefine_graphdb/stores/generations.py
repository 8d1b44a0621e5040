"""A store's directory: ``CURRENT`` names the generation that counts, and is replaced in one step.

A generation directory holds the database, ``base.json`` and ``base.idx``, and a copy of the pointer that made it count:
with that it is found again when ``CURRENT`` is lost. Nothing here opens a database file.
"""

from __future__ import annotations

import contextlib
import json
import os
import re
import shutil
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from pathlib import Path

from deeprefine_graphdb.model.errors import StoreDamaged, StoreTooNew
from deeprefine_graphdb.model.write import FORMAT_VERSION
from deeprefine_loaders.atomic import fsync_directory, write_durable

CURRENT = "CURRENT"
MARK = "store.json"
JOURNAL_SIZE = "journal.size"
_PREFIX = "gen-"
_ASIDE = "aside-"
_NAME = re.compile(r"gen-\d+")
_STORE_ID = re.compile(r"\w[\w-]*")


@dataclass(frozen=True)
class Pointer:
    """What ``CURRENT`` says: the store's format, engine and id, and the name of its generation's directory."""

    format: int
    engine: str
    store_id: str
    generation: str

    def database(self, directory: Path) -> Path:
        """Give the path of the database file."""
        return directory / self.generation / f"graph.{self.engine}"


def read_pointer(directory: Path) -> Pointer | None:
    """Read ``CURRENT``, or give ``None`` when there is no store.

    Raises :class:`StoreTooNew` for a store of a later program, :class:`StoreDamaged` for a text that is none of ours.
    """
    path = directory / CURRENT
    try:
        return _read(path)
    except FileNotFoundError:
        return None
    except NotADirectoryError as error:
        raise StoreDamaged(
            f"{directory} is not a folder, and the store has to be one.",
            "Move that file away and run `deeprefine-db doctor`.",
        ) from error
    except OSError as error:
        raise StoreDamaged(
            f"{path} cannot be read: {error.strerror}.", "Make it a file that may be read again."
        ) from error
    except (ValueError, KeyError, TypeError, RecursionError) as error:
        raise StoreDamaged(
            f"{path} cannot be read as the pointer of a store.", "Run `deeprefine-db doctor --rebuild`."
        ) from error


def write_pointer(directory: Path, pointer: Pointer) -> None:
    """Make another generation the one that counts, durably and in one step."""
    write_durable(directory / CURRENT, _text(pointer))


def mark_generation(directory: Path, pointer: Pointer) -> None:
    """Leave a copy of the pointer in the generation that counts now; what cannot be written is done without."""
    with contextlib.suppress(OSError):
        write_durable(directory / pointer.generation / MARK, _text(pointer))


def marked(directory: Path) -> list[Pointer]:
    """Give the pointers of the generations that counted once and are still there, the newest first."""
    found = []
    for path in reversed(_numbered(directory, _PREFIX)):
        with contextlib.suppress(OSError, ValueError, KeyError, TypeError, RecursionError):
            pointer = _read(path / MARK)
            if pointer.generation == path.name:
                found.append(pointer)
    return found


def note_journal(generation: Path, size: int) -> None:
    """Note how many bytes the journal has, so that one that was cut shows without the engine; never durably."""
    if size != noted_journal(generation):
        with contextlib.suppress(OSError):
            (generation / JOURNAL_SIZE).write_text(str(size), encoding="ascii")


def noted_journal(generation: Path) -> int:
    """Give the size that was noted last, 0 when none was."""
    try:
        return int((generation / JOURNAL_SIZE).read_text(encoding="ascii"))
    except (OSError, ValueError):
        return 0


def new_generation(directory: Path) -> Path:
    """Make the directory of a new generation, with a number that none before it had, used or set aside."""
    taken = [path.name for path in folders(directory)]
    with contextlib.suppress(StoreDamaged):
        pointer = read_pointer(directory)
        taken.extend([] if pointer is None else [pointer.generation])
    highest = max((int(name.rpartition("-")[2]) for name in taken), default=0)
    path = directory / f"{_PREFIX}{highest + 1:06d}"
    path.mkdir()
    fsync_directory(directory)
    return path


def remove_superseded(directory: Path, keep: str) -> None:
    """Remove every generation but one: the ones before it, and those that were never finished."""
    for path in _numbered(directory, _PREFIX):
        if path.name != keep:
            shutil.rmtree(path, ignore_errors=True)


def in_use(directory: Path) -> list[Path]:
    """Give the generation that counts, or every one where it cannot be told which one does."""
    try:
        pointer = read_pointer(directory)
    except StoreDamaged:
        pointer = None
    found = _numbered(directory, _PREFIX)
    return found if pointer is None else [path for path in found if path.name == pointer.generation]


def set_aside(directory: Path, generations: Sequence[Path]) -> list[Path]:
    """Take generations out of use without deleting them; give where they are now."""
    moved = []
    for path in generations:
        number = int(path.name.removeprefix(_PREFIX))
        while (aside := directory / f"{_ASIDE}{number:06d}").exists():
            number += 1
        path.rename(aside)
        moved.append(aside)
    fsync_directory(directory)
    return moved


def folders(directory: Path) -> Sequence[Path]:
    """Give every folder that may hold a base: generations and what was set aside, the newest first."""
    found = [*_numbered(directory, _PREFIX), *_numbered(directory, _ASIDE)]
    return sorted(found, key=lambda path: int(path.name.rpartition("-")[2]), reverse=True)


def sync_file(path: Path) -> None:
    """Make the content of a file durable; never to be called on a database that this process has open."""
    handle = os.open(path, os.O_RDONLY)
    try:
        os.fsync(handle)
    finally:
        os.close(handle)


def _read(path: Path) -> Pointer:
    content = json.loads(path.read_text(encoding="utf-8"))
    found = content["format"]
    if type(found) is int and found > FORMAT_VERSION:
        raise StoreTooNew(
            f"The store {path.parent} has format {found}; this program reads formats up to {FORMAT_VERSION}.",
            "Upgrade deeprefine-graphdb.",
        )
    pointer = Pointer(found, content["engine"], content["store_id"], content["generation"])
    if not _NAME.fullmatch(pointer.generation) or not _STORE_ID.fullmatch(pointer.store_id):
        raise ValueError(f"{path} names what cannot be a generation or a store")
    return pointer


def _text(pointer: Pointer) -> bytes:
    return (json.dumps(asdict(pointer)) + "\n").encode("ascii")


def _numbered(directory: Path, prefix: str) -> list[Path]:
    return sorted(path for path in directory.glob(f"{prefix}*") if path.name[len(prefix) :].isdigit())
