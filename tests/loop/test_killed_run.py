"""A process that is killed with SIGKILL while a model is thinking goes on at that very prompt."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

from deeprefine_graphdb.loop.trace import load_trace
from tests.support.openai_server import OpenAIServer, Request, by_stage

ROOT = Path(__file__).parents[2]
QUESTION = "what calls n2?"


@pytest.mark.slow
@pytest.mark.parametrize("deadly", [1, 3, 5, 6])
def test_killed_run_pays_for_no_answer_twice(tmp_path: Path, deadly: int) -> None:
    path = tmp_path / "loop_trace.json"
    child: list[subprocess.Popen[bytes]] = []
    script = by_stage(["<judge>No</judge>"])

    def respond(request: Request) -> str:
        if len(server.chats) == deadly:
            child[-1].kill()
            child[-1].wait(20)
        return str(script(request))

    def start() -> subprocess.Popen[bytes]:
        command = [sys.executable, "-m", "tests.support.loop_child", server.url, str(path), QUESTION]
        child.append(subprocess.Popen(command, cwd=ROOT, stdout=subprocess.DEVNULL))
        return child[-1]

    with OpenAIServer(respond) as server:
        assert start().wait(60) != 0
        trace = load_trace(path)
        assert len(trace.calls) == deadly - 1
        assert trace.refinement_raw is None
        assert start().wait(60) == 0
        asked = server.stages
    everything = ["judgement"] * 4 + ["abduction", "refinement"]
    assert asked == [*everything[:deadly], *everything[deadly - 1 :]]
    assert server.chats[deadly - 1].messages == server.chats[deadly].messages
    finished = load_trace(path)
    assert len(finished.calls) == 6
    assert finished.early_exit is False
    assert [entry.name for entry in tmp_path.iterdir()] == ["loop_trace.json"]
