"""kill -9 of the real command at any moment: what comes next finds a healthy store and a whole graph.json."""

from __future__ import annotations

import random
import shutil
import subprocess
import time
from pathlib import Path

import pytest

from deeprefine_graphdb.project.knowledge_base import KnowledgeBase
from deeprefine_graphdb.project.paths import ProjectPaths
from tests.acceptance.harness import NO, Base, lantern, real_graph
from tests.support.openai_server import OpenAIServer, by_stage

pytestmark = [pytest.mark.slow, pytest.mark.engine]

TRIES = 5
QUESTION = "What happens after place_order() publishes order.placed?"
ACTIONS = (
    'insert_edge("daily_report()", "counts_in", "Evening ledger")|delete_edge("daily_report()", "calls", "total()")'
    '|replace_node("Psp", "PaymentProvider")'
)
ABDUCTION = "<abduction>nobody says which</abduction>"
APPLY = ("apply", "--refinement-file", "actions.txt", "--skip-trace-check", "--allow-low-confidence")
COMMANDS: dict[str, tuple[str, ...]] = {
    "sync": ("sync",),
    "apply": APPLY,
    "export": ("export",),
    "refine": ("refine", "--query", QUESTION),
}


@pytest.mark.parametrize("command", COMMANDS)
def test_a_command_that_is_killed_at_any_moment_leaves_a_healthy_store(command: str, tmp_path: Path) -> None:
    start = real_graph(tmp_path / "start") if command == "sync" else lantern(tmp_path / "start")
    start.actions(ACTIONS)
    if command != "sync":
        start("sync")
    if command == "export":
        start(*APPLY)
    before = start.graph.read_bytes()
    answers = by_stage([NO], ABDUCTION, f"<refinement>{ACTIONS}</refinement>")
    with OpenAIServer(answers) as server:
        whole = moved(start, tmp_path / "whole", server)
        began = time.monotonic()
        whole(*COMMANDS[command])
        takes = time.monotonic() - began
        graphs = {before, whole.graph.read_bytes()}
        seed = random.SystemRandom().randrange(1 << 30)
        chance = random.Random(seed)
        killed = 0
        for number in range(TRIES):
            base = moved(start, tmp_path / f"try-{number}", server)
            delay = takes * (number + chance.random()) / TRIES
            where = f"{command} killed after {delay:.3f} of {takes:.3f} seconds (seed {seed})"
            process = base.start(*COMMANDS[command])
            try:
                process.wait(delay)
            except subprocess.TimeoutExpired:
                process.kill()
                killed += 1
            process.communicate(timeout=60)
            assert base.graph.read_bytes() in graphs, where
            base("status", "--json")
            assert base("doctor", "--json").data["healthy"], where
            finish(command, base, where)
            shutil.rmtree(base.root)
    assert killed > 0


def moved(start: Base, root: Path, server: OpenAIServer) -> Base:
    """Copy a knowledge base to another folder, with a model that answers."""
    shutil.copytree(start.root, root)
    return Base(root, {"DEEPREFINE_LLM_URL": server.url})


def finish(command: str, base: Base, where: str) -> None:
    """Do what a person does next, which is to give the command again, and hold that nothing is lost or doubled."""
    repeated = base.start(*COMMANDS[command])
    out, err = repeated.communicate(timeout=120)
    proposed = command == "refine"
    fitting = {"apply": (0, 3), "refine": (0, 3)}.get(command, (0,))
    assert repeated.returncode in fitting, (where, out, err)
    log = KnowledgeBase(ProjectPaths(base.root), base.store, 5.0).log()
    assert len(log.refinements()) == (command in {"apply", "export"}), where
    assert len(log.proposals()) == (command != "sync"), where
    assert [each.state for each in log.proposals()] == (
        ["open"] if proposed else ["applied"] * (command != "sync")
    )
    assert len(log.traces()) == proposed, where
    assert not list(base.out.glob("*.tmp")), where
