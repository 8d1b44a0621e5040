"""The benchmarks' own rules: every budget is measured, rows can be picked, and what stands in for graphify."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from benchmarks.bench import Counts
from benchmarks.rebase_jobs import STAND_IN
from benchmarks.report import BUDGETS
from benchmarks.runner import Runner, picked


def graph(indent: int | None) -> str:
    nodes = [
        {"id": f"n{n}", "label": f"N {n}", "source_file": "a.py", "source_location": f"L{n}"}
        for n in range(60)
    ]
    links = [
        {"source": f"n{n}", "target": f"n{(n + 1) % 60}", "relation": "calls", "note": "a } and a , and é"}
        for n in range(60)
    ]
    whole = {"graph": {}, "nodes": nodes, "links": links, "hyperedges": [{"id": "h", "nodes": ["n1", "n2"]}]}
    return json.dumps(whole, indent=indent, separators=(",", ":"), ensure_ascii=False)


def test_every_budget_is_measured(tmp_path: Path) -> None:
    (tmp_path / "given.json").write_text(graph(None), encoding="utf-8")
    works = Runner(tmp_path, tmp_path / "given.json", Counts(), print).works()
    names = [name for name, _ in works]
    assert set(BUDGETS) <= set(names)
    assert len(set(names)) == len(names)


def test_rows_are_picked_by_parts_of_their_names_in_their_order() -> None:
    works = [
        (name, lambda work: pytest.fail(work)) for name in ("first sync", "undo", "Sync again", "export")
    ]
    assert [name for name, _ in picked(works, ["undo", "sync"])] == ["first sync", "undo", "Sync again"]
    assert picked(works, ["none such"]) == []
    assert picked(works, ()) == works


@pytest.mark.parametrize("indent", [None, 2])
def test_what_stands_in_for_graphify_makes_a_small_change_each_time(
    tmp_path: Path, indent: int | None
) -> None:
    path = tmp_path / "graphify-out" / "graph.json"
    path.parent.mkdir()
    path.write_text(graph(indent), encoding="utf-8")
    for run in range(2):
        before: dict[str, Any] = json.loads(path.read_bytes())
        subprocess.run([sys.executable, STAND_IN, "update", "."], cwd=tmp_path, check=True)
        after: dict[str, Any] = json.loads(path.read_bytes())
        was = {node["id"]: node for node in before["nodes"]}
        now = {node["id"]: node for node in after["nodes"]}
        assert sorted(now.keys() - was.keys()) == [f"arrived_{run}_{n}" for n in range(10)]
        assert was.keys() <= now.keys()
        assert 0 < sum(was[one] != now[one] for one in was) <= 20
        gone = [link for link in before["links"] if link not in after["links"]]
        assert 0 < len(gone) <= 10
        assert len(after["links"]) == len(before["links"]) - len(gone) + 10
        assert after["hyperedges"] == before["hyperedges"]
