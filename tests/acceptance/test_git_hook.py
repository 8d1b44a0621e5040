"""git's hooks: graphify rebuilds behind a commit, and our part behind graphify's carries the refinements over."""

from __future__ import annotations

import json
import shutil
import subprocess
import sys
import time
from pathlib import Path

import pytest

from tests.acceptance.harness import LIMIT, Base, environment
from tests.acceptance.test_update import edit, graphify, tree

pytestmark = [pytest.mark.slow, pytest.mark.skipif(shutil.which("git") is None, reason="needs git")]


def git(base: Base, *arguments: str, code: int = 0) -> str:
    name = ("-c", "user.name=t", "-c", "user.email=t@example.org", "-c", "commit.gpgsign=false")
    path = environment()["PATH"]
    env = environment(DEEPREFINE_STORE=base.store, PATH=f"{Path(sys.executable).parent}:{path}")
    done = subprocess.run(
        ["git", *name, *arguments], cwd=base.root, env=env, capture_output=True, text=True, check=False
    )
    assert done.returncode == code, done.stderr
    return done.stdout


@pytest.fixture
def base(tmp_path: Path) -> Base:
    made = tree(tmp_path / "kb")
    git(made, "init", "-q", ".")
    graphify(made, "hook", "install")
    made("sync")
    return made


def hooks(base: Base) -> dict[str, str]:
    folder = base.root / ".git/hooks"
    return {path.name: path.read_text() for path in folder.iterdir() if not path.name.endswith(".sample")}


def test_the_hooks_are_marked_written_once_and_taken_out_again(base: Base) -> None:
    before = hooks(base)
    assert base("hook", "install", "--json").data["hooks"] == [
        "post-commit",
        "post-checkout",
        "post-merge",
        "post-rewrite",
    ]
    once = hooks(base)
    base("hook", "install")
    assert hooks(base) == once
    assert all(text.startswith(before.get(name, "#!/bin/sh\n")) for name, text in once.items())
    assert base("hook", "uninstall", "--json").data["hooks"] == []
    assert hooks(base) == before


def test_a_commit_keeps_the_refinements(base: Base) -> None:
    base.apply(
        'insert_edge("Pool", "explained by", "Pool concept")|replace_node("Unused", "Obsolete")', "--export"
    )
    base("hook", "install")
    git(base, "add", "-A")
    git(base, "commit", "-qm", "first")
    edit(base)
    git(base, "add", "pkg")
    started = time.monotonic()
    git(base, "commit", "-qm", "second")
    assert time.monotonic() - started < LIMIT / 4
    deadline = time.monotonic() + LIMIT
    while True:
        labels = {node["label"] for node in json.loads(base.graph.read_bytes())["nodes"]}
        if {"Late", "Obsolete", "Pool concept"} <= labels and base("status", "--json").data["behind"] == 0:
            break
        assert time.monotonic() < deadline, (base.ours / "hook.log").read_text()
        time.sleep(0.5)
    base("doctor")
