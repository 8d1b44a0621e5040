"""A second name of the journal, in the store's folder.

The journal is committed, so version control puts an earlier state in its place when a branch is switched, or takes it
away. The store goes on from where it stands, and so the journal has to. Git replaces files and never writes into them:
under its second name the journal stays whole.
"""

from __future__ import annotations

import os
import shutil
from contextlib import suppress
from pathlib import Path

from deeprefine_graphdb.stores.journal import SUFFIX, Journal

_CONFLICT = b"<<<<<<< "


def second_name(directory: Path, store_id: str) -> Path:
    """Give the path of the second name in the folder of a store."""
    return directory / f"journal-{store_id}{SUFFIX}"


def keep(journal: Journal, kept: Path) -> None:
    """Give the journal its second name; where that cannot be a link it is a copy. What fails is done without."""
    with suppress(OSError):
        if not (kept.exists() and kept.samefile(journal.path)):
            _name(journal.path, kept)


def bring_back(journal: Journal, kept: Path) -> bool:
    """Put the whole journal back where an earlier state of it stands in its place, or a conflict of git's, or nothing.

    Tells whether it did.
    """
    try:
        if journal.path.exists() and kept.samefile(journal.path):
            return False
        there = journal.path.read_bytes() if journal.path.exists() else b""
        if not _is_conflict(there):
            if kept.stat().st_size <= len(there):
                return False
            with kept.open("rb") as stream:
                if stream.read(len(there)) != there:
                    return False
        journal.path.parent.mkdir(parents=True, exist_ok=True)
        _name(kept, journal.path)
    except OSError:
        return False
    return True


def _is_conflict(text: bytes) -> bool:
    """Tell whether git wrote two states of a file into it; a record never begins so."""
    return text.startswith(_CONFLICT) or b"\n" + _CONFLICT in text


def _name(path: Path, name: Path) -> None:
    """Give a file a further name in the place of whatever has it; what a kill left of that before is used up."""
    waiting = name.with_name(f".{name.name}.tmp")
    waiting.unlink(missing_ok=True)
    try:
        os.link(path, waiting)
    except OSError:
        shutil.copyfile(path, waiting)
    waiting.replace(name)
