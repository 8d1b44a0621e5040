"""A real ``refine`` talks over HTTP to a server that speaks the OpenAI protocol: every way a question can go."""

from __future__ import annotations

import json
import subprocess
import sys
import threading
import time
from collections.abc import Iterable
from pathlib import Path
from typing import Any

import pytest
from deeprefine_skill.agent_loop import validate_trace

from tests.acceptance.harness import NO, YES, Base, by_question, environment, lantern, query_id
from tests.support.openai_server import Answer, OpenAIServer, Request, by_stage, in_order

pytestmark = pytest.mark.slow

CHAIN = "What happens after place_order() publishes order.placed?"
FILES = "Which file contains the Order class?"
MONEY = "Who charges the customer?"
ABDUCTION = "<abduction>Incompleteness: nobody says who listens.</abduction>"
REFINEMENT = '<refinement>insert_edge("place_order()", "triggers", "charge_customer()")</refinement>'
LOW = '<refinement>insert_edge("place_order()", "notifies", "unknown")</refinement>'
ANSWERED = ("judgement", "abduction", "refinement")
COLUMNS = {
    "query", "query_id", "early_exit", "hops", "answerable", "abduction", "actions", "applied", "refinement_id",
    "model", "tokens_in", "tokens_out", "seconds", "ts",
}  # fmt: skip


@pytest.fixture
def base(tmp_path: Path) -> Base:
    return lantern(tmp_path)


def asking(base: Base, server: OpenAIServer, **more: str) -> Base:
    return base.with_env(DEEPREFINE_LLM_URL=server.url, DEEPREFINE_MODEL="scripted", **more)


def only(report: dict[str, Any]) -> dict[str, Any]:
    (question,) = report["questions"]
    assert isinstance(question, dict)
    return question


def trace_of(base: Base, question: str) -> dict[str, Any]:
    """Give a question's trace, after the skill's own command and ours have found it valid."""
    path = base.file("loop_trace_{}.json", question)
    actions = base.file("proposed_refinement_actions_{}.txt", question)
    trace: dict[str, Any] = json.loads(path.read_text(encoding="utf-8"))
    text = actions.read_text(encoding="utf-8") if actions.exists() else None
    assert validate_trace(trace, refinement_text=text) == []
    folder = Path(sys.executable).parent
    program = next(each for each in (folder / "deeprefine", folder / "deeprefine.exe") if each.exists())
    command: list[str | Path] = [program, "loop", "validate", "--trace-file", path]
    command += ["--refinement-file", actions] if text is not None else []
    skill = subprocess.run(
        command,
        cwd=base.root,
        env=environment(),
        capture_output=True,
        encoding="utf-8",
        check=False,
        timeout=60,
    )
    assert skill.returncode == 0, skill.stdout + skill.stderr
    return trace


def steps_said(err: str) -> list[str]:
    return [line for line in err.splitlines() if line.startswith(("[Step", "<judge>"))]


def test_a_question_that_the_graph_answers_at_once_costs_one_call(base: Base) -> None:
    with OpenAIServer(in_order(YES)) as server:
        db = asking(base, server)
        done = db("refine", "--query", FILES, "--json")
        assert server.stages == ["judgement"]
        assert FILES in server.chats[0].user
        again = db.refused("refine", "--query", FILES, code=3)
        assert "refined already" in again
        db.refused("refine", code=3)
        assert len(server.requests) == 1
    result = only(done.data)
    assert (result["outcome"], result["hops"], result["answerable"]) == ("early_exit", 1, True)
    assert steps_said(done.err) == ["[Step: 1]", YES]
    assert "lexical" in done.err
    assert trace_of(base, FILES)["early_exit"] is True
    assert base.marked() == {FILES: True}
    assert not list(base.ours.glob("proposed_*"))
    (row,) = base.results()
    assert set(row) == COLUMNS
    assert (row["query_id"], row["early_exit"], row["hops"], row["applied"]) == (
        query_id(FILES),
        True,
        1,
        False,
    )
    assert (row["tokens_in"], row["tokens_out"], row["model"]) == (11, 7, "scripted")


def test_yes_at_hop_three_ends_in_a_proposal_that_changes_nothing_until_it_is_applied(base: Base) -> None:
    before = base.graph.read_bytes()
    with OpenAIServer(in_order(NO, NO, YES, ABDUCTION, REFINEMENT)) as server:
        db = asking(base, server)
        done = db("refine", "--query", CHAIN, "--no-what-if", "--json")
        assert server.stages == ["judgement"] * 3 + ["abduction", "refinement"]
        assert "waits for a decision" in db("refine", "--query", CHAIN, code=3).err
        db("refine", code=3)
        assert len(server.requests) == 5
    assert "listen to it" in server.chats[-1].user, "the source text is not in the prompt"
    result = only(done.data)
    assert (result["outcome"], result["hops"], result["answerable"]) == ("proposed", 3, True)
    assert [call["stage"] for call in result["calls"]] == server.stages
    assert all(call["tokens_in"] == 11 and call["seconds"] > 0 for call in result["calls"])
    assert steps_said(done.err) == ["[Step: 1]", NO, "[Step: 2]", NO, "[Step: 3]", YES]

    trace = trace_of(base, CHAIN)
    assert [step["answerable"] for step in trace["interaction_history"]] == [False, False, True]
    assert trace["early_exit"] is False
    assert trace["error_abduction_reason"] == "Incompleteness: nobody says who listens."
    action = 'insert_edge("place_order()", "triggers", "charge_customer()")'
    proposed = base.file("proposed_refinement_actions_{}.txt", CHAIN).read_text(encoding="utf-8")
    assert proposed == f"<refinement>{action}</refinement>\n"
    review = json.loads(base.file("proposed_refinement_review_{}.json", CHAIN).read_text(encoding="utf-8"))
    assert (review["proposal_id"], review["query"]) == (result["proposal_id"], CHAIN)
    assert [each["label"] for each in review["actions"]] == ["HIGH"]
    readable = base.file("proposed_refinement_review_{}.md", CHAIN).read_text(encoding="utf-8")
    assert CHAIN in readable.replace("\\", "")
    assert "HIGH" in readable
    (row,) = base.results()
    assert set(row) == COLUMNS
    assert (row["actions"], row["applied"], row["refinement_id"]) == ([action], False, None)
    assert (row["tokens_in"], row["tokens_out"], row["answerable"]) == (55, 35, True)

    assert base.marked() == {CHAIN: False}
    assert base("log", "--json").data == []
    assert base("export", "--json").data["outcome"] == "unchanged"
    assert base.graph.read_bytes() == before
    base("apply", result["proposal_id"])
    assert base.marked() == {CHAIN: True}
    assert base("status", "--json").data["waiting"] == []


def test_no_at_all_four_hops_is_refined_and_applied_where_that_is_wanted(base: Base) -> None:
    with OpenAIServer(by_stage([NO], ABDUCTION, REFINEMENT)) as server:
        db = asking(base, server)
        done = db("refine", "--query", CHAIN, "--apply", "--export", "--no-what-if", "--json")
        assert server.stages == ["judgement"] * 4 + ["abduction", "refinement"]
    assert "Subgraph_hop': 3" in server.chats[-2].user
    result = only(done.data)
    assert (result["outcome"], result["hops"], result["answerable"]) == ("applied", 4, False)
    (entry,) = base("log", "--json").data
    assert entry["id"] == result["refinement_id"]
    trace = trace_of(base, CHAIN)
    assert [step["num_hops"] for step in trace["interaction_history"]] == [0, 1, 2, 3]
    (row,) = base.results()
    assert (row["applied"], row["refinement_id"]) == (True, entry["id"])
    assert base.marked() == {CHAIN: True}
    assert ("place_order()", "triggers", "charge_customer()") in base.triples()
    assert base("export", "--check", "--json").data["outcome"] == "checked"
    asked = base(
        "cypher",
        "MATCH (:Query)-[:HAS_TRACE]->(:Trace)-[:HAS_STEP]->(s:Step) RETURN s.number AS n ORDER BY n",
        "--json",
    )
    assert [each["n"] for each in asked.data] == [1, 2, 3, 4]
    assert base("audit", "verify", "--json").data["ok"] is True


def test_a_proposal_with_a_low_action_is_left_to_a_person(base: Base) -> None:
    with OpenAIServer(by_stage([NO, YES], ABDUCTION, LOW)) as server:
        done = asking(base, server)("refine", "--query", CHAIN, "--apply", "--json", code=4)
    result = only(done.data)
    assert result["outcome"] == "proposed"
    assert "LOW" in result["error"]
    assert base("log", "--json").data == []
    assert base.marked() == {CHAIN: False}


def test_a_malformed_answer_is_asked_again_and_a_429_waits_as_long_as_it_says(base: Base) -> None:
    arrived: list[float] = []
    script = in_order(
        "Perhaps.",
        Answer(status=429, headers={"Retry-After": "1"}, message="slow down"),
        NO,
        YES,
        ABDUCTION,
        "I would insert an edge.",
        REFINEMENT,
    )

    def respond(request: Request) -> Answer | str:
        arrived.append(time.monotonic())
        return script(request)

    with OpenAIServer(respond) as server:
        result = only(asking(base, server)("refine", "--query", CHAIN, "--no-what-if", "--json").data)
    assert server.stages == ["judgement"] * 4 + ["abduction"] + ["refinement"] * 2
    assert arrived[2] - arrived[1] >= 0.99
    assert server.chats[1].messages[2] == {"role": "assistant", "content": "Perhaps."}
    assert "<judge>Yes</judge>" in server.chats[1].messages[3]["content"]
    assert len(server.chats[3].messages) == 2
    assert result["outcome"] == "proposed"
    assert [bool(call["error"]) for call in result["calls"]] == [True, False, False, False, True, False]
    assert [call["retries"] for call in result["calls"]] == [0, 1, 0, 0, 0, 0]
    trace_of(base, CHAIN)


def test_a_question_that_fails_in_the_middle_of_a_queue_goes_on_at_its_first_unanswered_prompt(
    base: Base,
) -> None:
    for question in (FILES, CHAIN, MONEY):
        base("history", "add", "--query", question)
    broken = Answer(status=400, message="out of order")
    script: dict[str, Iterable[Answer | str]] = {
        FILES: [YES],
        CHAIN: [NO, NO, broken],
        MONEY: [NO, YES, ABDUCTION, REFINEMENT],
    }
    with OpenAIServer(by_question(script)) as server:
        db = asking(base, server, DEEPREFINE_WHAT_IF="false")
        done = db("refine", "--json", code=6)
        assert [each["outcome"] for each in done.data["questions"]] == ["early_exit", "failed", "proposed"]
        assert "out of order" in done.data["questions"][1]["error"]
        assert "out of order" in done.err
        assert base.marked() == {FILES: True, CHAIN: False, MONEY: False}
        assert {row["query"] for row in base.results()} == {FILES, MONEY}
        failed_at = server.chats[3]
        assert CHAIN in failed_at.user
        server.requests.clear()

        server.respond = by_question({CHAIN: [YES, ABDUCTION, REFINEMENT]})
        resumed = db("refine", "--json")
        assert server.stages == ["judgement", "abduction", "refinement"]
        assert server.chats[0].messages == failed_at.messages
        assert [(each["query_id"], each["outcome"]) for each in resumed.data["questions"]] == [
            (query_id(CHAIN), "proposed"),
            (query_id(MONEY), "waiting"),
        ]
        server.requests.clear()
        db("refine", code=3)
        assert server.requests == []
    assert len(trace_of(base, CHAIN)["calls"]) == 6
    assert [row["query"] for row in base.results()].count(CHAIN) == 1


def test_questions_run_at_once_where_that_is_asked_for(base: Base) -> None:
    questions = (FILES, CHAIN, MONEY)
    for question in questions:
        base("history", "add", "--query", question)
    together = threading.Barrier(3)
    lock = threading.Lock()
    seen: set[str] = set()
    scripts = by_question({question: [NO, YES, ABDUCTION, REFINEMENT, YES] for question in questions})

    def respond(request: Request) -> Answer | str:
        question = next(each for each in questions if each in request.user)
        with lock:
            first = question not in seen
            seen.add(question)
        if first:
            together.wait(60)  # passed only when all three questions wait for their first answer
        return scripts(request)

    with OpenAIServer(respond) as server:
        done = asking(base, server)("refine", "--jobs", "3", "--json")
        assert server.most_at_once == 3
        assert len(server.chats) == 15
    assert [(each["question"], each["outcome"]) for each in done.data["questions"]] == [
        (question, "proposed") for question in questions
    ]
    assert all(f"{query_id(question)} [Step: 2]" in done.err for question in questions)
    for question in questions:
        trace_of(base, question)
    assert len(base("status", "--json").data["waiting"]) == 3
    assert base("audit", "verify", "--json").data["ok"] is True


@pytest.mark.parametrize(("limit", "calls"), [(("--max-calls", "2"), 2), (("--max-tokens", "40"), 3)])
def test_a_limit_stops_the_run_and_the_next_one_goes_on(
    base: Base, limit: tuple[str, str], calls: int
) -> None:
    with OpenAIServer(by_stage([NO], ABDUCTION, REFINEMENT)) as server:
        db = asking(base, server)
        stopped = only(db("refine", "--query", CHAIN, *limit, "--json", code=6).data)
        assert len(server.chats) == calls
        assert stopped["outcome"] == "failed"
        assert limit[0] in stopped["error"]
        assert not list(base.ours.glob("proposed_*"))
        finished = only(db("refine", "--query", CHAIN, "--no-what-if", "--json").data)
        assert server.stages == ["judgement"] * 4 + ["abduction", "refinement"]
    assert finished["outcome"] == "proposed"
    assert len(finished["calls"]) == 6


def test_a_run_that_is_killed_at_a_prompt_goes_on_there(base: Base) -> None:
    running: list[subprocess.Popen[str]] = []
    script = by_stage([NO], ABDUCTION, REFINEMENT)

    def respond(request: Request) -> Answer | str:
        if len(server.chats) == 4:
            running[0].kill()
            running[0].wait(30)
        return script(request)

    with OpenAIServer(respond) as server:
        db = asking(base, server, DEEPREFINE_WHAT_IF="false")
        base("sync")
        running.append(db.start("refine", "--query", CHAIN))
        running[0].communicate(timeout=60)
        assert len(server.chats) == 4
        base.healthy()
        assert only(db("refine", "--query", CHAIN, "--json").data)["outcome"] == "proposed"
        assert server.stages == ["judgement"] * 5 + ["abduction", "refinement"]
        assert server.chats[3].messages == server.chats[4].messages


def test_an_embedding_endpoint_is_used_and_no_text_is_sent_twice(base: Base) -> None:
    with OpenAIServer(by_stage([NO, YES], ABDUCTION, REFINEMENT)) as server:
        db = asking(base, server, DEEPREFINE_EMBED_URL=server.url, DEEPREFINE_EMBED_MODEL="words")
        done = db("refine", "--query", CHAIN, "--apply", "--no-what-if", "--json")
        assert only(done.data)["outcome"] == "applied"
        assert "lexical" not in done.err
        assert "FAISS" in done.err
        first = embedded(server)
        assert {CHAIN, "place_order() calls publish()"} <= set(first)
        assert len(set(first)) == len(first)
        assert {request.body["model"] for request in server.embeddings} == {"words"}

        server.respond = in_order(YES)
        db("refine", "--query", FILES)
        assert sorted(embedded(server)[len(first) :]) == [FILES, "place_order() triggers charge_customer()"]
        sent = len(server.embeddings)
        assert db("index", "--rebuild", "--json").data["calls"] == 0
        db("refine", "--rebuild-index", code=3)
        assert len(server.embeddings) == sent
        everything = embedded(server)
        assert len(set(everything)) == len(everything)
    trace_of(base, CHAIN)


def embedded(server: OpenAIServer) -> list[str]:
    """Give every text that was sent to be embedded."""
    return [text for request in server.embeddings for text in request.body["input"]]


def test_no_key_is_kept_or_shown_anywhere(base: Base) -> None:
    chat, embed = "sk-chat-0123456789abcdef", "sk-embed-fedcba9876543210"
    told = f"Incorrect API key provided: {chat} (Bearer {chat})"
    with OpenAIServer(in_order(NO, Answer(status=401, message=told), YES, ABDUCTION, REFINEMENT)) as server:
        db = asking(
            base,
            server,
            DEEPREFINE_EMBED_URL=server.url,
            DEEPREFINE_LLM_API_KEY=chat,
            DEEPREFINE_EMBED_API_KEY=embed,
        )
        failed = db("refine", "--query", CHAIN, "--debug", code=6)
        shown = [failed, db("refine", "--query", CHAIN, "--apply", "--export", "--json")]
        shown += [
            db("status", "--settings"),
            db("status", "--settings", "--json"),
            db("log"),
            db("audit", "verify"),
        ]
        assert {request.headers["authorization"] for request in server.chats} == {f"Bearer {chat}"}
        assert {request.headers["authorization"] for request in server.embeddings} == {f"Bearer {embed}"}
    assert "DEEPREFINE_LLM_API_KEY" in failed.err + failed.out
    for secret in (chat, embed):
        assert not [each for each in shown if secret in each.out + each.err]
        files = [path for path in base.root.rglob("*") if path.is_file()]
        assert len(files) > 20
        assert not [path for path in files if secret.encode() in path.read_bytes()]


def test_a_model_that_cannot_be_asked_is_code_6(base: Base) -> None:
    assert "DEEPREFINE_LLM_URL" in base("refine", "--query", CHAIN, code=6).err
    with OpenAIServer(embed=lambda _: Answer(status=400, message="no such model")) as server:
        db = asking(base, server, DEEPREFINE_EMBED_URL=server.url)
        assert "no such model" in db("refine", "--query", MONEY, code=6).err
        assert server.chats == []
        assert "no such model" in db.refused("index", "--rebuild", code=6)
    base.healthy()


def test_questions_of_graphifys_notes_are_refined_too(base: Base) -> None:
    memory = base.out / "memory"
    memory.mkdir()
    (memory / "query_20260101_000000_who.md").write_text(
        f'---\ntype: query\nquestion: "{MONEY}"\noutcome: dead_end\n---\n\n# Q\n', encoding="utf-8"
    )
    with OpenAIServer(in_order(YES)) as server:
        done = asking(base, server)("refine", "--json")
    assert [each["question"] for each in done.data["questions"]] == [MONEY]
    assert base.marked() == {MONEY: True}
