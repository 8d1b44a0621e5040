"""What is true of this folder alone and never committed: which store is at home here, and what it took in."""

from __future__ import annotations

import json
from contextlib import suppress
from pathlib import Path

from pydantic import Field, ValidationError

from deeprefine_graphdb.model.actions import Frozen
from deeprefine_graphdb.project.paths import ProjectPaths, write_whole

Stamp = tuple[int, int]
"""Size in bytes and time of the last change in nanoseconds."""


class Here(Frozen):
    """The store that was made here, and the journals of other stores as they were when nothing in them was new."""

    store_id: str = ""
    read: dict[str, Stamp] = Field(default_factory=dict)


def read_here(project: ProjectPaths) -> Here:
    """Give what is known of this folder; nothing in a fresh clone, since the file is not committed."""
    try:
        return Here.model_validate_json(project.here.read_bytes())
    except (OSError, ValidationError):
        return Here()


def write_here(project: ProjectPaths, here: Here) -> None:
    """Note what is true of this folder; where it cannot be written it is done without."""
    if here != read_here(project):
        with suppress(OSError):
            write_whole(project.here, json.dumps(here.model_dump(mode="json")) + "\n")


def stamp_of(path: Path) -> Stamp:
    """Give a file's stamp, zeros when it is not there."""
    try:
        found = path.stat()
    except OSError:
        return 0, 0
    return found.st_size, found.st_mtime_ns
