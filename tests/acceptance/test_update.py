"""`update` with the real graphify: nothing of what it makes and no refinement is lost, whatever is killed when."""

from __future__ import annotations

import json
import os
import shutil
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from tests.acceptance.harness import LIMIT, Base, environment

pytestmark = [pytest.mark.slow, pytest.mark.engine]

SOURCES = {
    "pkg/a.py": "from pkg.b import Helper\nclass Pool:\n    def get(self): return Helper().run()\n",
    "pkg/b.py": "class Helper:\n    def run(self): return 1\nclass Unused: pass\nclass Spare: pass\n",
}
ACTIONS = (
    'insert_edge("Pool", "guards", "Helper")|insert_edge("Pool", "explained by", "Pool concept")'
    '|delete_edge("a.py", "contains", "Pool")|replace_node("Unused", "Obsolete")|replace_node("Spare", "Helper")'
)


def graphify(base: Base, *arguments: str) -> None:
    program = shutil.which("graphify", path=str(Path(sys.executable).parent))
    assert program is not None
    subprocess.run([program, *arguments], cwd=base.root, env=environment(), capture_output=True, check=True)


def tree(root: Path) -> Base:
    for name, text in SOURCES.items():
        (root / name).parent.mkdir(parents=True, exist_ok=True)
        (root / name).write_text(text, encoding="utf-8")
    base = Base(root)
    graphify(base, "update", ".")
    return base


def edit(base: Base) -> None:
    with (base.root / "pkg/b.py").open("a", encoding="utf-8") as stream:
        stream.write("class Late(Helper):\n    def more(self): return self.run()\n")


@pytest.fixture
def base(tmp_path: Path) -> Base:
    made = tree(tmp_path / "kb")
    made("sync")
    made.apply(ACTIONS, "--export")
    return made


def test_an_update_is_graphify_on_the_base_and_the_refinements_on_that(base: Base, tmp_path: Path) -> None:
    exported = base.graph.read_bytes()
    assert base("--json", "update").data["sync"]["outcome"] == "unchanged"
    assert base.graph.read_bytes() == exported
    shutil.copytree(base.root, tmp_path / "twin" / "kb")
    twin = Base(tmp_path / "twin" / "kb")
    kept = next((twin.out / ".deeprefine/store").glob("gen-*/base.json"))
    twin.graph.write_bytes(kept.read_bytes())
    for each in (base, twin):
        edit(each)
    graphify(twin, "update", ".")
    done = base("update", "--force")
    assert "0 in conflict" in done.out
    labels = {node["label"] for node in json.loads(base.graph.read_bytes())["nodes"]}
    assert {"Late", "Obsolete", "Pool concept"} <= labels
    assert not {"Unused", "Spare"} & labels
    base("doctor")
    (refinement,) = base("log", "--json").data
    base("undo", refinement["id"])
    base("export")
    assert base.graph.read_bytes() == twin.graph.read_bytes()


def test_when_graphify_fails_the_file_is_as_it_was(base: Base) -> None:
    exported = base.graph.read_bytes()
    base("update", "no/such/folder", code=1)
    assert base.graph.read_bytes() == exported
    assert base("status", "--json").data["file"] == "current"
    base("doctor")


@pytest.mark.parametrize("after", [0.8, 2.6])
def test_after_a_kill_at_any_moment_the_next_update_is_right(base: Base, after: float) -> None:
    edit(base)
    process = base.start("update")
    time.sleep(after)
    process.send_signal(signal.SIGKILL)
    process.communicate(timeout=LIMIT)
    goes_on(base)


@pytest.mark.parametrize("step", ["run graphify+0", "run graphify+1", "run graphify+40"])
def test_after_a_kill_around_graphify_the_next_update_is_right(base: Base, step: str, tmp_path: Path) -> None:
    edit(base)
    command = [sys.executable, "-m", "tests.support.killer", step, str(tmp_path / "steps"), "real-update"]
    env = environment(DEEPREFINE_TEST_ENGINE=os.environ.get("DEEPREFINE_TEST_ENGINE", "kuzu"))
    done = subprocess.run([*command, str(base.root)], env=env, capture_output=True, check=False)
    assert done.returncode == -signal.SIGKILL
    goes_on(base)


def goes_on(base: Base) -> None:
    """Hold that a sync and an update are right after an update that was killed, once graphify has ended."""
    deadline = time.monotonic() + LIMIT
    while (waiting := base.start("sync")).communicate() and waiting.returncode == 5:
        assert time.monotonic() < deadline, "graphify does not end"
        time.sleep(0.2)
    assert waiting.returncode == 0
    base("doctor")
    base("update")
    labels = {node["label"] for node in json.loads(base.graph.read_bytes())["nodes"]}
    assert {"Late", "Obsolete", "Pool concept"} <= labels
    assert not {"Unused", "Spare"} & labels
    base("doctor")
    base("export", "--check")
