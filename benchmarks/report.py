"""What was measured, against its budget: rows, ratios, and how they are printed."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from benchmarks.measure import Times

MB = 1 << 20


@dataclass(frozen=True)
class Budget:
    """Most seconds and most bytes; ``judged`` says which time counts. ``None``: no budget."""

    seconds: float | None = None
    megabytes: int | None = None
    median_seconds: float | None = None


BUDGETS = {
    "first sync": Budget(12.0, 1024),
    "sync, file unchanged": Budget(0.5),
    "apply of 10 actions, in process": Budget(0.100, median_seconds=0.050),
    "apply, whole command, fresh log": Budget(0.7, 300),
    "apply, whole command, WAL up to 4 MB": Budget(0.7, 300),
    "apply, whole command, WAL up to 8 MB": Budget(1.1),
    "merge of a node with about 3,000 edges": Budget(2.0),
    "one hop of 20 entities, ordinary": Budget(0.040),
    "one hop of 20 entities, hubs": Budget(0.080),
    "resolve a name": Budget(0.005),
    "refuse the commonest label, with candidates": Budget(0.005),
    "export": Budget(2.0, 600),
    "derive 1,000 refinements of 10 actions": Budget(5.0),
    "sync of a changed file, 200 refinements": Budget(15.0, 1536),
    "sync, file unchanged, 200 refinements": Budget(0.5),
    "update without graphify's own time, 200 refinements": Budget(20.0),
    "undo, whole command, nothing later meets it": Budget(1.0),
    "undo, whole command, something later meets it": Budget(15.0),
}


@dataclass(frozen=True)
class Row:
    """One work's times, the peak memory of its process tree in bytes, and what is to be said of it."""

    work: str
    times: Times
    peak_bytes: int
    note: str = ""

    @property
    def verdict(self) -> str:
        """``PASS`` or ``OVER``, the p95 and the peak against the budget; empty where there is none."""
        budget = BUDGETS.get(self.work)
        if budget is None:
            return ""
        over = (
            (budget.seconds is not None and self.times.p95 > budget.seconds)
            or (budget.median_seconds is not None and self.times.p50 > budget.median_seconds)
            or (budget.megabytes is not None and self.peak_bytes > budget.megabytes * MB)
        )
        return "OVER" if over else "PASS"

    def as_json(self) -> dict[str, Any]:
        """Give the row with its budget."""
        budget = BUDGETS.get(self.work, Budget())
        return {
            "work": self.work,
            "repeats": len(self.times.seconds),
            "p50_seconds": round(self.times.p50, 5),
            "p95_seconds": round(self.times.p95, 5),
            "cpu_p50_seconds": round(self.times.cpu_p50, 5),
            "peak_mb": round(self.peak_bytes / MB, 1),
            "budget_p50_seconds": budget.median_seconds,
            "budget_p95_seconds": budget.seconds,
            "budget_peak_mb": budget.megabytes,
            "verdict": self.verdict,
            "note": self.note,
        }


@dataclass(frozen=True)
class Compared:
    """The same work done by this program and by the peer, each with the median of its times and its peak."""

    work: str
    ours: Row
    theirs: Row

    @property
    def faster(self) -> float:
        """How many times longer the peer takes."""
        return self.theirs.times.p50 / self.ours.times.p50

    @property
    def smaller(self) -> float:
        """How many times more memory the peer takes."""
        return self.theirs.peak_bytes / self.ours.peak_bytes

    def as_json(self) -> dict[str, Any]:
        """Give both and the ratios."""
        return {
            "work": self.work,
            "ours": self.ours.as_json(),
            "peer": self.theirs.as_json(),
            "time_ratio": round(self.faster, 1),
            "memory_ratio": round(self.smaller, 1),
        }


def table(head: Sequence[str], rows: Sequence[Sequence[str]]) -> str:
    """Set cells in columns as Markdown does, so that a report can be pasted into a page."""
    cells = [list(head), *map(list, rows)]
    widths = [max(len(row[n]) for row in cells) for n in range(len(head))]
    lines = [
        "| " + " | ".join(cell.ljust(width) for cell, width in zip(row, widths, strict=True)) + " |"
        for row in cells
    ]
    rule = "|" + "|".join("-" * (width + 2) for width in widths) + "|"
    return "\n".join([lines[0], rule, *lines[1:]])


def row_cells(row: Row) -> tuple[str, ...]:
    """Give a row's cells: work, n, p50, p95, its budget, CPU, peak, its budget, verdict, note."""
    budget = BUDGETS.get(row.work, Budget())
    limit = "" if budget.seconds is None else f"≤ {seconds_text(budget.seconds)}"
    if budget.median_seconds is not None:
        limit += f" (p50 {seconds_text(budget.median_seconds)})"
    return (
        row.work,
        str(len(row.times.seconds)),
        seconds_text(row.times.p50),
        seconds_text(row.times.p95),
        limit,
        seconds_text(row.times.cpu_p50),
        megabytes_text(row.peak_bytes),
        "" if budget.megabytes is None else f"≤ {budget.megabytes} MB",
        row.verdict,
        row.note,
    )


def compared_cells(pair: Compared) -> tuple[str, ...]:
    """Give a comparison's cells: work, times, ratio, peaks, ratio."""
    return (
        pair.work,
        seconds_text(pair.ours.times.p50),
        seconds_text(pair.theirs.times.p50),
        f"{pair.faster:.1f}×",
        megabytes_text(pair.ours.peak_bytes),
        megabytes_text(pair.theirs.peak_bytes),
        f"{pair.smaller:.1f}×",
    )


ROW_HEAD = ("work", "n", "p50", "p95", "budget", "CPU", "peak", "budget", "", "note")
COMPARED_HEAD = ("work", "ours", "peer", "ratio", "our peak", "peer's", "ratio")


def seconds_text(seconds: float) -> str:
    """Give a time in the unit that suits it."""
    return (
        f"{seconds:.2f} s"
        if seconds >= 1
        else f"{seconds * 1000:.1f} ms"
        if seconds < 0.1
        else f"{seconds * 1000:.0f} ms"
    )


def megabytes_text(size: int) -> str:
    """Give a size in MB."""
    return f"{size / MB:.0f} MB"
