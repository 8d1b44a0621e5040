"""kill -9 of an update before each of its durable steps, or while graphify runs: the next command goes on by itself."""

from __future__ import annotations

import os
import shutil
import signal
import subprocess
import sys
import time
from contextlib import suppress
from pathlib import Path
from typing import Any

import pytest

from deeprefine_graphdb.graph.render import graph_digest
from deeprefine_graphdb.model.errors import GraphChanged, StoreLocked
from deeprefine_graphdb.project.conflicts import conflicts
from deeprefine_graphdb.project.doctor import check
from deeprefine_graphdb.project.export import check_export, export
from deeprefine_graphdb.project.interrupted import update_lock
from deeprefine_graphdb.project.knowledge_base import KnowledgeBase
from deeprefine_graphdb.project.settings import load_settings
from deeprefine_graphdb.project.status import status
from deeprefine_graphdb.project.sync import sync
from deeprefine_graphdb.project.undo import undo
from tests.support.jobs import STAND_IN, apply, knowledge_base, make_root, small_graph, update_quickly

pytestmark = pytest.mark.slow
REPOSITORY = Path(__file__).resolve().parents[2]
EVERY_STEP = bool(os.environ.get("DEEPREFINE_TEST_EVERY_STEP"))
NEXT = ("export", "sync", "update", "what status says")


def run_job(job: str, root: Path, at: int, log: Path, **more: str) -> int:
    command = [sys.executable, "-m", "tests.support.killer", str(at), str(log), job, str(root)]
    done = subprocess.run(
        command, cwd=REPOSITORY, check=False, capture_output=True, timeout=120, env={**os.environ, **more}
    )
    return done.returncode


def graph_with_an_idle_node() -> dict[str, Any]:
    graph = small_graph()
    graph["nodes"].append({"id": "idle", "label": "Idle", "source_file": "src/Idle.py"})
    return graph


class Case:
    """A knowledge base before an update and after it, every file that graph.json may be, and the steps between."""

    def __init__(self, folder: Path) -> None:
        self.folder, self.start = folder, folder / "start"
        base = make_root(self.start, graph_with_an_idle_node())
        self.given = content(base)
        sync(base)
        apply(base)
        export(base)
        self.made = graphified(folder / "made", self.given)
        done = folder / "done"
        shutil.copytree(self.start, done)
        log = folder / "steps"
        assert run_job("update", done, 0, log) == 0
        after = knowledge_base(done)
        self.before, self.after = digest(base), digest(after)
        self.files = {content(base), self.given, self.made, content(after)}
        assert len(self.files) == len({self.before, self.after}) * 2
        self.exported = content(after)
        self.names = log.read_text(encoding="utf-8").splitlines()

    def fresh(self, name: str) -> KnowledgeBase:
        shutil.copytree(self.start, self.folder / name)
        return knowledge_base(self.folder / name)

    def goes_on(self, base: KnowledgeBase, command: str, where: str) -> None:
        """Hold what a kill has left, give the next command, and hold that nothing is lost or done twice."""
        assert digest(base) in {self.before, self.after}, where
        follow(base, command, where)
        assert digest(base) in {self.before, self.after}, where
        assert base.log().updating() is None, where
        assert check(base).healthy, where
        if command == "export":
            self.takes_graphify_run_by_itself(base, where)
            return
        update_quickly(base)
        assert content(base) == self.exported, where
        assert digest(base) == self.after, where
        assert len(base.log().refinements()) == len(base.log().active()) == 1, where
        assert conflicts(base) == [], where
        assert check(base).healthy, where
        assert not base.project.before_update.exists(), where
        assert not [*base.project.out.glob("*.tmp"), *base.project.deeprefine.glob("*.tmp")], where

    def takes_graphify_run_by_itself(self, base: KnowledgeBase, where: str) -> None:
        """Run graphify on the exported file, without us: nothing of ours may become part of the base."""
        check_export(base)
        base.project.graph_json.write_bytes(graphified(base.project.root / "by-itself", content(base)))
        sync(base)
        undo(base, list(base.log().active()), by="t")
        export(base)
        assert content(base) == self.made, where


def content(base: KnowledgeBase) -> bytes:
    return base.project.graph_json.read_bytes()


def digest(base: KnowledgeBase) -> str:
    with base.open("read") as store:
        return graph_digest(store)


def wait_for_graphify(base: KnowledgeBase) -> None:
    """Wait for a graphify that has outlived the update that started it."""
    for _ in range(600):
        with suppress(StoreLocked), update_lock(base):
            return
        time.sleep(0.1)
    pytest.fail("graphify does not end")


def graphified(folder: Path, graph: bytes) -> bytes:
    """Give what the stand-in for graphify makes of a graph.json."""
    base = make_root(folder, graph)
    subprocess.run([STAND_IN], cwd=folder, check=True)
    return content(base)


def follow(base: KnowledgeBase, command: str, where: str) -> None:
    """Give a command, or what the status names, until there is nothing to do for it."""
    if command == "sync":
        sync(base)
    elif command == "update":
        update_quickly(base)
    elif command == "export":
        try:
            export(base)
        except GraphChanged:
            sync(base)
            export(base)
    else:
        for _ in range(4):
            report = status(base, load_settings(base.project, {}, {}))
            if " refine" in report.next:
                assert report.file == "current", where
                return
            if report.next == "deeprefine-db sync":
                sync(base)
            else:
                assert report.next == "deeprefine-db export", where
                export(base)
        pytest.fail(f"{where}: status goes round in circles")


@pytest.fixture(scope="module")
def case(tmp_path_factory: pytest.TempPathFactory) -> Case:
    return Case(tmp_path_factory.mktemp("update"))


def chosen_steps(names: list[str]) -> list[int]:
    """Give the steps of the swap, and some of what is a sync and an export, whose own are killed one by one."""
    if EVERY_STEP:
        return list(range(1, len(names) + 1))
    started = next(at for at, name in enumerate(names, start=1) if name.startswith("run "))
    return [
        *range(3, started - 12, 3),
        *range(started - 12, started + 1),
        *range(started + 5, len(names), 11),
    ]


@pytest.mark.parametrize("part", range(2))
def test_a_kill_before_any_step_of_an_update(case: Case, part: int) -> None:
    for number, at in list(enumerate(chosen_steps(case.names)))[part::2]:
        base = case.fresh(f"kill-{at}")
        command = NEXT[number % len(NEXT)]
        where = f"update killed before step {at}, {case.names[at - 1]}; then {command}"
        assert run_job("update", base.project.root, at, case.folder / "ignored") == -signal.SIGKILL, where
        assert content(base) in case.files, where
        case.goes_on(base, command, where)
        shutil.rmtree(base.project.root)


@pytest.mark.parametrize(
    ("when", "command"),
    [
        ("torn", "update"),
        ("torn", "export"),
        ("after", "sync"),
        ("after", "export"),
        ("after", "what status says"),
    ],
)
def test_a_kill_while_graphify_runs(case: Case, when: str, command: str) -> None:
    base = case.fresh(f"{when} {command}")
    code = run_job("update", base.project.root, 0, case.folder / "ignored", DEEPREFINE_TEST_KILL=when)
    assert code == -signal.SIGKILL
    wait_for_graphify(base)
    assert (content(base) in case.files) == (when != "torn")
    case.goes_on(base, command, f"killed {when} graphify wrote; then {command}")
