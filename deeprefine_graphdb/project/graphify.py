"""graphify, which makes graph.json: its program, its lock, and running it."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path

from deeprefine_graphdb.model.errors import StoreLocked, UsageError
from deeprefine_graphdb.project.paths import ProjectPaths
from deeprefine_graphdb.stores.flock import try_lock, unlock

LOCK = ".rebuild.lock"
PAUSE = 0.1


def program() -> str:
    """Give the path of graphify: beside this Python, else on the PATH. Raises :class:`UsageError`."""
    beside = str(Path(sys.executable).parent)
    found = shutil.which("graphify", path=os.pathsep.join((beside, os.environ.get("PATH", ""))))
    if found is None:
        raise UsageError("There is no graphify on the PATH.", "Install it: `pip install graphifyy`.")
    return found


def run(
    project: ProjectPaths, arguments: Sequence[str], *, held: int | None = None, quiet_stdout: bool = False
) -> int:
    """Run graphify in the project, its output passed through, and give its exit code.

    ``held`` is the handle of a locked file: the lock lasts for as long as graphify runs, whatever becomes of us.
    """
    done = subprocess.run(
        [program(), *arguments],
        cwd=project.root,
        stdout=sys.stderr if quiet_stdout else None,
        pass_fds=() if held is None or os.name == "nt" else (held,),
        check=False,
    )
    return done.returncode


@contextmanager
def rebuild_lock(project: ProjectPaths, wait: float) -> Iterator[None]:
    """Hold the lock under which graphify rebuilds graph.json. Raises :class:`StoreLocked` after ``wait`` seconds.

    graphify removes the file when it lets go, so a lock counts only on the file that has the name.
    """
    path = project.out / LOCK
    deadline = time.monotonic() + wait
    while True:
        with path.open("ab+") as stream:
            if try_lock(stream, exclusive=True):
                if _is_same(stream.fileno(), path):
                    try:
                        yield
                    finally:
                        path.unlink(missing_ok=True)
                        unlock(stream)
                    return
                unlock(stream)
        if time.monotonic() > deadline:
            raise StoreLocked(f"graphify is rebuilding {project.graph_json}.", "Try again when it is done.")
        time.sleep(PAUSE)


def is_rebuilding(project: ProjectPaths) -> bool:
    """Tell whether graphify holds its lock now."""
    path = project.out / LOCK
    try:
        with path.open("rb+") as stream:
            if not try_lock(stream, exclusive=True):
                return True
            unlock(stream)
    except FileNotFoundError:
        return False
    return False


def _is_same(handle: int, path: Path) -> bool:
    try:
        return os.path.samestat(os.fstat(handle), path.stat())
    except FileNotFoundError:
        return False
