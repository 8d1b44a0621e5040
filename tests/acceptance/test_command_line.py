"""How commands end and what they print, in processes of their own: codes, sentences, JSON, notes, terminals."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from deeprefine_graphdb.cli.main import COMMANDS
from tests.acceptance.harness import LIMIT, NO, YES, Base, environment, lantern
from tests.support.openai_server import OpenAIServer, by_stage, in_order

pytestmark = pytest.mark.slow

CHAIN = "What happens after place_order() publishes order.placed?"
FILES = "Which file contains the Order class?"
MONEY = "Who charges the customer?"
ABDUCTION = "<abduction>nobody says who listens</abduction>"
TRIGGERS = 'insert_edge("place_order()", "triggers", "charge_customer()")'
NOTIFIES = 'insert_edge("charge_customer()", "notifies", "unknown")'
HOLDER = """
import sys
from pathlib import Path
from deeprefine_graphdb.project.knowledge_base import KnowledgeBase
from deeprefine_graphdb.project.paths import ProjectPaths
with KnowledgeBase(ProjectPaths(Path(sys.argv[1])), sys.argv[2], 10.0).open("write"):
    print("open", flush=True)
    sys.stdin.read()
"""


@pytest.fixture
def base(tmp_path: Path) -> Base:
    return lantern(tmp_path)


@pytest.fixture
def synced(base: Base) -> Base:
    base("sync")
    return base


@contextmanager
def held(base: Base) -> Iterator[int]:
    """Have another process hold the store for writing; give its pid."""
    process = subprocess.Popen(
        [sys.executable, "-c", HOLDER, base.root, base.store],
        env=environment(),
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        encoding="utf-8",
    )
    assert process.stdout is not None
    try:
        assert process.stdout.readline() == "open\n"
        yield process.pid
    finally:
        process.communicate("", timeout=60)


def proposal(base: Base, *actions: str, question: str = CHAIN) -> str:
    """Have a model propose actions; give the proposal's id."""
    with OpenAIServer(
        by_stage([NO, YES], ABDUCTION, f"<refinement>{'|'.join(actions)}</refinement>")
    ) as server:
        done = base.with_env(DEEPREFINE_LLM_URL=server.url)("refine", "--query", question, "--json")
    identity = done.data["questions"][0]["proposal_id"]
    assert isinstance(identity, str)
    return identity


def test_what_lacks_something_is_code_1(base: Base) -> None:
    for arguments in (("search", "order"), ("export",), ("cypher", "RETURN 1")):
        assert "`deeprefine-db sync`" in base.refused(*arguments, code=1)
    base("sync")
    missing = base.root / "missing.txt"
    assert str(missing) in base.refused("apply", "--refinement-file", missing, "--skip-trace-check", code=1)


def test_a_record_that_someone_edited_is_code_1_of_audit_verify(synced: Base) -> None:
    synced.apply(TRIGGERS)
    assert synced("audit", "verify", "--json").data["ok"] is True
    (journal,) = (synced.ours / "log").glob("*.jsonl")
    text = journal.read_text(encoding="utf-8")
    assert text.count('"triggers"') > 0
    journal.write_text(text.replace('"triggers"', '"prevents"'), encoding="utf-8")
    found = json.loads(synced("audit", "verify", "--json", code=1).out)
    assert found["ok"] is False
    assert found["faults"]


def test_what_makes_no_sense_is_code_2(synced: Base, tmp_path: Path) -> None:
    digest = synced("status", "--json").data["file_digest"]
    for arguments in (
        ("syncc",),
        ("sync", "--fast"),
        ("apply",),
        ("apply", "p1", "--show-cypher"),
        ("apply", "nothing-like-it"),
        ("search", "x", "--project-root", tmp_path / "nowhere"),
        ("refine", "--max-calls", "0"),
        ("search", "x", "--store", "mystery:there"),
        ("audit", "run", "no-such-question"),
    ):
        synced.refused(*arguments, code=2)
    for statement in (
        "MATCH (n) DETACH DELETE n",
        "DROP TABLE Entity",
        "LOAD FROM '/etc/passwd' RETURN *",
        "RETURN 1; MATCH (n) DETACH DELETE n",
    ):
        synced.refused("cypher", statement, code=2)
    config = synced.ours / "config.toml"
    config.write_text("colour = 'red'\n", encoding="utf-8")
    assert "config.toml" in synced.refused("status", code=2)
    config.unlink()
    assert synced("status", "--json").data["file_digest"] == digest
    synced.healthy()


def test_what_is_done_already_is_code_3(synced: Base) -> None:
    synced.apply(TRIGGERS)
    file = synced.actions(TRIGGERS)
    flags = ("--skip-trace-check", "--allow-low-confidence")
    assert "already" in synced.refused("apply", "--refinement-file", file, *flags, code=3)
    synced.refused("apply", "--refinement-file", synced.actions("", "empty.txt"), *flags, code=3)
    synced.refused("refine", code=3)
    identity = proposal(synced, 'insert_edge("place_order()", "triggers", "reserve_stock()")')
    synced("reject", identity)
    assert "rejected already" in synced.refused("reject", identity, code=3)
    assert len(synced("log", "--json").data) == 1


def test_what_needs_a_person_is_code_4(synced: Base) -> None:
    identity = proposal(synced, TRIGGERS, NOTIFIES)
    low = synced.refused("apply", identity, code=4)
    assert "LOW" in low
    assert "--reject 2" in low
    synced.apply('replace_node("place_order()", "take_order()")', "--export")
    stale = synced.refused("apply", identity, "--reject", "2", code=4)
    assert "place_order()" in stale
    file = synced.actions('delete_edge("publish()", "never", "total()")', "wrong.txt")
    stuck = synced.refused(
        "apply", "--refinement-file", file, "--skip-trace-check", "--allow-low-confidence", code=4
    )
    assert "There is no edge 'publish()' -never-> 'total()' to delete." in stuck
    assert "--reject 1" in stuck
    assert "unknown_thing" in synced.refused("expand", "unknown_thing", code=4)

    ours = synced.graph.read_bytes()
    foreign = ours.replace(b"take_order()", b"TAKE_ORDER()")
    synced.graph.write_bytes(foreign)
    assert "`deeprefine-db sync`" in synced.refused("export", code=4)
    synced.refused("export", "--check", code=4)
    assert synced.graph.read_bytes() == foreign
    assert len(synced("log", "--json").data) == 1
    assert "label-changed" in synced("sync").out
    (conflict,) = synced("conflicts", "--json").data
    resolved = synced("resolve", conflict["id"][:6], "--keep", "ours", "--json").data
    assert (resolved["suspended"], synced("conflicts", "--json").data) == ([], [])
    synced("export")
    assert b"take_order()" in synced.graph.read_bytes()
    synced.healthy()


def test_a_store_that_another_process_holds_is_code_5(synced: Base) -> None:
    file = synced.actions(TRIGGERS)
    with held(synced) as pid:
        for arguments in (
            (
                "apply",
                "--refinement-file",
                file,
                "--skip-trace-check",
                "--allow-low-confidence",
                "--wait",
                "0",
            ),
            ("search", "order", "--wait", "0"),
            ("export", "--wait", "0.2"),
            ("doctor", "--wait", "0"),
        ):
            said = synced.refused(*arguments, code=5)
            assert str(pid) in said
            assert "--wait" in said
        assert synced("status", "--json").data["refinements"] == 0
    synced.apply(TRIGGERS, "--wait", "0")


BROKEN = {
    "empty": b"",
    "not JSON": b"nodes: []",
    "an array": b"[]",
    "a detect result": b'{"files": {}, "total_files": 3}',
    "duplicate ids": b'{"nodes":[{"id":"twin"},{"id":"twin"}],"links":[]}',
}


def test_a_graph_json_that_is_none_is_code_7_and_changes_nothing(synced: Base, tmp_path: Path) -> None:
    whole = synced.graph.read_bytes()
    digest = synced("export", "--check", "--json").data["file_digest"]
    for name, content in {**BROKEN, "truncated": whole[:-40]}.items():
        synced.graph.write_bytes(content)
        said = synced.refused("sync", code=7)
        assert "graph.json" in said, name
        assert ("twin" in said) == (name == "duplicate ids")
        assert synced.graph.read_bytes() == content
    synced.graph.write_bytes(whole)
    assert synced("export", "--check", "--json").data["file_digest"] == digest
    synced.healthy()

    fresh = Base(tmp_path / "fresh")
    fresh.out.mkdir(parents=True)
    assert "graphify update" in fresh.refused("sync", code=7)
    fresh.graph.write_bytes(whole[:200])
    fresh.refused("refine", "--query", CHAIN, code=7)
    assert not (fresh.ours / "store").exists()


def test_every_command_prints_json_and_is_silent_beside_it_with_quiet(base: Base) -> None:
    used: set[str] = set()

    def run(*arguments: str | Path, code: int = 0, db: Base = base) -> object:
        used.add(str(arguments[0]))
        done = db("--json", *arguments, "--quiet", code=code)
        assert done.err == "", arguments
        return done.data

    run("sync")
    run("status")
    run("history", "add", "--query", FILES)
    run("history", "list", "--pending")
    run("history", "sync-memory")
    run("search", "order")
    run("expand", "place_order()")
    run("index", "--rebuild")
    run("cypher", "MATCH (n:Entity) RETURN n.id, n.community LIMIT 3")
    with OpenAIServer(
        in_order(YES, NO, YES, ABDUCTION, f"<refinement>{TRIGGERS}|{NOTIFIES}</refinement>")
    ) as server:
        asking = base.with_env(DEEPREFINE_LLM_URL=server.url)
        run("refine", db=asking)
        report = run("refine", "--query", CHAIN, db=asking)
    assert isinstance(report, dict)
    identity = report["questions"][0]["proposal_id"]
    run("review", identity)
    run("apply", identity, "--only", "1", "--dry-run")
    run("apply", identity, "--only", "1", "--dry-run", "--show-cypher")
    applied = run("apply", identity, "--only", "1", "--export")
    assert isinstance(applied, dict)
    run("reject", proposal(base, TRIGGERS.replace("triggers", "starts"), question=MONEY))
    run("log")
    run("show", applied["refinement"]["id"])
    run("diff")
    run("diff", applied["refinement"]["id"])
    run("conflicts", "--all")
    run("export-log", base.root / "log.jsonl")
    other = lantern(base.root.parent / "other")
    run("sync", db=other)
    run("apply-log", base.root / "log.jsonl", db=other)
    run("undo", applied["refinement"]["id"])
    run("audit", "list")
    run("audit", "run", "snapshots")
    run("audit", "verify")
    run("export")
    run("export", "--check")
    run("export", "--out", base.root / "copy.json")
    run("merge", *[base.root / "copy.json"] * 3)
    run("doctor")
    run("doctor", "--compact")
    run("doctor", "--rebuild")
    shown = base("demo", "--json").data
    assert [each["code"] for each in shown["commands"]].count(4) == 1
    assert shown["diff"]
    assert used | {"demo", "resolve", "update", "hook"} == set(COMMANDS)  # these in tests of their own


def test_common_flags_work_on_either_side_of_the_command(synced: Base, tmp_path: Path) -> None:
    elsewhere = Base(tmp_path, {"DEEPREFINE_STORE": "mystery:there"})
    where = ("--project-root", synced.root, "--store", synced.store, "--json")
    before = elsewhere(*where, "search", "order").data
    assert before["triples"]
    assert elsewhere("search", "order", *where).data == before
    assert elsewhere(*where[:2], "search", *where[2:], "order").data == before
    elsewhere.refused("search", "order", *where[:2], code=2)


def test_errors_are_told_with_quiet_too(synced: Base) -> None:
    assert "Error: " in synced.refused("--quiet", "expand", "unknown_thing", code=4)
    assert "Error: " in synced.refused(
        "export", "--out", synced.root / "no" / "such" / "x.json", "-q", code=1
    )


@pytest.mark.skipif(os.name == "nt", reason="there are no pseudo terminals: not on Windows")
def test_progress_is_for_terminals_and_colour_for_nobody_who_said_no(synced: Base) -> None:
    with OpenAIServer() as server:
        asking = synced.with_env(DEEPREFINE_EMBED_URL=server.url, NO_COLOR="1")
        shown = on_terminal(asking, "index", "--rebuild")
        assert "59/59 (100 %)" in shown
        assert "\x1b" not in shown
        piped = asking("index", "--rebuild")
        assert piped.err == ""
        assert "\r" not in piped.out
    for arguments in (("search", "order"), ("nonsense",)):
        assert "\x1b" not in on_terminal(asking, *arguments)


def on_terminal(base: Base, *arguments: str) -> str:
    """Run a command whose outputs are a terminal, and give what the terminal got."""
    ours, theirs = os.openpty()
    process = subprocess.Popen(
        [sys.executable, "-m", "deeprefine_graphdb.cli.main", *arguments],
        cwd=base.root,
        env=environment(DEEPREFINE_STORE=base.store, TERM="xterm-256color", **base.env),
        stdin=subprocess.DEVNULL,
        stdout=theirs,
        stderr=theirs,
    )
    os.close(theirs)
    got = b""
    try:
        while part := os.read(ours, 65536):
            got += part
    except OSError:  # Linux says so when the last writer has gone
        pass
    finally:
        os.close(ours)
    process.wait(LIMIT)
    return got.decode("utf-8")
