"""Measure everything that has a budget and print it beside the budget and the peer: ``python -m benchmarks``."""

from __future__ import annotations

import argparse
import json
import os
import platform
import sys
import tempfile
from collections.abc import Sequence
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from benchmarks.bench import Counts
from benchmarks.graphs import graph_file
from benchmarks.peer import VERSION, Peer
from benchmarks.report import COMPARED_HEAD, ROW_HEAD, Compared, Row, compared_cells, row_cells, table
from benchmarks.runner import Runner

FEW = Counts(quick=40, warm_ups=5, commands=5, syncs=1, merges=1, exports=2, peer=1)


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the benchmarks; 1 with ``--check`` when something is over its budget, 2 when it cannot be measured."""
    given = make_parser().parse_args(arguments)
    try:
        graph = graph_file(given.graph)
    except FileNotFoundError as error:
        print(f"Error: {error}", file=sys.stderr)
        return 2
    compare = given.peer and not given.only
    peer = Peer.find(given.peer_path) if compare else None
    if compare and peer is None:
        print(
            f"Note: no deeprefine-cli {VERSION} found, so nothing is compared; see --peer-path.",
            file=sys.stderr,
        )
    with tempfile.TemporaryDirectory(prefix="deeprefine-bench-", dir=given.work) as work:
        runner = Runner(Path(work), graph, FEW if given.few else Counts(), _say)
        before = os.getloadavg() if hasattr(os, "getloadavg") else ()
        rows = runner.rows(given.only)
        if not rows:
            print(f"Error: no work has {' or '.join(given.only)} in its name.", file=sys.stderr)
            return 2
        print(table(ROW_HEAD, [row_cells(row) for row in rows]), flush=True)
        compared = runner.against(peer, rows) if peer else []
        facts = {
            "time": datetime.now(UTC).isoformat(timespec="seconds"),
            "graph": graph.name,
            "graph_sha256": runner.digest,
            "graph_mb": round(runner.graph.stat().st_size / 1e6, 1),
            **runner.facts,
            "python": platform.python_version(),
            "platform": platform.platform(),
            "cpus": os.cpu_count(),
            "load_before": before,
            "load_after": os.getloadavg() if hasattr(os, "getloadavg") else (),
        }
    _print(facts, compared)
    if given.json:
        _write(given.json, facts, rows, compared)
    return 1 if given.check and any(row.verdict == "OVER" for row in rows) else 0


def make_parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(prog="python -m benchmarks", description=__doc__)
    parser.add_argument(
        "--graph", metavar="FILE|NAME", help="graph.json, plain or .xz, or a known graph's name"
    )
    parser.add_argument(
        "--peer", action=argparse.BooleanOptionalAction, default=True, help="measure the peer too"
    )
    parser.add_argument("--peer-path", type=Path, metavar="FILE", help="the peer's command `deeprefine`")
    parser.add_argument("--json", type=Path, metavar="OUT", help="write what was measured to a file too")
    parser.add_argument(
        "--only",
        type=lambda text: [part.strip() for part in text.split(",") if part.strip()],
        default=[],
        metavar="WORK[,WORK]",
        help="measure only the works with one of these in their names, and no peer",
    )
    parser.add_argument("--few", action="store_true", help="few repeats: a look, not a measurement")
    parser.add_argument("--check", action="store_true", help="exit with 1 when something is over its budget")
    parser.add_argument("--work", type=Path, metavar="DIR", help="where to make the working folder")
    return parser


def _print(facts: dict[str, Any], compared: Sequence[Compared]) -> None:
    if compared:
        print(f"\nBeside deeprefine-cli {VERSION} on the same file, medians and peaks of whole commands:\n")
        print(table(COMPARED_HEAD, [compared_cells(pair) for pair in compared]))
    print(f"\n{facts['graph']}: {facts['nodes']:,} nodes, {facts['links']:,} links, {facts['graph_mb']} MB")
    print(
        f"Python {facts['python']}, {facts['cpus']} CPUs, load {_load(facts)}; budgets are for the large graph."
    )


def _load(facts: dict[str, Any]) -> str:
    return " → ".join(f"{facts[name][0]:.1f}" for name in ("load_before", "load_after") if facts[name])


def _write(path: Path, facts: dict[str, Any], rows: Sequence[Row], compared: Sequence[Compared]) -> None:
    found = {
        **facts,
        "rows": [row.as_json() for row in rows],
        "compared": [pair.as_json() for pair in compared],
    }
    path.write_text(json.dumps(found, indent=1) + "\n", encoding="utf-8")


def _say(text: str) -> None:
    print(text, file=sys.stderr, flush=True)


if __name__ == "__main__":
    sys.exit(main())
