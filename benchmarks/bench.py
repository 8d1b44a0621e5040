"""What every measurement needs: the folder of a knowledge base, how often to repeat, and processes to run in it."""

from __future__ import annotations

import os
import sys
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from benchmarks.graphs import REPOSITORY
from benchmarks.measure import Ran, Times, run
from benchmarks.report import Row

COMMAND_WARM_UPS = 2
Say = Callable[[str], None]
Work = tuple[str, Callable[[str], Row]]
"""A work's name, and what measures it when given that name."""


@dataclass(frozen=True)
class Counts:
    """How often each kind of work is repeated."""

    quick: int = 200
    warm_ups: int = 20
    commands: int = 20
    syncs: int = 3
    merges: int = 3
    exports: int = 5
    peer: int = 2


@dataclass(frozen=True)
class Bench:
    """A knowledge base in ``root``, measured in processes that run in the folder ``work``; ``say`` tells progress."""

    work: Path
    root: Path
    counts: Counts
    say: Say

    @property
    def workload(self) -> Path:
        """The file of what of the graph the work is done to."""
        return self.work / "workload.json"

    def command(self, *arguments: str) -> Ran:
        """Run a command of this program on the knowledge base. Raises ``RuntimeError`` when it fails."""
        command = [sys.executable, "-m", "deeprefine_graphdb.cli.main", "--project-root", str(self.root)]
        return _done(run([*command, *arguments], self.work, _environment()), arguments)

    def child(self, job: str, first: int = 0, second: int = 0) -> Ran:
        """Do one job in a process of its own. Raises ``RuntimeError`` when it fails."""
        command = [sys.executable, "-m", "benchmarks.child", job, str(self.root)]
        counted = ("--workload", str(self.workload), "--first", str(first), "--second", str(second))
        return _done(run([*command, *counted], self.work, _environment()), (job,))

    def program(self, path: Path) -> Ran:
        """Run a Python file in the knowledge base's folder. Raises ``RuntimeError`` when it fails."""
        return _done(run([sys.executable, path], self.root), (path.name,))

    def row(self, work: str, ran: Sequence[Ran], note: str = "") -> Row:
        """Make a row of processes that were run, and tell it."""
        return self.said(Row(work, Times.of(ran), max(each.peak_bytes for each in ran), note))

    def said(self, row: Row) -> Row:
        """Tell a row while the others are still to be measured."""
        load = os.getloadavg()[0] if hasattr(os, "getloadavg") else 0.0
        t = row.times
        self.say(f"{row.work}: p50 {t.p50:.3f} s, p95 {t.p95:.3f} s, CPU {t.cpu_p50:.3f} s (load {load:.1f})")
        return row


def times_of(found: dict[str, Any]) -> Times:
    """Take the times that a job gave."""
    return Times(tuple(found["seconds"]), tuple(found["cpu"]))


def _environment() -> dict[str, str]:
    """Let child processes find this program wherever they run."""
    paths = [str(REPOSITORY), str(REPOSITORY / "loaders"), os.environ.get("PYTHONPATH", "")]
    return {**os.environ, "PYTHONPATH": os.pathsep.join(filter(None, paths))}


def _done(ran: Ran, what: Sequence[str]) -> Ran:
    if ran.code:
        raise RuntimeError(f"{' '.join(what)} ended with {ran.code}: {(ran.errors or ran.output)[-600:]}")
    return ran
