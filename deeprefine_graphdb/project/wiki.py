"""graphify's wiki, written anew by graphify itself after an export."""

from __future__ import annotations

import shutil
import subprocess

from deeprefine_graphdb.model.errors import DeepRefineError
from deeprefine_graphdb.project.paths import ProjectPaths

COMMAND = ("export", "wiki")
SECONDS = 600


def refresh(project: ProjectPaths) -> str:
    """Run ``graphify export wiki`` in the project and give its last line.

    Raises :class:`DeepRefineError` when graphify is not there or fails; graph.json is written all the same.
    """
    program = shutil.which("graphify")
    again = "graph.json is written; run `graphify export wiki` when it works again."
    if program is None:
        raise DeepRefineError("The wiki was not written: there is no graphify on the PATH.", again)
    try:
        done = subprocess.run(
            [program, *COMMAND],
            cwd=project.root,
            capture_output=True,
            text=True,
            timeout=SECONDS,
            check=False,
        )
    except (OSError, subprocess.TimeoutExpired) as error:
        raise DeepRefineError(f"The wiki was not written: {error}.", again) from error
    lines = (done.stdout + done.stderr).strip().splitlines() or [""]
    if done.returncode:
        raise DeepRefineError(f"The wiki was not written: graphify said {lines[-1]!r}.", again)
    return lines[-1]
