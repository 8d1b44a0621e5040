"""A store whose pointer is gone, or that was not built here yet, while its records lie there."""

from __future__ import annotations

import contextlib
import json
from dataclasses import dataclass

from deeprefine_graphdb import stores
from deeprefine_graphdb.model.errors import StoreDamaged
from deeprefine_graphdb.project.here import read_here
from deeprefine_graphdb.project.paths import ProjectPaths
from deeprefine_graphdb.stores.journal import SUFFIX, Journal


@dataclass(frozen=True)
class LostStore:
    """What lies there of a store that is not there.

    ``journals`` maps the id of each store that has a journal to it; ``generations`` are the ids of the stores that
    the generations left at the place belong to, the newest first; ``home`` is the id of the store that was made in
    this folder, ``exported`` the id in the last export's manifest.
    """

    place: str
    journals: dict[str, Journal]
    generations: tuple[str, ...]
    exported: str
    home: str = ""

    def sentence(self) -> str:
        """Say what is missing and what is there."""
        if self.journals:
            found = ", ".join(str(journal.path) for journal in self.journals.values())
            return f"There is no store at {self.place}, but the log of one lies there: {found}."
        return f"There is no store at {self.place}, but generations of one lie there."

    def store_id(self) -> str | None:
        """Give the id of the store that is lost, or ``None`` when it cannot be told among several."""
        for store_id in (*self.generations, self.home, self.exported):
            if store_id in self.journals:
                return store_id
        if not self.journals:
            return self.generations[0]
        return next(iter(self.journals)) if len(self.journals) == 1 else None


def find_lost(project: ProjectPaths, url: str) -> LostStore | None:
    """Look for what is left of a store where there is none, or give ``None`` when nothing is.

    The journal of a store that is in use at the knowledge base's own place is not taken for a lost one's.
    """
    elsewhere = None
    if stores.parse_url(url).directory.absolute() != project.store.absolute():
        with contextlib.suppress(StoreDamaged):
            elsewhere = stores.store_id(f"kuzu:{project.store}")
    journals = {
        path.stem: Journal(path)
        for path in sorted(project.log.glob(f"*{SUFFIX}"))
        if path.stem != elsewhere and Journal(path).size()
    }
    generations = tuple(dict.fromkeys(pointer.store_id for pointer in stores.lost_pointers(url)))
    if not journals and not generations:
        return None
    return LostStore(url, journals, generations, exported_by(project), read_here(project).store_id)


def exported_by(project: ProjectPaths, file_digest: str | None = None) -> str:
    """Give the id of the store that the last export's manifest is of, or ``""`` when there is none.

    With a digest, only if the manifest is of a file of that digest that has refinements in it.
    """
    try:
        sidecar = json.loads(project.sidecar.read_bytes())
        if file_digest is not None and (sidecar["file_digest"] != file_digest or not sidecar["manifest"]):
            return ""
        return str(sidecar["store_id"])
    except (OSError, ValueError, KeyError, TypeError, RecursionError):
        return ""
