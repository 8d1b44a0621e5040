"""Run one job of the product in this process and die by SIGKILL before its n-th durable step.

A step is a statement with which an engine changes something, an engine's closing, a call that makes something durable
or visible, or the start of another program.
Usage: ``python -m tests.support.killer STEP STEPS_FILE JOB ROOT``; a step of 0 kills nothing, and ``NAME+2`` is the
second one behind the first whose name begins so. The names of the steps that were reached are appended to the file as
they come.
"""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import threading
from collections.abc import Callable
from pathlib import Path
from typing import Any

from deeprefine_graphdb.stores.sessions import Session
from deeprefine_graphdb.stores.statements import StatementText
from tests.support.jobs import JOBS

STEPS = ("fsync", "replace", "rename", "link", "unlink", "rmdir", "mkdir")


class Killer:
    """Counts steps and ends the process before the chosen one."""

    def __init__(self, at: str, log: Path) -> None:
        self._name, _, behind = at.rpartition("+")
        self._behind = int(behind)
        self.at, self.count = 0 if self._name else self._behind, 0
        self._lock = threading.Lock()
        self._log = os.open(log, os.O_WRONLY | os.O_APPEND | os.O_CREAT, 0o600)
        self._write = os.write

    def step(self, name: str) -> None:
        """Note a step, or die before it; threads take their steps one after another."""
        with self._lock:
            self.count += 1
            if self._name and not self.at and name.startswith(self._name):
                self.at = self.count + self._behind
            if self.count == self.at:
                os.kill(os.getpid(), signal.SIGKILL)
            self._write(self._log, f"{name}\n".encode())

    def watch(self, owner: Any, name: str, label: Callable[..., str]) -> None:
        """Let every call of a function count as a step, but for those that the label is empty for."""
        original = getattr(owner, name)

        def counted(*args: Any, **kwargs: Any) -> Any:
            if said := label(*args):
                self.step(said)
            return original(*args, **kwargs)

        setattr(owner, name, counted)


def _statement(_session: object, name: str, statement: StatementText, _params: object) -> str:
    """Name a statement that changes something; to die before one that reads is to die before the next that does."""
    return "" if statement.columns else f"execute {name}"


def main() -> None:
    """Watch the steps and run the job."""
    at, log, job, root = sys.argv[1], Path(sys.argv[2]), sys.argv[3], Path(sys.argv[4])
    killer = Killer(at, log)
    for name in STEPS:
        killer.watch(os, name, lambda *args, name=name: f"os.{name}")
    killer.watch(subprocess, "run", lambda command, *_, **__: "run " + Path(command[0]).name)
    module = __import__(os.environ.get("DEEPREFINE_TEST_ENGINE", "kuzu"))
    killer.watch(Session, "execute", _statement)
    killer.watch(module.Database, "close", lambda *_: "close database")
    JOBS[job](root)


if __name__ == "__main__":
    main()
