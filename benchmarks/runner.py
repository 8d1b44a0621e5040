"""The order of the measurements, and the folders and processes that they run in."""

from __future__ import annotations

import json
import os
import shutil
import sys
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from benchmarks.graphs import REPOSITORY, unpack
from benchmarks.measure import Ran, Times, run
from benchmarks.peer import Peer
from benchmarks.report import MB, Compared, Row

WAL_A_PROPOSAL = 40_000
MARGIN = 100_000
COMMAND_WARM_UPS = 2
APPLY_AND_EXPORT = "apply --export, whole command"
SEARCH = "search, whole command"
QUESTION = "Which classes handle the parsing of configuration files?"
Say = Callable[[str], None]


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


class Runner:
    """Measures every work on one graph, in a folder of its own."""

    def __init__(self, work: Path, graph: Path, counts: Counts, say: Say) -> None:
        self._work = work
        self._counts = counts
        self._say = say
        self._root = work / "base"
        self._workload = work / "workload.json"
        self.graph = work / "graph.json"
        self.digest = unpack(graph, self.graph)
        self._wal_a_command = 0.0
        self.facts: dict[str, Any] = {}
        self.refinements: list[str] = []

    def rows(self) -> list[Row]:
        """Measure everything that this program does."""
        rows = [self._first_sync(), self._sync_again()]
        self._choose()
        facts = self.facts
        rows += [
            self._in_process("resolve", "resolve a name"),
            self._in_process(
                "namesakes",
                "refuse the commonest label, with candidates",
                f"{facts['namesakes']:,} namesakes",
            ),
            self._in_process("expand", "one hop of 20 entities, ordinary"),
            self._in_process("hubs", "one hop of 20 entities, hubs"),
            self._apply_commands("apply, whole command, fresh log", 0),
            self._apply_commands("apply, whole command, WAL up to 4 MB", 4 * MB),
            self._apply_commands("apply, whole command, WAL up to 8 MB", 8 * MB),
            self._fold(),
            self._apply_in_process(),
            self._export(),
            self._apply_and_export(),
            self._search(),
            self._merge(),
        ]
        return rows

    def against(self, peer: Peer, rows: Sequence[Row]) -> list[Compared]:
        """Measure the peer on the same file, beside what this program does for the same end."""
        times = self._counts.peer
        self._say("the peer …")
        by_work = {row.work: row for row in rows}
        applied = by_work["apply, whole command, WAL up to 4 MB"]
        theirs = peer.apply(self._work, self.graph, self.refinements[0], times)
        pairs = [
            Compared("apply of 10 actions (ours into the store)", applied, theirs),
            Compared("apply of 10 actions and graph.json written", by_work[APPLY_AND_EXPORT], theirs),
        ]
        queried = peer.query(self._work, self.graph, QUESTION, times)
        if queried is not None:
            pairs.append(
                Compared("retrieval for a question (theirs: graphify query)", by_work[SEARCH], queried)
            )
        return pairs

    def _first_sync(self) -> Row:
        ran = []
        for _ in range(self._counts.syncs):
            shutil.rmtree(self._root, ignore_errors=True)
            (self._root / "graphify-out").mkdir(parents=True)
            shutil.copyfile(self.graph, self._root / "graphify-out" / "graph.json")
            ran.append(self._command("sync"))
        return self._row("first sync", ran)

    def _sync_again(self) -> Row:
        return self._row(
            "sync, file unchanged", [self._command("sync") for _ in range(self._counts.commands)]
        )

    def _choose(self) -> None:
        ran = self._child("choose")
        self._workload.write_text(ran.output, encoding="utf-8")
        chosen = json.loads(ran.output)
        self.refinements = chosen["refinements"]
        self.facts = {
            name: chosen["workload"][name]
            for name in ("nodes", "links", "namesake", "namesakes", "merge_degree")
        }

    def _in_process(self, job: str, work: str, note: str = "") -> Row:
        ran = self._child(job, self._counts.quick, self._counts.warm_ups)
        found = json.loads(ran.output)
        if "edges" in found:
            note = f"{found['edges']:.0f} edges found (median)"
        return self._said(Row(work, _times(found), ran.peak_bytes, note))

    def _apply_commands(self, work: str, wal_limit: int) -> Row:
        """Apply proposals one command each, so that the write-ahead log ends just below a size."""
        count = self._counts.commands + COMMAND_WARM_UPS
        room = int(count * (self._wal_a_command + WAL_A_PROPOSAL)) + MARGIN
        grown = json.loads(self._child("grow", max(0, wal_limit - room), count).output)
        ran = [self._command("apply", each, "--allow-low-confidence") for each in grown["proposals"]]
        self._wal_a_command = max(0, self._wal() - grown["wal_bytes"]) / count
        note = f"WAL {grown['wal_bytes'] / MB:.1f} to {self._wal() / MB:.1f} MB"
        return self._row(work, ran[COMMAND_WARM_UPS:], note)

    def _fold(self) -> Row:
        before = self._wal()
        ran = self._command("doctor", "--compact")
        return self._row("fold (doctor --compact)", [ran], f"WAL {before / MB:.1f} MB")

    def _apply_in_process(self) -> Row:
        ran = self._child("apply", self._counts.quick, self._counts.warm_ups)
        found = json.loads(ran.output)
        note = f"footprint check, plan, write, journal; folded {found['folds']} times between"
        return self._said(
            Row(
                "apply of 10 actions, in process",
                _times(found),
                ran.peak_bytes,
                note,
            )
        )

    def _merge(self) -> Row:
        ran = self._child("merge", self._counts.merges, 1)
        found = json.loads(ran.output)
        note = f"{self.facts['merge_degree']:,} edges"
        work = "merge of a node with about 3,000 edges"
        return self._said(Row(work, _times(found), ran.peak_bytes, note))

    def _export(self) -> Row:
        ran = []
        for number in range(self._counts.exports):
            self._child("one", number)
            ran.append(self._command("export"))
        return self._row("export", ran)

    def _apply_and_export(self) -> Row:
        ran = []
        for text in self.refinements[1:]:
            path = self._work / "refinement.txt"
            path.write_text(text, encoding="utf-8")
            extra = ("--skip-trace-check", "--allow-low-confidence", "--export")
            ran.append(self._command("apply", "--refinement-file", str(path), *extra))
        return self._row(APPLY_AND_EXPORT, ran)

    def _search(self) -> Row:
        self._command("search", QUESTION)
        return self._row(SEARCH, [self._command("search", QUESTION) for _ in range(self._counts.commands)])

    def _wal(self) -> int:
        store = self._root / "graphify-out" / ".deeprefine" / "store"
        return sum(path.stat().st_size for path in store.glob("*/*.wal"))

    def _row(self, work: str, ran: Sequence[Ran], note: str = "") -> Row:
        times = Times.of(ran)
        return self._said(Row(work, times, max(each.peak_bytes for each in ran), note))

    def _said(self, row: Row) -> Row:
        load = os.getloadavg()[0] if hasattr(os, "getloadavg") else 0.0
        t = row.times
        self._say(
            f"{row.work}: p50 {t.p50:.3f} s, p95 {t.p95:.3f} s, CPU {t.cpu_p50:.3f} s (load {load:.1f})"
        )
        return row

    def _command(self, *arguments: str) -> Ran:
        command = [sys.executable, "-m", "deeprefine_graphdb.cli.main", "--project-root", str(self._root)]
        return _done(run([*command, *arguments], self._work, _environment()), arguments)

    def _child(self, job: str, first: int = 0, second: int = 0) -> Ran:
        command = [sys.executable, "-m", "benchmarks.child", job, str(self._root)]
        counted = ("--workload", str(self._workload), "--first", str(first), "--second", str(second))
        return _done(run([*command, *counted], self._work, _environment()), (job,))


def _times(found: dict[str, Any]) -> Times:
    return Times(tuple(found["seconds"]), tuple(found["cpu"]))


def _environment() -> dict[str, str]:
    """Let child processes find this program wherever they run."""
    paths = [str(REPOSITORY), str(REPOSITORY / "loaders"), os.environ.get("PYTHONPATH", "")]
    return {**os.environ, "PYTHONPATH": os.pathsep.join(filter(None, paths))}


def _done(ran: Ran, what: Sequence[str]) -> Ran:
    if ran.code:
        raise RuntimeError(f"{' '.join(what)} ended with {ran.code}: {(ran.errors or ran.output)[-600:]}")
    return ran
