"""Real git and real graphify with its hooks: branches switched, and two people who both write code and refine."""

from __future__ import annotations

import json
import shutil
import time
from collections.abc import Collection
from pathlib import Path

import pytest

from tests.acceptance.harness import LIMIT, Base
from tests.acceptance.test_git_hook import git
from tests.acceptance.test_update import edit, graphify, tree

pytestmark = [
    pytest.mark.slow,
    pytest.mark.engine,
    pytest.mark.skipif(shutil.which("git") is None, reason="needs git"),
]


def labels(base: Base) -> set[str]:
    return {node["label"] for node in json.loads(base.graph.read_bytes())["nodes"]}


def settled(base: Base, present: set[str], absent: Collection[str] = ()) -> None:
    """Wait until the hooks are done: these labels are in graph.json or not, and it is what the store says."""
    deadline = time.monotonic() + LIMIT
    while not (present <= labels(base) and labels(base).isdisjoint(absent) and _is_current(base)):
        assert time.monotonic() < deadline, (labels(base), (base.ours / "hook.log").read_text())
        time.sleep(0.5)


def _is_current(base: Base) -> bool:
    found = base("status", "--json").data
    return bool(found["behind"] == 0 and found["file"] == "current")


def commit(base: Base, message: str) -> None:
    git(base, "add", "-A")
    git(base, "commit", "-qm", message)


def digests(base: Base) -> tuple[str, str]:
    found = base("export", "--json").data
    return found["file_digest"], found["base_digest"]


def test_branches_are_switched_back_and_forth_while_graphify_rebuilds(tmp_path: Path) -> None:
    base = tree(tmp_path / "kb")
    git(base, "init", "-q", "-b", "main", ".")
    base("sync")
    base.apply('insert_edge("Pool", "explained by", "Pool concept")', "--export")
    commit(base, "first")
    graphify(base, "hook", "install")
    base("hook", "install")
    git(base, "checkout", "-q", "-b", "side")
    settled(base, {"Pool concept"})
    edit(base)
    commit(base, "side")
    settled(base, {"Pool concept", "Late"})
    base.apply('replace_node("Late", "Latest")', "--export", name="late.txt")
    commit(base, "side refined")
    settled(base, {"Pool concept", "Latest"})
    side = base.triples()
    git(base, "checkout", "-qf", "main")
    settled(base, {"Pool concept", "Unused"}, {"Late", "Latest"})
    assert len(base("conflicts", "--json").data) == 1
    git(base, "checkout", "-qf", "side")
    settled(base, {"Pool concept", "Latest"}, {"Late"})
    assert base("conflicts", "--json").data == []
    assert base.triples() == side
    base.healthy()


def test_two_people_write_code_and_refine(tmp_path: Path) -> None:
    ann = tree(tmp_path / "ann")
    ignored = "/graphify-out/*\n!/graphify-out/graph.json\n!/graphify-out/.deeprefine/\n"
    (ann.root / ".gitignore").write_text(ignored, encoding="utf-8")
    git(ann, "init", "-q", "-b", "main", ".")
    graphify(ann, "hook", "install")
    ann("hook", "install")
    git(ann, "config", "core.hooksPath", str(tmp_path))
    ann("sync")
    ann("export")
    commit(ann, "first")
    git(ann, "clone", "-q", str(ann.root), str(tmp_path / "bob"))
    bob = Base(tmp_path / "bob")
    bob("hook", "install", "--no-merge-driver")
    bob("hook", "uninstall")
    bob("hook", "install")
    git(bob, "config", "core.hooksPath", str(tmp_path))
    bob("sync")
    (ann.root / "pkg/ann.py").write_text("class Ann:\n    def a(self): return 1\n", encoding="utf-8")
    (bob.root / "pkg/bob.py").write_text("class Bob:\n    def b(self): return 1\n", encoding="utf-8")
    for each, text in (
        (ann, 'replace_node("Unused", "Obsolete")|insert_edge("Ann", "guards", "Pool")'),
        (bob, 'delete_edge("a.py", "contains", "Pool")|insert_edge("Bob", "explained by", "Bob concept")'),
    ):
        each("update")
        each.apply(text, "--export", name=f"{each.root.name}.txt")
        commit(each, each.root.name)
    git(ann, "pull", "-q", "--no-rebase", "--no-edit", str(bob.root), "main")
    merged = ann.graph.read_bytes()
    assert {"Obsolete", "Ann", "Bob", "Bob concept"} <= labels(ann)
    assert "Unused" not in labels(ann)
    assert {("Ann", "guards", "Pool"), ("Bob", "explained by", "Bob concept")} <= ann.triples()
    assert ("a.py", "contains", "Pool") not in ann.triples()
    assert ann("sync", "--json").data["suspended"] == []
    ann("export")
    assert ann.graph.read_bytes() == merged
    git(bob, "pull", "-q", "--no-rebase", "--no-edit", str(ann.root), "main")
    assert bob.graph.read_bytes() == merged
    bob("sync")
    assert digests(bob) == digests(ann)
    bases = []
    for each in (ann, bob):
        each("update", "--force")
        assert {"Obsolete", "Ann", "Bob", "Bob concept"} <= labels(each)
        each.healthy()
        bases.append(each.triples())
    assert bases[0] == bases[1]
