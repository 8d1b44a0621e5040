"""deeprefine-cli 0.2.0 and this program work on one queue."""

from __future__ import annotations

import importlib
from pathlib import Path

from deeprefine_graphdb.project import history

theirs = importlib.import_module("deeprefine_skill.history")


def test_what_either_adds_or_marks_the_other_sees(tmp_path: Path) -> None:
    queue = tmp_path / "history.jsonl"
    history.add(queue, "ours é")
    theirs.append_history(queue, "theirs")
    history.add(queue, "ours again")
    assert [row["query"] for row in theirs.pending_queries(queue)] == ["ours é", "theirs", "ours again"]
    assert history.read_history(queue).pending() == theirs.pending_queries(queue)
    theirs.mark_refined(queue, {history.query_id("ours é")})
    history.mark_refined(queue, {theirs.query_id("theirs")})
    assert [row["query"] for row in history.read_history(queue).pending()] == ["ours again"]
    assert history.read_history(queue).pending() == theirs.pending_queries(queue)


def test_a_torn_line_is_out_of_their_way_after_the_next_add(tmp_path: Path) -> None:
    queue = tmp_path / "history.jsonl"
    history.add(queue, "whole")
    with queue.open("a", encoding="utf-8") as stream:
        stream.write('{"query": "to')
    history.add(queue, "next")
    assert [row["query"] for row in theirs.pending_queries(queue)] == ["whole", "next"]
