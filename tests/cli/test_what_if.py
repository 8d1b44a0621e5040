"""What-if through the commands: what it shows, costs and leaves alone, and what hangs on its result."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from tests.cli.conftest import Cli
from tests.support.openai_server import Answer, OpenAIServer, Request, by_stage, in_order

pytestmark = pytest.mark.engine

QUESTION = "What happens after place_order() publishes order.placed?"
YES, NO = "<judge>Yes</judge>", "<judge>No</judge>"
ABDUCTION = "<abduction>nobody says who listens</abduction>"
INSERT = '<refinement>insert_edge("place_order()", "triggers", "charge_customer()")</refinement>'
ALL_KINDS = (
    '<refinement>insert_edge("place_order()", "triggers", "charge_customer()")'
    '|insert_edge("place_order()", "publishes", "order.placed")'
    '|delete_edge("place_order()", "calls", "publish()")'
    '|replace_node("cart_total()", "order_total()")'
    '|replace_node("Order", "orders.py")</refinement>'
)
NEW, OLD = "place_order() | triggers | charge_customer()", "place_order() | calls | publish()"


@pytest.fixture
def server(monkeypatch: pytest.MonkeyPatch) -> Iterator[OpenAIServer]:
    with OpenAIServer() as running:
        monkeypatch.setenv("DEEPREFINE_LLM_URL", running.url)
        yield running


@pytest.fixture
def meaning(monkeypatch: pytest.MonkeyPatch, server: OpenAIServer) -> OpenAIServer:
    """Search by meaning too."""
    monkeypatch.setenv("DEEPREFINE_EMBED_URL", server.url)
    monkeypatch.setenv("DEEPREFINE_EMBED_MODEL", "words")
    return server


def seeing(wanted: str, refinement: str = INSERT) -> Callable[[Request], str]:
    """Judge by whether a triple is shown."""

    def respond(request: Request) -> str:
        if request.stage == "judgement":
            return YES if wanted in request.user else NO
        return ABDUCTION if request.stage == "abduction" else refinement

    return respond


def ours(root: Path) -> Path:
    return root / "graphify-out" / ".deeprefine"


def files(folder: Path) -> dict[str, str]:
    return {
        path.name: hashlib.sha256(path.read_bytes()).hexdigest()
        for path in sorted(folder.iterdir())
        if path.is_file()
    }


def digest(root: Path, cli: Cli) -> str:
    """Give the digest of the graph: of the bytes that export would write."""
    cli("export", "--out", root / "digest.json")
    return hashlib.sha256((root / "digest.json").read_bytes()).hexdigest()


def proposed(cli: Cli, server: OpenAIServer, refinement: str = INSERT, *more: str) -> str:
    """Have a proposal made, without a what-if unless that is asked for."""
    server.respond = by_stage([NO], ABDUCTION, refinement)
    flags = more or ("--no-what-if",)
    (question,) = cli("refine", "--query", QUESTION, "--again", *flags, "--json").data["questions"]
    server.requests.clear()
    identity: str = question["proposal_id"]
    return identity


def what_if(cli: Cli, identity: str, *more: str) -> dict[str, Any]:
    found: dict[str, Any] = cli("review", identity, "--what-if", *more, "--json").data["what_if"]
    return found


def test_refine_asks_again_and_tells_at_which_hop_the_question_can_be_answered_then(
    synced: Path, cli: Cli, server: OpenAIServer
) -> None:
    before = digest(synced, cli)
    server.respond = seeing(NEW)
    done = cli("refine", "--query", QUESTION, "--json")
    assert server.stages == ["judgement"] * 4 + ["abduction", "refinement", "judgement"]
    (question,) = done.data["questions"]
    found = question["review"]["what_if"]
    assert (found["before"], found["hops_before"], found["after"], found["hops_after"]) == (None, 4, 1, 1)
    assert (found["helped"], found["missing"], found["actions"]) == (True, "", [1])
    assert (found["calls"], found["tokens_in"], found["tokens_out"]) == (1, 11, 7)
    first = {each["key"]: each for each in found["first"]}
    assert len(first) == 5
    assert [first[key]["object"] for key in found["new"]] == ["charge_customer()"]
    assert len(found["gone"]) == 1
    assert question["tokens_in"] == 7 * 11
    assert "[What if, step: 1]" in done.err

    record = json.loads(next(ours(synced).glob("proposed_refinement_review_*.json")).read_text("utf-8"))
    assert record["what_if"] == found
    readable = next(ours(synced).glob("proposed_refinement_review_*.md")).read_text("utf-8")
    assert "What if it were applied: answerable at hop 1, before at none of 4 hops. It helps." in readable
    assert f"- new: `{NEW}`" in readable
    rows = cli("audit", "run", "model-use", "--json").data
    assert {row["stage"]: row["calls"] for row in rows} == {
        "abduction": 1,
        "judgement": 4,
        "refinement": 1,
        "what_if": 1,
    }
    calls = cli("cypher", "MATCH (c:LLMCall) WHERE c.stage = 'what_if' RETURN c.prompt_digest AS d", "--json")
    assert [len(row["d"]) for row in calls.data] == [64]
    assert cli("status", "--json").data["tokens"][-1]["calls"] == 7

    assert digest(synced, cli) == before
    assert cli("log", "--json").data == []
    server.requests.clear()
    applied = cli("apply", question["proposal_id"], "--require-gain", "--json").data["refinement"]
    assert server.requests == []
    shown = cli("show", applied["id"])
    assert "It helps." in shown.out
    assert f"+ {NEW}" in shown.out
    assert cli("show", applied["id"], "--json").data["reviews"][-1]["what_if"] == found
    assert cli("audit", "verify", "--json").data["ok"] is True
    assert cli("doctor", "--json").data["healthy"] is True


@pytest.mark.parametrize("way", ["lexical", "meaning"])
def test_it_retrieves_what_is_retrieved_once_the_proposal_is_applied_and_leaves_graph_and_index_alone(
    way: str, synced: Path, cli: Cli, server: OpenAIServer, request: pytest.FixtureRequest
) -> None:
    if way == "meaning":
        request.getfixturevalue("meaning")
    identity = proposed(cli, server, ALL_KINDS)
    there, before = files(ours(synced) / "index"), digest(synced, cli)
    server.respond = by_stage([NO])
    found = what_if(cli, identity)
    assert server.stages == ["judgement"] * 4
    assert len(server.embeddings) == (way == "meaning")
    assert files(ours(synced) / "index") == there
    assert digest(synced, cli) == before
    assert found["actions"] == [1, 2, 3, 4, 5]
    assert (found["after"], found["hops_after"], found["helped"]) == (None, 4, False)
    first = [(each["subject"], each["relation"], each["object"]) for each in found["first"]]
    shown = "\n".join(request.user for request in server.chats)
    assert OLD not in shown
    assert "cart_total()" not in shown
    assert "orders.py" in shown

    cli("apply", identity, "--allow-low-confidence")
    now = cli("search", QUESTION, "--limit", "5", "--json").data["triples"]
    assert [(each["subject"], each["relation"], each["object"]) for each in now] == first


def test_a_later_review_is_recorded_and_shown_until_the_next_one(
    synced: Path, cli: Cli, server: OpenAIServer
) -> None:
    identity = proposed(cli, server)
    assert cli("review", identity, "--json").data["what_if"] is None
    server.respond = in_order(NO, YES)
    found = what_if(cli, identity)
    assert (found["after"], found["calls"], found["tokens_out"]) == (2, 2, 14)
    assert cli("review", identity, "--json").data["what_if"] == found
    assert "answerable at hop 2" in cli("review", identity).out
    server.respond = in_order(YES)
    assert what_if(cli, identity)["after"] == 1
    assert cli("review", identity, "--json").data["what_if"]["after"] == 1
    applied = cli("apply", identity, "--json").data["refinement"]
    reviews = cli("show", applied["id"], "--json").data["reviews"]
    assert [each["what_if"] and each["what_if"]["after"] for each in reviews] == [None, 2, 1]
    assert [[call["stage"] for call in each["calls"]] for each in reviews] == [
        [],
        ["what_if"] * 2,
        ["what_if"],
    ]
    assert all(len(call["prompt_digest"]) == 64 for each in reviews for call in each["calls"])
    assert not list(ours(synced).glob("what_if_*"))
    assert cli("audit", "verify", "--json").data["ok"] is True
    assert cli("doctor", "--json").data["healthy"] is True
    assert what_if(cli, identity)["missing"] == "No action of the proposal would change the graph as it is."


def test_a_what_if_that_fails_is_missing_and_the_question_is_not(
    synced: Path, cli: Cli, server: OpenAIServer
) -> None:
    server.respond = in_order(NO, NO, NO, NO, ABDUCTION, INSERT, NO, Answer(status=400, message="gone"))
    done = cli("refine", "--query", QUESTION, "--json")
    (question,) = done.data["questions"]
    assert (question["outcome"], question["error"], question["exit_code"]) == ("proposed", "", 0)
    found = question["review"]["what_if"]
    assert "gone" in found["missing"]
    assert (found["after"], found["helped"], found["first"], found["calls"]) == (None, False, [], 2)
    assert [call["error"] != "" for call in question["calls"]] == [False] * 7 + [True]
    assert "The what-if is missing" in done.err
    assert "What if: not known." in cli("review", question["proposal_id"]).out
    assert "gone" in cli("apply", question["proposal_id"], "--require-gain", code=4).err

    server.respond = in_order(Answer(status=400, message="still gone"))
    assert "still gone" in what_if(cli, question["proposal_id"])["missing"]
    server.respond = in_order(YES)
    assert what_if(cli, question["proposal_id"])["helped"] is True
    cli("apply", question["proposal_id"], "--require-gain")


def test_one_that_failed_does_not_keep_the_question_from_being_asked_again(
    synced: Path, cli: Cli, meaning: OpenAIServer
) -> None:
    def failing(request: Request) -> Answer | None:
        return (
            Answer(status=400, message="too new") if NEW.replace(" |", "") in request.body["input"] else None
        )

    meaning.embed = failing
    meaning.respond = by_stage([NO], ABDUCTION, INSERT)
    for flags in ((), ("--again",)):
        (question,) = cli("refine", "--query", QUESTION, *flags, "--json").data["questions"]
        assert question["outcome"] == "proposed"
        assert "too new" in question["review"]["what_if"]["missing"]
    assert meaning.stages == (["judgement"] * 4 + ["abduction", "refinement"]) * 2


def test_the_limits_of_a_run_hold_for_its_what_ifs_too(synced: Path, cli: Cli, server: OpenAIServer) -> None:
    server.respond = by_stage([NO], ABDUCTION, INSERT)
    (question,) = cli("refine", "--query", QUESTION, "--max-calls", "8", "--json").data["questions"]
    assert len(server.chats) == 8
    assert (question["outcome"], question["exit_code"]) == ("proposed", 0)
    assert "--max-calls" in question["review"]["what_if"]["missing"]
    found = what_if(cli, question["proposal_id"], "--max-tokens", "20")
    assert "--max-tokens" in found["missing"]
    assert (found["calls"], len(server.chats)) == (2, 10)


@pytest.mark.parametrize("helps", [True, False])
def test_only_what_helps_is_applied_where_that_is_required(
    helps: bool, synced: Path, cli: Cli, server: OpenAIServer
) -> None:
    before = digest(synced, cli)
    server.respond = seeing(NEW if helps else "no such triple")
    flags = ("--apply", "--require-gain", "--json")
    (question,) = cli("refine", "--query", QUESTION, *flags, code=0 if helps else 4).data["questions"]
    assert question["outcome"] == ("applied" if helps else "proposed")
    assert (digest(synced, cli) != before) is helps
    if helps:
        (entry,) = cli("log", "--json").data
        assert cli("show", entry["id"], "--json").data["body"]["flags"]["require_gain"] is True
        return
    assert "does not help" in question["error"]
    assert "at none of 4 hops" in cli("apply", question["proposal_id"], "--require-gain", code=4).err
    cli("apply", question["proposal_id"])


def test_an_answer_at_a_later_hop_than_before_is_no_gain(
    synced: Path, cli: Cli, server: OpenAIServer
) -> None:
    server.respond = in_order(NO, YES, ABDUCTION, INSERT, NO, NO, YES)
    (question,) = cli("refine", "--query", QUESTION, "--json").data["questions"]
    found = question["review"]["what_if"]
    assert (found["before"], found["after"], found["helped"]) == (2, 3, False)
    assert "harder to find" in cli("review", question["proposal_id"]).out


def test_a_gain_is_that_of_the_very_actions_that_were_laid_over(
    synced: Path, cli: Cli, server: OpenAIServer
) -> None:
    two = INSERT.replace("</", '|insert_edge("place_order()", "triggers", "reserve_stock()")</')
    stuck = two.replace("</", '|delete_edge("place_order()", "eats", "Order")</')
    identity = proposed(cli, server, stuck)
    assert "not known whether" in cli("apply", identity, "--reject", "3", "--require-gain", code=4).err
    server.respond = in_order(YES)
    assert what_if(cli, identity)["actions"] == [1, 2]
    refused = cli("apply", identity, "--only", "1", "--require-gain", code=4)
    assert "is about its actions 1, 2" in refused.err
    cli("apply", identity, "--reject", "3", "--require-gain", "--dry-run")
    cli("apply", identity, "--reject", "3", "--require-gain")


def test_a_proposal_of_files_has_a_what_if_when_its_trace_is_there(
    synced: Path, cli: Cli, server: OpenAIServer
) -> None:
    proposed(cli, server)
    trace = next(ours(synced).glob("loop_trace_*.json"))
    actions = synced / "a.txt"
    actions.write_text(INSERT.replace("charge_customer", "reserve_stock"), encoding="utf-8")
    server.respond = seeing("place_order() | triggers | reserve_stock()")
    record = cli("review", "--refinement-file", actions, "--trace-file", trace, "--what-if", "--json").data
    assert record["what_if"]["helped"] is True
    refused = cli("review", "--refinement-file", actions, "--what-if", code=2)
    assert "--trace-file" in refused.err


def test_the_setting_decides_unless_a_flag_does(synced: Path, cli: Cli, server: OpenAIServer) -> None:
    (ours(synced) / "config.toml").write_text("what_if = false\n", encoding="utf-8")
    server.respond = by_stage([NO], ABDUCTION, INSERT)
    (question,) = cli("refine", "--query", QUESTION, "--json").data["questions"]
    assert question["review"]["what_if"] is None
    (row,) = [each for each in cli("status", "--json").data["settings"] if each["name"] == "what_if"]
    assert (row["value"], row["origin"]) == (False, "config.toml")
    refused = cli("refine", "--query", QUESTION, "--again", "--apply", "--require-gain", code=2)
    assert "--require-gain" in refused.err
    cli("refine", "--query", QUESTION, "--require-gain", code=2)
    (question,) = cli("refine", "--query", QUESTION, "--again", "--what-if", "--json").data["questions"]
    assert question["review"]["what_if"]["hops_after"] == 4
