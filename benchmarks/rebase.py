"""What a long log costs: a changed file taken in, an undo, an update, a derivation, a what-if."""

from __future__ import annotations

import json
import shutil
from dataclasses import replace
from functools import cached_property
from typing import Any

from benchmarks.bench import COMMAND_WARM_UPS, Bench, Work, times_of
from benchmarks.rebase_jobs import STAND_IN
from benchmarks.report import Row

REFINEMENTS = 200
FOLLOWERS = 10
DERIVED = 1_000
LOG = f"{REFINEMENTS} refinements in the log"


class RebaseRows:
    """Measures on a copy of a synced knowledge base, which gets a log of refinements and is exported."""

    def __init__(self, synced: Bench) -> None:
        self._synced = synced

    def works(self) -> list[Work]:
        """Give the works in their order; the sync of a changed file comes while all refinements are active."""
        return [
            ("derive 1,000 refinements of 10 actions", self._derive),
            ("sync of a changed file, 200 refinements", self._sync_changed),
            ("sync, file unchanged, 200 refinements", self._sync_unchanged),
            ("update without graphify's own time, 200 refinements", self._update),
            ("what-if of one question, canned model", self._what_if),
            ("undo, whole command, nothing later meets it", self._undo_free),
            ("undo, whole command, something later meets it", self._undo_met),
        ]

    @cached_property
    def _bench(self) -> Bench:
        bench = replace(self._synced, root=self._synced.root.with_name("refined"))
        shutil.copytree(self._synced.root, bench.root)
        bench.say(f"making a log of {REFINEMENTS} refinements …")
        bench.child("log", REFINEMENTS, FOLLOWERS)
        bench.command("export")
        return bench

    @cached_property
    def _undos(self) -> dict[str, Any]:
        counts = self._bench.counts
        chosen = self._bench.child("undos", counts.commands + COMMAND_WARM_UPS, counts.exports)
        return dict(json.loads(chosen.output))

    def _derive(self, work: str) -> Row:
        ran = self._synced.child("derive", self._synced.counts.exports, DERIVED)
        found = json.loads(ran.output)
        note = f"parsed base in memory; {found['suspended']} suspended"
        return self._synced.said(Row(work, times_of(found), ran.peak_bytes, note))

    def _sync_changed(self, work: str) -> Row:
        bench, ran = self._bench, []
        for _ in range(bench.counts.syncs):
            bench.program(STAND_IN)
            ran.append(bench.command("sync", "--json"))
            bench.command("export")
        report = json.loads(ran[-1].output)
        assert report["outcome"] == "rebased", report["outcome"]
        return bench.row(work, ran, f"{LOG}, {len(report['suspended'])} suspended")

    def _sync_unchanged(self, work: str) -> Row:
        bench = self._bench
        return bench.row(work, [bench.command("sync") for _ in range(bench.counts.commands)], LOG)

    def _update(self, work: str) -> Row:
        bench, ran, own = self._bench, [], []
        for _ in range(bench.counts.syncs):
            one = bench.child("update")
            found = json.loads(one.output)
            assert found["outcome"] == "rebased", found["outcome"]
            own.append(found["graphify_seconds"])
            ran.append(
                replace(
                    one,
                    seconds=one.seconds - found["graphify_seconds"],
                    cpu_seconds=one.cpu_seconds - found["graphify_cpu"],
                )
            )
        return bench.row(work, ran, f"the stand-in for graphify took {max(own):.1f} s more")

    def _what_if(self, work: str) -> Row:
        bench = self._bench
        ran = bench.child("what-if", bench.counts.commands, 1)
        found = json.loads(ran.output)
        note = f"in process, {found['hops']} hops, retrieval by words, proposals of 10 actions"
        return bench.said(Row(work, times_of(found), ran.peak_bytes, note))

    def _undo_free(self, work: str) -> Row:
        ids = self._undos["free"]
        ran = [self._bench.command("undo", each) for each in ids]
        return self._bench.row(
            work, ran[COMMAND_WARM_UPS:], f"{self._undos['active']} active before the first"
        )

    def _undo_met(self, work: str) -> Row:
        ran = [self._bench.command("undo", each) for each in self._undos["met"]]
        return self._bench.row(work, ran, "one of the first, met by one of the last")
