"""The peer on the same graph file: deeprefine-cli's apply and review, and the query that its loop retrieves with."""

from __future__ import annotations

import shutil
import sys
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

from benchmarks.measure import Ran, Times, run
from benchmarks.report import Row

VERSION = "0.2.0"


@dataclass(frozen=True)
class Peer:
    """Commands of the peer: ``deeprefine``, and ``graphify`` where that is installed too."""

    deeprefine: Path
    graphify: Path | None

    @classmethod
    def find(cls, given: Path | None) -> Peer | None:
        """Find the peer: where it is said to be, beside this Python, or on the path."""
        found = given or _command("deeprefine")
        if found is None or not found.is_file():
            return None
        beside = found.with_name("graphify")
        return cls(found, beside if beside.is_file() else _command("graphify"))

    def apply(self, work: Path, graph: Path, refinement: str, repeats: int) -> Row:
        """Time applying ten actions, each time to the graph as it was. The peer writes graph.json with them."""
        text = work / "peer_refinement.txt"
        text.write_text(refinement, encoding="utf-8")
        extra = ["--refinement-file", str(text), "--skip-trace-check", "--allow-low-confidence"]
        return self._timed(work, graph, "apply", extra, repeats)

    def review(self, work: Path, graph: Path, refinement: str, repeats: int) -> Row:
        """Time reviewing ten actions."""
        text = work / "peer_refinement.txt"
        text.write_text(refinement, encoding="utf-8")
        return self._timed(
            work, graph, "review", ["--refinement-file", str(text), "--skip-trace-check"], repeats
        )

    def query(self, work: Path, graph: Path, question: str, repeats: int) -> Row | None:
        """Time the query of graphify that the peer's loop retrieves with."""
        graphify = self.graphify
        if graphify is None:
            return None
        root = _root(work, graph)
        command = [str(graphify), "query", question, "--graph", str(root / "graphify-out" / "graph.json")]
        return _row("graphify query", lambda: run(command, root), repeats)

    def _timed(self, work: Path, graph: Path, name: str, extra: list[str], repeats: int) -> Row:
        def once() -> Ran:
            root = _root(work, graph)
            return run([self.deeprefine, name, *extra, "--project-root", root], root)

        return _row(f"deeprefine {name}", once, repeats)


def _row(name: str, once: Callable[[], Ran], repeats: int) -> Row:
    ran = [once() for _ in range(repeats)]
    for each in ran:
        if each.code:
            raise RuntimeError(
                f"{name} of the peer ended with {each.code}: {(each.errors or each.output)[-300:]}"
            )
    return Row(name, Times.of(ran), max(each.peak_bytes for each in ran))


def _root(work: Path, graph: Path) -> Path:
    """Make a knowledge base of the peer's with the graph as it was."""
    root = work / "peer"
    shutil.rmtree(root, ignore_errors=True)
    (root / "graphify-out").mkdir(parents=True)
    shutil.copyfile(graph, root / "graphify-out" / "graph.json")
    return root


def _command(name: str) -> Path | None:
    beside = Path(sys.executable).with_name(name)
    if beside.is_file():
        return beside
    found = shutil.which(name)
    return Path(found) if found else None
