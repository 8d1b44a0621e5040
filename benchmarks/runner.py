"""The order of the measurements, and the folders and processes that they run in."""

from __future__ import annotations

import json
import shutil
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from benchmarks.bench import COMMAND_WARM_UPS, Bench, Counts, Say, Work, times_of
from benchmarks.graphs import QUESTION, unpack
from benchmarks.peer import Peer
from benchmarks.rebase import RebaseRows
from benchmarks.report import MB, Compared, Row

WAL_A_PROPOSAL = 40_000
MARGIN = 100_000
FIRST_SYNC = "first sync"
APPLY_AND_EXPORT = "apply --export, whole command"
SEARCH = "search, whole command"


class Runner:
    """Measures every work on one graph, in a folder of its own."""

    def __init__(self, work: Path, graph: Path, counts: Counts, say: Say) -> None:
        self._work = work
        self._counts = counts
        self._say = say
        self._root = work / "base"
        self._bench = Bench(work, self._root, counts, say)
        self.graph = work / "graph.json"
        self.digest = unpack(graph, self.graph)
        self._wal_a_command = 0.0
        self.facts: dict[str, Any] = {}
        self.refinements: list[str] = []

    def rows(self, only: Sequence[str] = ()) -> list[Row]:
        """Measure everything that this program does, or the works whose names have one of these parts in them."""
        chosen = picked(self.works(), only)
        if not chosen:
            return []
        self._make_root()
        self._choose()
        if chosen[0][0] != FIRST_SYNC:
            self._bench.command("sync")
        return [measure(name) for name, measure in chosen]

    def works(self) -> list[Work]:
        """Give all works in an order in which none spoils a later one."""
        return [
            (FIRST_SYNC, self._first_sync),
            ("sync, file unchanged", self._sync_again),
            ("resolve a name", lambda work: self._in_process("resolve", work)),
            ("refuse the commonest label, with candidates", self._namesakes),
            ("one hop of 20 entities, ordinary", lambda work: self._in_process("expand", work)),
            ("one hop of 20 entities, hubs", lambda work: self._in_process("hubs", work)),
            *RebaseRows(self._bench).works(),
            ("apply, whole command, fresh log", lambda work: self._apply_commands(work, 0)),
            ("apply, whole command, WAL up to 4 MB", lambda work: self._apply_commands(work, 4 * MB)),
            ("apply, whole command, WAL up to 8 MB", lambda work: self._apply_commands(work, 8 * MB)),
            ("fold (doctor --compact)", self._fold),
            ("apply of 10 actions, in process", self._apply_in_process),
            ("export", self._export),
            (APPLY_AND_EXPORT, self._apply_and_export),
            (SEARCH, self._search),
            ("merge of a node with about 3,000 edges", self._merge),
        ]

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

    def _make_root(self) -> None:
        shutil.rmtree(self._root, ignore_errors=True)
        (self._root / "graphify-out").mkdir(parents=True)
        shutil.copyfile(self.graph, self._root / "graphify-out" / "graph.json")

    def _first_sync(self, work: str) -> Row:
        ran = []
        for _ in range(self._counts.syncs):
            self._make_root()
            ran.append(self._bench.command("sync"))
        return self._bench.row(work, ran)

    def _sync_again(self, work: str) -> Row:
        return self._bench.row(work, [self._bench.command("sync") for _ in range(self._counts.commands)])

    def _choose(self) -> None:
        ran = self._bench.child("choose")
        self._bench.workload.write_text(ran.output, encoding="utf-8")
        chosen = json.loads(ran.output)
        self.refinements = chosen["refinements"]
        self.facts = {
            name: chosen["workload"][name]
            for name in ("nodes", "links", "namesake", "namesakes", "merge_degree")
        }

    def _in_process(self, job: str, work: str, note: str = "") -> Row:
        ran = self._bench.child(job, self._counts.quick, self._counts.warm_ups)
        found = json.loads(ran.output)
        if "edges" in found:
            note = f"{found['edges']:.0f} edges found (median)"
        return self._bench.said(Row(work, times_of(found), ran.peak_bytes, note))

    def _namesakes(self, work: str) -> Row:
        return self._in_process("namesakes", work, f"{self.facts['namesakes']:,} namesakes")

    def _apply_commands(self, work: str, wal_limit: int) -> Row:
        """Apply proposals one command each, so that the write-ahead log ends just below a size."""
        count = self._counts.commands + COMMAND_WARM_UPS
        room = int(count * (self._wal_a_command + WAL_A_PROPOSAL)) + MARGIN
        grown = json.loads(self._bench.child("grow", max(0, wal_limit - room), count).output)
        ran = [self._bench.command("apply", each, "--allow-low-confidence") for each in grown["proposals"]]
        self._wal_a_command = max(0, self._wal() - grown["wal_bytes"]) / count
        note = f"WAL {grown['wal_bytes'] / MB:.1f} to {self._wal() / MB:.1f} MB"
        return self._bench.row(work, ran[COMMAND_WARM_UPS:], note)

    def _fold(self, work: str) -> Row:
        before = self._wal()
        ran = self._bench.command("doctor", "--compact")
        return self._bench.row(work, [ran], f"WAL {before / MB:.1f} MB")

    def _apply_in_process(self, work: str) -> Row:
        ran = self._bench.child("apply", self._counts.quick, self._counts.warm_ups)
        found = json.loads(ran.output)
        note = f"footprint check, plan, write, journal; folded {found['folds']} times between"
        return self._bench.said(
            Row(
                work,
                times_of(found),
                ran.peak_bytes,
                note,
            )
        )

    def _merge(self, work: str) -> Row:
        ran = self._bench.child("merge", self._counts.merges, 1)
        found = json.loads(ran.output)
        note = f"{self.facts['merge_degree']:,} edges"
        return self._bench.said(Row(work, times_of(found), ran.peak_bytes, note))

    def _export(self, work: str) -> Row:
        ran = []
        for number in range(self._counts.exports):
            self._bench.child("one", number)
            ran.append(self._bench.command("export"))
        return self._bench.row(work, ran)

    def _apply_and_export(self, work: str) -> Row:
        ran = []
        for text in self.refinements[1:]:
            path = self._work / "refinement.txt"
            path.write_text(text, encoding="utf-8")
            extra = ("--skip-trace-check", "--allow-low-confidence", "--export")
            ran.append(self._bench.command("apply", "--refinement-file", str(path), *extra))
        return self._bench.row(work, ran)

    def _search(self, work: str) -> Row:
        self._bench.command("search", QUESTION)
        return self._bench.row(
            work, [self._bench.command("search", QUESTION) for _ in range(self._counts.commands)]
        )

    def _wal(self) -> int:
        store = self._root / "graphify-out" / ".deeprefine" / "store"
        return sum(path.stat().st_size for path in store.glob("*/*.wal"))


def picked(works: Sequence[Work], only: Sequence[str]) -> list[Work]:
    """Give the works whose names have one of these parts in them, in any case of letters; all without any part."""
    parts = [part.lower() for part in only]
    return [work for work in works if not parts or any(part in work[0].lower() for part in parts)]
