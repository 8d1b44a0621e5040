"""The whole way through the commands: sync, refine, review, apply, log, export."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from deeprefine_graphdb.project.recorded import RecordedSession, serving
from tests.cli.conftest import Cli
from tests.support.openai_server import Answer, OpenAIServer, by_stage

pytestmark = pytest.mark.engine

CHAIN = "What happens after place_order() publishes order.placed?"
NAMES = "Which class is the PaymentProvider that charge_customer() uses?"
FILES = "Which file contains the Order class?"
INSERT = '<refinement>insert_edge("place_order()", "triggers", "charge_customer()")</refinement>'


@pytest.fixture
def recorded(monkeypatch: pytest.MonkeyPatch) -> Iterator[RecordedSession]:
    session = RecordedSession.of_demo()
    with serving(session) as url:
        monkeypatch.setenv("DEEPREFINE_LLM_URL", url)
        yield session


def graph_json(root: Path) -> Path:
    return root / "graphify-out" / "graph.json"


def serve(monkeypatch: pytest.MonkeyPatch, server: OpenAIServer) -> None:
    monkeypatch.setenv("DEEPREFINE_LLM_URL", server.url)


def proposed(cli: Cli) -> str:
    identity: str = cli("status", "--json").data["waiting"][-1]["id"]
    return identity


def test_sync_and_export_leave_every_byte(root: Path, cli: Cli) -> None:
    before = graph_json(root).read_bytes()
    assert cli("sync", "--json").data["outcome"] == "loaded"
    assert cli("sync", "--json").data["outcome"] == "unchanged"
    assert cli("export", "--json").data["outcome"] == "unchanged"
    assert cli("export", "--check", "--json").data["outcome"] == "checked"
    cli("export", "--out", root / "copy.json")
    assert (root / "copy.json").read_bytes() == before == graph_json(root).read_bytes()


@pytest.mark.slow
def test_the_way_of_a_question(root: Path, cli: Cli, recorded: RecordedSession) -> None:
    before = graph_json(root).read_bytes()
    refined = cli("refine", "--query", CHAIN, "--json")
    (question,) = refined.data["questions"]
    assert (question["outcome"], question["hops"], question["answerable"]) == ("proposed", 4, False)
    assert [each["label"] for each in question["review"]["actions"]] == ["HIGH", "HIGH", "HIGH", "LOW"]
    assert [line for line in refined.err.splitlines() if line.startswith("[Step")] == [
        f"[Step: {n}]" for n in (1, 2, 3, 4)
    ]
    assert refined.err.count("<judge>No</judge>") == 4
    assert "lexical search" in refined.err
    assert [call["stage"] for call in question["calls"]][-2:] == ["refinement", "what_if"]
    assert len(question["calls"]) == 7
    would = question["review"]["what_if"]
    assert (would["before"], would["after"], would["helped"], would["actions"]) == (
        None,
        1,
        True,
        [1, 2, 3, 4],
    )
    assert question["tokens_in"] > 0
    identity = question["proposal_id"]
    query_id = question["query_id"]
    ours = root / "graphify-out" / ".deeprefine"
    assert (
        (ours / f"proposed_refinement_actions_{query_id}.txt")
        .read_text(encoding="utf-8")
        .startswith("<refinement>")
    )
    assert "LOW" in (ours / f"proposed_refinement_review_{query_id}.md").read_text(encoding="utf-8")
    review = json.loads((ours / f"proposed_refinement_review_{query_id}.json").read_text(encoding="utf-8"))
    assert (review["proposal_id"], review["counts"]["LOW"]) == (identity, 1)
    again = cli("review", identity, "--json").data
    assert (again["counts"], again["what_if"]) == (review["counts"], would)

    refused = cli("apply", identity, code=4)
    assert "LOW" in refused.err
    assert "--reject 4" in refused.err
    assert graph_json(root).read_bytes() == before
    statements = cli("apply", identity, "--reject", "4", "--dry-run", "--show-cypher", "--json").data
    assert all(set(each) == {"name", "text", "params"} for each in statements)
    assert cli("log", "--json").data == []
    applied = cli("apply", identity[:6], "--reject", "4", "--json").data["refinement"]
    assert [action["outcome"] for action in applied["actions"]] == ["applied"] * 3
    assert "applied already" in cli("apply", identity, "--reject", "4", code=3).err
    assert graph_json(root).read_bytes() == before
    assert "Proposal" not in cli("status").out
    assert cli("status", "--json").data["behind"] == 1
    assert cli("export", "--check", code=4).err.startswith("Error: ")

    (entry,) = cli("log", "--json").data
    assert entry == applied
    shown = cli("show", entry["id"][:5]).out
    assert "place_order()" in shown
    assert "What if it were applied: answerable at hop 1, before at none of 4 hops. It helps." in shown
    assert cli("show", entry["id"], "--json").data["body"]["flags"]["reject"] == [4]
    assert cli("export", "--json").data["touched"] == 3
    assert (root / "graphify-out" / ".deeprefine" / "graph.json.bak").read_bytes() == before
    labels = cli(
        "cypher",
        "MATCH (:Entity)-[r:RELATES]->(b:Entity) WHERE r.relation = $r RETURN b.label AS target ORDER BY target",
        "-p",
        "r=triggers",
        "--json",
    ).data
    assert [row["target"] for row in labels] == [
        "charge_customer()",
        "reserve_stock()",
        "send_confirmation()",
    ]
    why = cli(
        "audit",
        "run",
        "why-edge",
        "-p",
        "subject=place_order()",
        "-p",
        "object=charge_customer()",
        "--format",
        "json",
    )
    assert entry["id"] in why.out
    assert cli("audit", "verify", "--json").data["ok"] is True
    assert cli("doctor", "--json").data["healthy"] is True
    assert cli("sync", "--json").data["outcome"] == "unchanged"
    assert cli("refine", code=3).err.startswith("Error: No question is pending.")


def test_an_early_exit_marks_the_question(root: Path, cli: Cli, recorded: RecordedSession) -> None:
    (question,) = cli("refine", "--query", FILES, "--json").data["questions"]
    assert (question["outcome"], question["hops"]) == ("early_exit", 1)
    assert cli("history", "list", "--pending", "--json").data == []
    (row,) = cli("history", "list", "--json").data
    assert (row["source"], row["refined"]) == ("cli", True)
    results = next((root / "graphify-out" / ".deeprefine").glob("refinement_results_*.jsonl"))
    assert json.loads(results.read_text(encoding="utf-8"))["early_exit"] is True
    assert "refined already" in cli("refine", "--query", FILES, code=3).err


def test_a_waiting_proposal_is_not_asked_for_again(
    root: Path, cli: Cli, monkeypatch: pytest.MonkeyPatch
) -> None:
    with OpenAIServer(by_stage(["<judge>No</judge>"], refinement=INSERT)) as server:
        serve(monkeypatch, server)
        first = cli("refine", "--query", CHAIN, "--json").data["questions"][0]
        asked = len(server.chats)
        second = cli("refine", "--json", code=3).data["questions"][0]
        assert (second["outcome"], second["proposal_id"]) == ("waiting", first["proposal_id"])
        assert len(server.chats) == asked
        third = cli("refine", "--again", "--json").data["questions"][0]
        assert len(server.chats) == 2 * asked
        assert third["proposal_id"] != first["proposal_id"]
    folder = root / "graphify-out" / ".deeprefine"
    assert len(list(folder.glob(f"loop_trace_{first['query_id']}*.json"))) == 2


def test_one_failing_question_does_not_stop_the_others_and_goes_on_later(
    root: Path, cli: Cli, monkeypatch: pytest.MonkeyPatch
) -> None:
    broken = True

    def respond(request: Any) -> Answer | str:
        if request.stage == "abduction" and NAMES in request.user and broken:
            return Answer(status=400, message="out of order")
        if request.stage == "judgement":
            return "<judge>Yes</judge>" if FILES in request.user else "<judge>No</judge>"
        return "<abduction>incomplete</abduction>" if request.stage == "abduction" else INSERT

    with OpenAIServer(respond) as server:
        serve(monkeypatch, server)
        for question in (CHAIN, NAMES, FILES):
            cli("history", "add", "--query", question)
        ended = cli("refine", "--jobs", "2", "--json", code=6)
        outcomes = [each["outcome"] for each in ended.data["questions"]]
        assert outcomes == ["proposed", "failed", "early_exit"], ended.err
        assert "out of order" in ended.data["questions"][1]["error"]
        asked = len(server.chats)
        broken = False
        again = cli("refine", "--json").data["questions"]
        assert [each["outcome"] for each in again] == ["waiting", "proposed"]
        assert server.stages[asked:] == ["abduction", "refinement", *["judgement"] * 4]


def test_limits_stop_cleanly_and_nothing_is_paid_twice(
    root: Path, cli: Cli, monkeypatch: pytest.MonkeyPatch
) -> None:
    with OpenAIServer(by_stage(["<judge>No</judge>"], refinement=INSERT)) as server:
        serve(monkeypatch, server)
        stopped = cli("refine", "--query", CHAIN, "--max-calls", "3", code=6)
        assert "--max-calls" in stopped.out
        assert server.stages == ["judgement"] * 3
        cli("refine", "--query", CHAIN)
        assert server.stages == ["judgement"] * 4 + ["abduction", "refinement"] + ["judgement"] * 4


def test_apply_at_once_leaves_a_low_proposal_and_says_so(
    root: Path, cli: Cli, monkeypatch: pytest.MonkeyPatch
) -> None:
    low = '<refinement>insert_edge("charge_customer()", "notifies", "warehouse")</refinement>'
    with OpenAIServer(by_stage(["<judge>No</judge>"], refinement=low)) as server:
        serve(monkeypatch, server)
        left = cli("refine", "--query", CHAIN, "--apply", "--json", code=4).data["questions"][0]
        assert (left["outcome"], left["refinement_id"]) == ("proposed", None)
    with OpenAIServer(by_stage(["<judge>No</judge>"], refinement=INSERT)) as server:
        serve(monkeypatch, server)
        done = cli("refine", "--query", NAMES, "--apply", "--export", "--json").data["questions"][0]
        assert done["outcome"] == "applied"
    assert "triggers" in graph_json(root).read_text(encoding="utf-8")
    assert cli("status", "--json").data["behind"] == 0


def test_no_proposed_action_ends_the_question(root: Path, cli: Cli, monkeypatch: pytest.MonkeyPatch) -> None:
    with OpenAIServer(by_stage(["<judge>No</judge>"], refinement="<refinement></refinement>")) as server:
        serve(monkeypatch, server)
        ended = cli("refine", "--query", CHAIN, "--json").data["questions"][0]
    assert ended["outcome"] == "nothing"
    assert cli("history", "list", "--pending", "--json").data == []


def test_without_a_model_nothing_is_asked_and_the_setting_is_named(root: Path, cli: Cli) -> None:
    ended = cli("refine", "--query", CHAIN, code=6)
    assert "DEEPREFINE_LLM_URL" in ended.out


def test_a_rejected_proposal_is_done_with(root: Path, cli: Cli, recorded: RecordedSession) -> None:
    cli("refine", "--query", NAMES)
    identity = proposed(cli)
    assert cli("reject", identity, "--reason", "not ours", "--json").data["state"] == "rejected"
    assert cli("history", "list", "--pending", "--json").data == []
    assert "was rejected" in cli("apply", identity, code=4).err
    assert "rejected already" in cli("reject", identity, code=3).err


def test_files_of_a_proposal_are_matched_to_it_and_an_edited_one_is_new(
    root: Path, cli: Cli, recorded: RecordedSession
) -> None:
    (question,) = cli("refine", "--query", CHAIN, "--json").data["questions"]
    ours = root / "graphify-out" / ".deeprefine"
    actions = ours / f"proposed_refinement_actions_{question['query_id']}.txt"
    trace = ours / f"loop_trace_{question['query_id']}.json"
    files = ("--refinement-file", actions, "--trace-file", trace)
    assert cli("review", *files, "--json").data["proposal_id"] == question["proposal_id"]
    assert "--skip-trace-check" in cli("apply", "--refinement-file", actions, code=2).err
    actions.write_text(INSERT, encoding="utf-8")
    applied = cli("apply", *files, "--json").data["refinement"]
    assert applied["proposal_id"] != question["proposal_id"]
    assert applied["question"] == CHAIN
    assert cli("audit", "verify", "--json").data["ok"] is True
    assert cli("history", "list", "--pending", "--json").data == []


def test_a_trace_that_is_not_valid_is_refused_unless_a_person_wants_it(synced: Path, cli: Cli) -> None:
    actions, trace = synced / "a.txt", synced / "t.json"
    actions.write_text(INSERT, encoding="utf-8")
    trace.write_text(json.dumps({"schema_version": 1, "mode": "agent-loop", "query": "q"}), encoding="utf-8")
    refused = cli("apply", "--refinement-file", actions, "--trace-file", trace, code=4)
    assert "interaction_history" in refused.err
    applied = cli("apply", "--refinement-file", actions, "--skip-trace-check", "--json").data["refinement"]
    assert cli("show", applied["id"], "--json").data["body"]["flags"]["skip_trace_check"] is True


def test_a_changed_graph_is_synced_before_refining_and_refinements_are_carried_over(
    synced: Path, cli: Cli, recorded: RecordedSession
) -> None:
    text = graph_json(synced).read_text(encoding="utf-8")
    graph_json(synced).write_text(text.replace('"label":"Psp"', '"label":"PSP"'), encoding="utf-8")
    cli("refine", "--query", FILES)
    assert cli("search", "PSP", "--json").data["triples"]
    actions = synced / "a.txt"
    actions.write_text(INSERT, encoding="utf-8")
    cli("apply", "--refinement-file", actions, "--skip-trace-check", "--export")
    changed = graph_json(synced).read_text(encoding="utf-8").replace('"label":"PSP"', '"label":"Paid"')
    graph_json(synced).write_text(changed, encoding="utf-8")
    for arguments in (("export",), ("export", "--check")):
        cli(*arguments, code=4)
    assert graph_json(synced).read_text(encoding="utf-8") == changed
    cli("refine", "--query", CHAIN)
    assert cli("search", "Paid", "--json").data["triples"]
    cli("export")
    written = graph_json(synced).read_text(encoding="utf-8")
    assert "Paid" in written
    assert "triggers" in written


def test_auto_export_writes_graph_json_with_every_apply(synced: Path, cli: Cli) -> None:
    (synced / "graphify-out" / ".deeprefine" / "config.toml").write_text(
        "auto_export = true\n", encoding="utf-8"
    )
    (synced / "a.txt").write_text(INSERT, encoding="utf-8")
    cli("apply", "--refinement-file", synced / "a.txt", "--skip-trace-check")
    assert "triggers" in graph_json(synced).read_text(encoding="utf-8")
    assert "config.toml" in cli("status", "--settings").out


@pytest.mark.parametrize(
    "text", ["", "{", "[]", '{"files": {}}', '{"nodes":[{"id":"a"},{"id":"a"}],"links":[]}']
)
def test_a_file_that_is_no_graph_is_refused_with_code_7(root: Path, cli: Cli, text: str) -> None:
    graph_json(root).write_text(text, encoding="utf-8")
    assert "graph.json" in cli("sync", code=7).err
    assert cli("status", "--json").data["has_store"] is False


def test_only_reading_statements_reach_the_engine(synced: Path, cli: Cli) -> None:
    refused = cli("cypher", "MATCH (n) DETACH DELETE n", code=2)
    assert "refused" in refused.err
    assert "$x" in cli("cypher", "RETURN $x", code=2).err
    assert "$y" in cli("cypher", "RETURN 1", "-p", "y=1", code=2).err
    assert cli("cypher", "RETURN $x AS x", "-p", "x=1", "--format", "csv").out == "x\n1\n"
    assert cli("cypher", "RETURN $x AS x", "-p", "x=a b", "--json").data == [{"x": "a b"}]
    limited = cli("cypher", "MATCH (n:Entity) RETURN n.id ORDER BY n.id", "--limit", "3", "--format", "json")
    assert len(limited.data) == 3
    assert "first 3 rows" in limited.err


def test_expand_names_candidates_for_a_name_that_is_not_known(synced: Path, cli: Cli) -> None:
    assert cli("expand", "place_order()", "--json").data["method"] == "k_hop_expansion"
    assert cli("expand", "nobody", code=4).err.startswith("Error: No entity is called 'nobody'.")


def test_commands_that_need_a_store_say_so_before_there_is_one(root: Path, cli: Cli) -> None:
    for arguments in (("search", "x"), ("cypher", "RETURN 1"), ("export",), ("audit", "verify")):
        assert "deeprefine-db sync" in cli(*arguments, code=1).err
    assert cli("status", "--json").data["next"] == "deeprefine-db sync"
    assert "deeprefine-db sync" in cli("doctor").out
    assert cli("log", "--json").data == []


def test_vectors_are_used_where_an_embedding_endpoint_is_set(
    synced: Path, cli: Cli, monkeypatch: pytest.MonkeyPatch
) -> None:
    with OpenAIServer() as server:
        monkeypatch.setenv("DEEPREFINE_EMBED_URL", server.url)
        monkeypatch.setenv("DEEPREFINE_EMBED_MODEL", "words")
        built = cli("index", "--rebuild", "--json").data
        assert (built["kind"], built["edges"]) == ("vector", 59)
        sent = len(server.embeddings)
        assert cli("index", "--rebuild", "--json").data["calls"] == 0
        assert len(server.embeddings) == sent
        assert "FAISS" in cli("search", "publish order").err
        monkeypatch.setenv("DEEPREFINE_EMBED_MODEL", "other")
        assert "index --rebuild" in cli("search", "publish order", code=1).err
    monkeypatch.delenv("DEEPREFINE_EMBED_URL")
    assert "lexical" in cli("index").out
