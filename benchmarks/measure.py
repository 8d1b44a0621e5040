"""Wall time and peak memory: of repeated work in this process, and of commands with all their children."""

from __future__ import annotations

import math
import os
import statistics
import subprocess
import threading
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import psutil

SAMPLED_EVERY_SECONDS = 0.02


@dataclass(frozen=True)
class Ran:
    """A command that has ended: wall and CPU seconds, peak resident bytes of its process tree, what it said.

    The CPU seconds are 0 where the system does not tell them.
    """

    seconds: float
    cpu_seconds: float
    peak_bytes: int
    code: int
    output: str
    errors: str


@dataclass(frozen=True)
class Times:
    """Wall and CPU times in seconds of one kind of work; a busy machine shows in the first and not the second."""

    seconds: tuple[float, ...]
    cpu: tuple[float, ...]

    @classmethod
    def of(cls, ran: Sequence[Ran]) -> Times:
        """Gather the times of commands."""
        return cls(tuple(each.seconds for each in ran), tuple(each.cpu_seconds for each in ran))

    @property
    def cpu_p50(self) -> float:
        """The median of CPU seconds."""
        return statistics.median(self.cpu)

    @property
    def p50(self) -> float:
        """The median."""
        return statistics.median(self.seconds)

    @property
    def p95(self) -> float:
        """The time that 95 of 100 do not exceed (nearest rank)."""
        ordered = sorted(self.seconds)
        return ordered[max(0, math.ceil(0.95 * len(ordered)) - 1)]


@dataclass
class Clock:
    """Times pieces of work in this process, one ``with`` block each."""

    seconds: list[float] = field(default_factory=list)
    cpu: list[float] = field(default_factory=list)
    _start: tuple[float, float] = (0.0, 0.0)

    def __enter__(self) -> None:
        self._start = (time.perf_counter(), time.process_time())

    def __exit__(self, *_error: object) -> None:
        self.seconds.append(time.perf_counter() - self._start[0])
        self.cpu.append(time.process_time() - self._start[1])

    def after(self, warm_ups: int) -> dict[str, Any]:
        """Give the times behind the warm-ups."""
        return {"seconds": self.seconds[warm_ups:], "cpu": self.cpu[warm_ups:]}


def repeated(work: Callable[[int], object], repeats: int, warm_ups: int) -> dict[str, Any]:
    """Time work that is given its number; the warm-ups come first and do not count."""
    clock = Clock()
    for number in range(warm_ups + repeats):
        with clock:
            work(number)
    return clock.after(warm_ups)


def run(
    command: Sequence[str | Path],
    cwd: Path,
    environment: Mapping[str, str] | None = None,
    timeout: float = 900.0,
) -> Ran:
    """Run a command to its end, watching the memory of its process tree.

    The kernel's own maximum is used too where there is one, since a sample may miss a short peak. Raises
    ``subprocess.TimeoutExpired`` after ``timeout`` seconds; the command is ended then.
    """
    out, err = cwd / "stdout.txt", cwd / "stderr.txt"
    with out.open("wb") as stdout, err.open("wb") as stderr:
        start = time.perf_counter()
        process = subprocess.Popen(
            [str(part) for part in command],
            cwd=cwd,
            env=_installed({**(environment or os.environ), "NO_COLOR": "1"}),
            stdin=subprocess.DEVNULL,
            stdout=stdout,
            stderr=stderr,
        )
        watch = _Watch(process.pid)
        watch.start()
        ender = threading.Timer(timeout, process.kill)
        ender.start()
        code, cpu_seconds, kernel_peak = _wait(process)
        seconds = time.perf_counter() - start
        ender.cancel()
        watch.finish()
    if seconds >= timeout:
        raise subprocess.TimeoutExpired([str(part) for part in command], timeout)
    return Ran(seconds, cpu_seconds, max(kernel_peak, watch.peak), code, _text(out), _text(err))


def _installed(environment: Mapping[str, str]) -> dict[str, str]:
    """Let modules be kept compiled, as those of an installed program are: of ours and of the peer's alike."""
    return {name: value for name, value in environment.items() if name != "PYTHONDONTWRITEBYTECODE"}


def _wait(process: subprocess.Popen[bytes]) -> tuple[int, float, int]:
    """Wait for a process; give its exit code, CPU seconds and the kernel's peak in bytes (0: not told)."""
    if not hasattr(os, "wait4"):
        return process.wait(), 0.0, 0
    _, status, usage = os.wait4(process.pid, 0)
    process.returncode = os.waitstatus_to_exitcode(status)
    unit = 1 if psutil.MACOS else 1024
    return process.returncode, usage.ru_utime + usage.ru_stime, usage.ru_maxrss * unit


def _text(path: Path) -> str:
    return path.read_text(encoding="utf-8", errors="replace")


class _Watch(threading.Thread):
    """Samples the resident memory of a process and its descendants."""

    def __init__(self, pid: int) -> None:
        super().__init__(daemon=True)
        self.peak = 0
        self._pid = pid
        self._ended = threading.Event()

    def run(self) -> None:
        """Sample until the process has ended."""
        try:
            root = psutil.Process(self._pid)
            while not self._ended.wait(SAMPLED_EVERY_SECONDS):
                self.peak = max(self.peak, sum(map(_resident, (root, *root.children(recursive=True)))))
        except psutil.NoSuchProcess:
            return

    def finish(self) -> None:
        """Wait for the last sample."""
        self._ended.set()
        self.join()


def _resident(process: psutil.Process) -> int:
    try:
        return int(process.memory_info().rss)
    except psutil.Error:
        return 0
