"""What-if in processes of its own: others write while the model thinks, and one that is killed goes on."""

from __future__ import annotations

import json
import subprocess
from pathlib import Path
from typing import Any

import pytest

from tests.acceptance.harness import NO, YES, Base, lantern
from tests.support.openai_server import Answer, OpenAIServer, Request, by_stage

pytestmark = [pytest.mark.slow, pytest.mark.engine]

QUESTION = "What happens after place_order() publishes order.placed?"
ABDUCTION = "<abduction>Incompleteness: nobody says who listens.</abduction>"
REFINEMENT = '<refinement>insert_edge("place_order()", "triggers", "charge_customer()")</refinement>'


@pytest.fixture
def base(tmp_path: Path) -> Base:
    return lantern(tmp_path)


def judged(server: OpenAIServer) -> int:
    return server.stages.count("judgement")


def only(report: dict[str, Any]) -> dict[str, Any]:
    (question,) = report["questions"]
    assert isinstance(question, dict)
    return question


@pytest.mark.parametrize("meaning", [False, True])
def test_another_process_applies_while_the_model_thinks(base: Base, meaning: bool) -> None:
    script = by_stage([NO], ABDUCTION, REFINEMENT)
    others: list[str] = []

    def respond(request: Request) -> Answer | str:
        if request.stage == "judgement" and judged(server) in {5, 6}:
            number = judged(server)
            action = f'insert_edge("place_order()", "publishes_order", "What happens {number}")'
            done = base.apply(action, "--wait", "0", name=f"other-{number}.txt")
            others.append(done.data["refinement"]["id"])
        return script(request)

    with OpenAIServer(respond) as server:
        db = base.with_env(DEEPREFINE_LLM_URL=server.url)
        if meaning:
            db = db.with_env(DEEPREFINE_EMBED_URL=server.url, DEEPREFINE_EMBED_MODEL="words")
        result = only(db("refine", "--query", QUESTION, "--json").data)
        assert judged(server) == 8
        second = server.chats[7].user
    assert len(others) == 2
    found = result["review"]["what_if"]
    assert (found["missing"], found["hops_after"], found["actions"]) == ("", 4, [1])
    if meaning:
        assert server.embeddings[-1].body["input"] == ["place_order() triggers charge_customer()"]
    else:
        assert "What happens 5" in second, "the proposal was not laid over what the other had applied"
        assert "triggers | charge_customer()" in second
    assert {entry["id"] for entry in base("log", "--json").data} == set(others)
    base("apply", result["proposal_id"])
    base.healthy()


def test_one_that_is_killed_goes_on_and_nothing_is_paid_twice(base: Base) -> None:
    running: list[subprocess.Popen[str]] = []
    script = by_stage([NO, NO, NO, NO, NO, YES], ABDUCTION, REFINEMENT)

    def respond(request: Request) -> Answer | str:
        if len(server.chats) == 8 and running:
            running.pop().kill()
        return script(request)

    with OpenAIServer(respond) as server:
        db = base.with_env(DEEPREFINE_LLM_URL=server.url)
        base("sync")
        process = db.start("refine", "--query", QUESTION)
        running.append(process)
        process.communicate(timeout=60)
        assert server.stages == ["judgement"] * 4 + ["abduction", "refinement"] + ["judgement"] * 2
        base.healthy()
        result = only(db("refine", "--query", QUESTION, "--json").data)
        assert server.stages[8:] == ["judgement"]
        assert server.chats[8].messages == server.chats[7].messages
        found = result["review"]["what_if"]
        assert (found["after"], found["missing"]) == (2, "")

        again = json.loads(base("review", result["proposal_id"], "--json").out)["what_if"]
        assert again == found
    base.healthy()


def test_a_review_that_is_killed_in_its_what_if_goes_on_too(base: Base) -> None:
    running: list[subprocess.Popen[str]] = []
    script = by_stage([NO, NO, NO, NO, NO, YES], ABDUCTION, REFINEMENT)

    def respond(request: Request) -> Answer | str:
        if len(server.chats) == 8:
            running.pop().kill()
        return script(request)

    with OpenAIServer(respond) as server:
        db = base.with_env(DEEPREFINE_LLM_URL=server.url)
        result = only(db("refine", "--query", QUESTION, "--no-what-if", "--json").data)
        process = db.start("review", result["proposal_id"], "--what-if")
        running.append(process)
        process.communicate(timeout=60)
        assert len(server.chats) == 8
        assert db("review", result["proposal_id"], "--what-if", "--json").data["what_if"]["after"] == 2
        assert len(server.chats) == 9
        assert server.chats[8].messages == server.chats[7].messages
    assert not list(base.ours.glob("what_if_*"))
    base.healthy()
