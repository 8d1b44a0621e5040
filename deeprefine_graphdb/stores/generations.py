"""A store's directory: ``CURRENT`` names the generation that counts, and is replaced in one step.

A generation directory holds the database, ``base.json`` and ``base.idx``. Nothing here opens a database file.
"""

from __future__ import annotations

import json
import os
import shutil
from dataclasses import asdict, dataclass
from pathlib import Path

from deeprefine_graphdb.model.errors import StoreDamaged, StoreTooNew
from deeprefine_graphdb.model.write import FORMAT_VERSION
from deeprefine_loaders.atomic import fsync_directory, write_durable

CURRENT = "CURRENT"
_PREFIX = "gen-"
_ASIDE = "aside-"


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
        content = json.loads(path.read_text(encoding="utf-8"))
        found = content["format"]
        if type(found) is int and found > FORMAT_VERSION:
            raise StoreTooNew(
                f"The store {directory} has format {found}; this program reads formats up to {FORMAT_VERSION}.",
                "Upgrade deeprefine-graphdb.",
            )
        return Pointer(found, content["engine"], content["store_id"], content["generation"])
    except FileNotFoundError:
        return None
    except (ValueError, KeyError, TypeError) as error:
        raise StoreDamaged(
            f"{path} cannot be read as the pointer of a store.", "Run `deeprefine-db doctor --rebuild`."
        ) from error


def write_pointer(directory: Path, pointer: Pointer) -> None:
    """Make another generation the one that counts, durably and in one step."""
    write_durable(directory / CURRENT, (json.dumps(asdict(pointer)) + "\n").encode("ascii"))


def new_generation(directory: Path) -> Path:
    """Make the directory of a new generation, with a number that none before it had."""
    numbers = [int(path.name[len(_PREFIX) :]) for path in _generations(directory)]
    path = directory / f"{_PREFIX}{max(numbers, default=0) + 1:06d}"
    path.mkdir()
    fsync_directory(directory)
    return path


def remove_superseded(directory: Path, keep: str) -> None:
    """Remove every generation but one: the ones before it, and those that were never finished."""
    for path in _generations(directory):
        if path.name != keep:
            shutil.rmtree(path, ignore_errors=True)


def set_aside(directory: Path) -> Path | None:
    """Take the generation that counts out of use without deleting it; give where it is now, or ``None``."""
    pointer = read_pointer(directory)
    if pointer is None or not (directory / pointer.generation).is_dir():
        return None
    number = 1
    while (aside := directory / f"{_ASIDE}{number:06d}").exists():
        number += 1
    (directory / pointer.generation).rename(aside)
    fsync_directory(directory)
    return aside


def sync_file(path: Path) -> None:
    """Make the content of a file durable; never to be called on a database that this process has open."""
    handle = os.open(path, os.O_RDONLY)
    try:
        os.fsync(handle)
    finally:
        os.close(handle)


def _generations(directory: Path) -> list[Path]:
    return sorted(path for path in directory.glob(f"{_PREFIX}*") if path.name[len(_PREFIX) :].isdigit())
