"""A process that writes to a store and is killed: ``URL LOG_DIR STEP``, the job as JSON on standard input.

It dies by SIGKILL before its n-th durable step: a statement of the engine, a sync of a file, a rename, a closing.
"""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

from deeprefine_graphdb import stores
from deeprefine_graphdb.model.write import WritePlan
from deeprefine_graphdb.stores.engine import Engine
from tests.contract.harness import Harness

ROOT = Path(__file__).parents[2]
DONE = "done\n"


def run_and_kill(harness: Harness, step: int, plan: WritePlan | None) -> bool:
    """Have another process write the plan (or fold, without one) and die at a step; tell whether it was done before."""
    command = [sys.executable, "-m", "tests.stores.victim", harness.url, str(harness.log_dir), str(step)]
    text = plan.model_dump_json() if plan is not None else "null"
    done = subprocess.run(command, cwd=ROOT, input=text, capture_output=True, text=True, check=False)
    assert done.returncode in {0, -signal.SIGKILL}, done.stderr
    return done.stdout == DONE


def _watch(owner: Any, name: str, step: Callable[[], None]) -> None:
    original = getattr(owner, name)

    def watched(*args: Any, **kwargs: Any) -> Any:
        step()
        return original(*args, **kwargs)

    setattr(owner, name, watched)


def main() -> None:
    """Do the job until the step comes."""
    url, log_dir, last = sys.argv[1], Path(sys.argv[2]), int(sys.argv[3])
    job = json.load(sys.stdin)
    steps = iter(range(1, 100_000))

    def step() -> None:
        if next(steps) == last:
            os.kill(os.getpid(), signal.SIGKILL)

    for name in ("fsync", "replace", "link", "unlink", "mkdir"):
        _watch(os, name, step)
    for name in ("run", "close"):
        _watch(Engine, name, step)
    if job is None:
        stores.fold(url, log_dir=log_dir)
    else:
        with stores.open_store(url, log_dir=log_dir, mode="write") as store:
            store.write(WritePlan.model_validate(job))
            sys.stdout.write(DONE)
            sys.stdout.flush()


if __name__ == "__main__":
    main()
