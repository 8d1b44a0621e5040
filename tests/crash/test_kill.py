"""kill -9 before every durable step of a job: the next command finds the state before or the state after."""

from __future__ import annotations

import json
import os
import shutil
import signal
import subprocess
import sys
from pathlib import Path

import pytest

from deeprefine_graphdb.graph.render import graph_digest
from deeprefine_graphdb.project.conflicts import conflicts
from deeprefine_graphdb.project.doctor import check, compact
from deeprefine_graphdb.project.export import export
from deeprefine_graphdb.project.knowledge_base import KnowledgeBase
from deeprefine_graphdb.project.rebuild import rebuild
from deeprefine_graphdb.project.sync import sync
from tests.support.jobs import (
    apply,
    knowledge_base,
    make_root,
    resolve_first,
    small_graph,
    undo_first,
)

pytestmark = pytest.mark.slow
ROOT = Path(__file__).resolve().parents[2]
LIKE_A_SYNC = frozenset({"rebuild", "compact", "rebase"})
EVERY_STEP = bool(os.environ.get("DEEPREFINE_TEST_EVERY_STEP"))


def run_job(job: str, root: Path, at: int, log: Path) -> int:
    command = [sys.executable, "-m", "tests.support.killer", str(at), str(log), job, str(root)]
    return subprocess.run(command, cwd=ROOT, check=False, capture_output=True, timeout=120).returncode


def chosen_steps(job: str, names: list[str]) -> list[int]:
    """Give every step but statements within one transaction or one new database, of which a few are enough.

    What builds a generation like a sync, behind whose every step that is killed, is killed behind some.
    """
    plain = [at for at, name in enumerate(names, start=1) if not name.startswith("execute ")]
    if job in LIKE_A_SYNC and not EVERY_STEP:
        plain = [*plain[::9], *plain[-5:]]
    writing = [at for at, name in enumerate(names, start=1) if name.startswith("execute ")]
    apart = 25 if job in LIKE_A_SYNC or job.startswith("sync") else 5
    few = writing if EVERY_STEP else [*writing[::apart], *writing[-3:]]
    return sorted({*plain, *few})


def digest_in(root: Path) -> str | None:
    base = knowledge_base(root)
    if not base.has_store():
        return None
    with base.open("read") as store:
        return graph_digest(store)


@pytest.mark.parametrize(
    ("job", "part", "parts"),
    [("sync", 0, 3), ("sync", 1, 3), ("sync", 2, 3), ("apply", 0, 1), ("export", 0, 1)]
    + [(job, part, 2) for job in ("rebuild", "compact", "rebase", "undo") for part in range(2)]
    + [("resolve", 0, 1)],
)
def test_a_kill_before_any_step_leaves_the_state_before_or_after(
    job: str, part: int, parts: int, tmp_path: Path
) -> None:
    start = tmp_path / "start"
    base = make_root(start)
    if job != "sync":
        sync(base)
    if job in {"export", "rebuild", "compact", "rebase", "undo", "resolve"}:
        apply(base)
    if job in {"rebuild", "rebase", "resolve"}:
        export(base)
    if job in {"rebase", "resolve"}:
        change(base)
    if job == "resolve":
        sync(base)
    before = digest_in(start)
    file_before = (start / "graphify-out/graph.json").read_bytes()

    done = tmp_path / "done"
    shutil.copytree(start, done)
    log = tmp_path / "steps"
    assert run_job(job, done, 0, log) == 0
    after = digest_in(done)
    file_after = (done / "graphify-out/graph.json").read_bytes()
    names = log.read_text(encoding="utf-8").splitlines()
    assert len(names) > 5

    for at in chosen_steps(job, names)[part::parts]:
        root = tmp_path / f"kill-{at}"
        shutil.copytree(start, root)
        where = f"{job} killed before step {at}, {names[at - 1]}"
        assert run_job(job, root, at, tmp_path / "ignored") == -signal.SIGKILL, where
        content = (root / "graphify-out/graph.json").read_bytes()
        assert content in {file_before, file_after} or json.loads(content) == json.loads(file_after), where
        assert digest_in(root) in {before, after}, where
        if knowledge_base(root).has_store():
            report = check(knowledge_base(root))
            assert report.healthy, (where, report)
        finish(job, root)
        assert digest_in(root) == after, where
        assert check(knowledge_base(root)).healthy, where
        shutil.rmtree(root)


def change(base: KnowledgeBase) -> None:
    """Write the file that another run of graphify makes: without what the refinement did, and without an entity."""
    graph = small_graph()
    graph["nodes"] = [node for node in graph["nodes"] if node["id"] != "cache"]
    base.project.graph_json.write_text(json.dumps(graph), encoding="utf-8")


def finish(job: str, root: Path) -> None:
    """Do what a person does next: run the command again."""
    base = knowledge_base(root)
    if job == "sync":
        sync(base)
    elif job == "apply":
        if not base.log().refinements():
            apply(base)
    elif job == "rebuild":
        assert rebuild(base).healthy
    elif job == "compact":
        compact(base)
    elif job == "rebase":
        sync(base)
    elif job == "undo":
        if base.log().active():
            undo_first(base)
    elif job == "resolve":
        if conflicts(base):
            resolve_first(base)
    else:
        assert export(base).file_digest == digest_in(root)
        assert not list((root / "graphify-out").rglob("*.tmp"))
