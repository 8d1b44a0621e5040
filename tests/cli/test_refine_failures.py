"""Whatever befalls one question of a run: the others go on, what was paid is kept, and nothing fails for ever."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from deeprefine_graphdb.loop.trace import query_id
from deeprefine_graphdb.model.errors import StatementError
from deeprefine_graphdb.project.knowledge_base import KnowledgeBase
from deeprefine_graphdb.project.proposals import record_trace
from tests.cli.conftest import Cli
from tests.support.openai_server import Answer, OpenAIServer, Request, by_stage

pytestmark = pytest.mark.engine

YES, NO = "<judge>Yes</judge>", "<judge>No</judge>"
ODD = "what is the odd question?"
EVEN = "what does place_order() call?"


@pytest.fixture
def asked(synced: Path, cli: Cli) -> Path:
    """Make a knowledge base with two questions, the odd one first."""
    for question in (ODD, EVEN):
        cli("history", "add", "--query", question)
    return synced / "graphify-out" / ".deeprefine"


def outcomes(cli: Cli, code: int) -> dict[str, dict[str, Any]]:
    return {each["question"]: each for each in cli("refine", "--json", code=code).data["questions"]}


def trace(folder: Path) -> Path:
    return folder / f"loop_trace_{query_id(ODD)}.json"


def test_an_odd_answer_fails_its_question_with_6(
    asked: Path, cli: Cli, monkeypatch: pytest.MonkeyPatch
) -> None:
    def respond(request: Request) -> Answer | str:
        return Answer(body=json.dumps({"choices": [{"message": None}]})) if ODD in request.user else YES

    with OpenAIServer(respond) as server:
        monkeypatch.setenv("DEEPREFINE_LLM_URL", server.url)
        found = outcomes(cli, 6)
    assert found[ODD]["outcome"] == "failed"
    assert "not a chat completion" in found[ODD]["error"]
    assert found[EVEN]["outcome"] == "early_exit"


def test_absurd_counts_of_tokens_are_recorded_as_none(
    asked: Path, cli: Cli, monkeypatch: pytest.MonkeyPatch
) -> None:
    message = {"role": "assistant", "content": YES}
    usage = {"prompt_tokens": -5, "completion_tokens": 1e30}
    body = json.dumps({"choices": [{"finish_reason": "stop", "message": message}], "usage": usage})
    with OpenAIServer(lambda _: Answer(body=body)) as server:
        monkeypatch.setenv("DEEPREFINE_LLM_URL", server.url)
        found = outcomes(cli, 0)
    assert {each["tokens_in"] + each["tokens_out"] for each in found.values()} == {0}
    cli("audit", "verify")


def test_the_longest_answer_is_stored(asked: Path, cli: Cli, monkeypatch: pytest.MonkeyPatch) -> None:
    long = f"<abduction>{'because ' * 100_000}\x00</abduction>"
    with OpenAIServer(by_stage([NO], abduction=long, refinement="<refinement></refinement>")) as server:
        monkeypatch.setenv("DEEPREFINE_LLM_URL", server.url)
        assert {each["outcome"] for each in outcomes(cli, 0).values()} == {"nothing"}
    cli("audit", "verify")


def fail_for_the_odd_one(monkeypatch: pytest.MonkeyPatch, error: Exception) -> None:
    from deeprefine_graphdb.project import refine

    def broken(base: KnowledgeBase, trace: Any) -> Any:
        if trace.query == ODD:
            raise error
        return record_trace(base, trace)

    monkeypatch.setattr(refine, "record_trace", broken)


def test_a_trace_that_no_store_takes_is_set_aside(
    asked: Path, cli: Cli, monkeypatch: pytest.MonkeyPatch
) -> None:
    with OpenAIServer(by_stage([YES])) as server:
        monkeypatch.setenv("DEEPREFINE_LLM_URL", server.url)
        with monkeypatch.context() as broken:
            fail_for_the_odd_one(broken, StatementError("The parameter x must be INT64."))
            found = outcomes(cli, 1)
        assert "must be INT64" in found[ODD]["error"]
        assert "asks anew" in found[ODD]["error"]
        assert found[EVEN]["outcome"] == "early_exit"
        assert not trace(asked).exists()
        assert trace(asked).with_suffix(".unstorable.json").exists()
        server.requests.clear()
        assert outcomes(cli, 0)[ODD]["outcome"] == "early_exit"
        assert len(server.chats) == 1


@pytest.mark.parametrize(
    ("error", "said"),
    [
        (RuntimeError("boom"), "RuntimeError: boom. This was not foreseen"),
        (
            OSError(28, "No space left on device", "/some/file"),
            "/some/file cannot be used: No space left on device.",
        ),
    ],
)
def test_what_could_not_be_recorded_is_recorded_by_the_next_run(
    asked: Path, cli: Cli, monkeypatch: pytest.MonkeyPatch, error: Exception, said: str
) -> None:
    with OpenAIServer(by_stage([YES])) as server:
        monkeypatch.setenv("DEEPREFINE_LLM_URL", server.url)
        with monkeypatch.context() as broken:
            fail_for_the_odd_one(broken, error)
            found = outcomes(cli, 1)
        assert found[ODD]["error"].startswith(said)
        assert str(trace(asked)) in found[ODD]["error"]
        assert found[EVEN]["outcome"] == "early_exit"
        server.requests.clear()
        assert outcomes(cli, 0)[ODD]["outcome"] == "early_exit"
        assert server.chats == []


@pytest.mark.parametrize("text", ["{", "[" * 100_000, "[]", '{"query": 5}'])
def test_a_damaged_trace_stops_its_own_question_and_is_named(
    asked: Path, cli: Cli, monkeypatch: pytest.MonkeyPatch, text: str
) -> None:
    trace(asked).write_text(text, encoding="utf-8")
    with OpenAIServer(by_stage([YES])) as server:
        monkeypatch.setenv("DEEPREFINE_LLM_URL", server.url)
        found = outcomes(cli, 1)
    assert str(trace(asked)) in found[ODD]["error"]
    assert "move it away" in found[ODD]["error"]
    assert found[EVEN]["outcome"] == "early_exit"
    assert trace(asked).read_text(encoding="utf-8") == text


def test_a_proposal_whose_work_is_done_ends_with_3(
    synced: Path, cli: Cli, monkeypatch: pytest.MonkeyPatch
) -> None:
    graph = json.loads((synced / "graphify-out" / "graph.json").read_bytes())
    label = {node["id"]: node["label"] for node in graph["nodes"]}
    link = graph["links"][0]
    action = f'insert_edge("{label[link["source"]]}", "{link["relation"]}", "{label[link["target"]]}")'
    with OpenAIServer(by_stage([NO], refinement=f"<refinement>{action}</refinement>")) as server:
        monkeypatch.setenv("DEEPREFINE_LLM_URL", server.url)
        ended = cli("refine", "--query", ODD, "--apply", "--json", code=3)
    assert "done already" in ended.data["questions"][0]["error"]


def test_an_action_file_that_cannot_be_read_is_named_with_the_line(synced: Path, cli: Cli) -> None:
    actions = synced / "actions.txt"
    flags = ("--refinement-file", actions, "--skip-trace-check")
    for text, said in (
        (
            '\n<refinement>\ninsert_edge("a", "b")</refinement>',
            "line 3: Action 1 (insert_edge) has 2 arguments",
        ),
        (
            '<refinement>delete_edge("a")</refinement>',
            "line 1: Action 1 (delete_edge) has 1 argument and not 3 or 4",
        ),
        ("nothing", "line 1: There is no <refinement>"),
    ):
        actions.write_text(text, encoding="utf-8")
        assert f"{actions}, {said}" in cli("apply", *flags, code=4).err


def test_a_dry_run_tells_a_merge_from_a_rename_and_why_an_action_is_stuck(synced: Path, cli: Cli) -> None:
    graph = json.loads((synced / "graphify-out" / "graph.json").read_bytes())
    label = {node["id"]: node["label"] for node in graph["nodes"]}
    link = graph["links"][0]
    a, relation, b = label[link["source"]], link["relation"], label[link["target"]]
    actions = synced / "actions.txt"
    flags = ("--refinement-file", actions, "--skip-trace-check", "--allow-low-confidence", "--dry-run")
    for new, kind in (("Something new", "rename"), (b, "merge")):
        actions.write_text(f'<refinement>replace_node("{a}", "{new}")</refinement>', encoding="utf-8")
        assert cli("apply", *flags, "--json").data[0]["kind"] == kind
    twice = f'delete_edge("{a}", "{relation}", "{b}")|delete_edge(" {a}", "{relation}", "{b}")'
    actions.write_text(f"<refinement>{twice}</refinement>", encoding="utf-8")
    told = cli("apply", *flags, code=4).err
    assert "Action 2" in told
    assert "After the actions before it: There is no edge" in told


def test_the_files_of_a_waiting_proposal_are_written_again(
    asked: Path, cli: Cli, monkeypatch: pytest.MonkeyPatch
) -> None:
    refinement = '<refinement>insert_edge("place_order()", "triggers", "charge_customer()")</refinement>'
    with OpenAIServer(by_stage([NO], refinement=refinement)) as server:
        monkeypatch.setenv("DEEPREFINE_LLM_URL", server.url)
        assert {each["outcome"] for each in outcomes(cli, 0).values()} == {"proposed"}
        lost = [path for path in asked.glob("proposed_refinement_*") if query_id(ODD) in path.name]
        texts = {path: path.read_text(encoding="utf-8") for path in lost}
        assert len(lost) == 3
        for path in lost:
            path.unlink()
        assert {each["outcome"] for each in outcomes(cli, 3).values()} == {"waiting"}
    assert {path: path.read_text(encoding="utf-8") for path in lost} == texts
