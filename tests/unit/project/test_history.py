"""The queue of questions keeps every line, whoever else writes it."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import pytest

from deeprefine_graphdb.model.errors import StoreLocked, UsageError
from deeprefine_graphdb.project import history
from deeprefine_graphdb.project.paths import ProjectPaths


@pytest.fixture
def queue(tmp_path: Path) -> Path:
    return tmp_path / "graphify-out" / ".deeprefine" / "history.jsonl"


def test_query_id_is_the_one_of_the_contract() -> None:
    assert history.query_id("what is dulce?") == "5cdc0798eb59b486"
    assert history.query_id("  what is dulce?\n") == "5cdc0798eb59b486"


def test_an_added_question_has_the_fields_of_deeprefine_cli(queue: Path) -> None:
    row = history.add(queue, "  what is dulce? ", source="agent")
    assert json.loads(queue.read_text(encoding="utf-8")) == row
    assert list(row) == ["id", "ts", "query", "source", "refined"]
    assert row["id"] == "5cdc0798eb59b486"
    assert (row["query"], row["source"], row["refined"]) == ("what is dulce?", "agent", False)


def test_an_empty_question_is_refused(queue: Path) -> None:
    with pytest.raises(UsageError, match="empty"):
        history.add(queue, " \n")
    assert not queue.exists()


def test_pending_is_what_is_not_refined_once_per_question_in_file_order(queue: Path) -> None:
    queue.parent.mkdir(parents=True)
    rows: list[dict[str, object]] = [
        {"query": "b", "refined": False},
        {"id": "x", "query": "a", "refined": True},
        {"query": "c", "refined": None},
        {"id": history.query_id("b"), "query": "b again", "refined": False},
        {"query": "", "refined": False},
        {"id": "x", "query": "a"},
    ]
    queue.write_text("\n".join(json.dumps(row) for row in rows), encoding="utf-8")
    assert [row["query"] for row in history.read_history(queue).pending()] == ["b", "c", "a"]


def test_ensure_appends_only_what_is_unknown(queue: Path) -> None:
    first = history.ensure(queue, "q", source="cli")
    assert history.ensure(queue, " q ", source="agent") == first
    assert len(history.read_history(queue).rows) == 1


def test_marking_changes_the_lines_of_the_question_and_no_other_byte(queue: Path) -> None:
    queue.parent.mkdir(parents=True)
    other = '{"query":"other",   "refined":false, "extra": "\\u00e4"}'
    queue.write_text(f'{other}\nnot json\n{{"query": "é", "refined": false}}\n', encoding="utf-8")
    assert history.mark_refined(queue, {history.query_id("é")}) == 1
    lines = queue.read_text(encoding="utf-8").split("\n")
    assert lines[:2] == [other, "not json"]
    marked = json.loads(lines[2])
    assert marked["refined"] is True
    assert marked["refined_ts"].endswith("Z")
    assert history.mark_refined(queue, {history.query_id("é")}) == 0


def test_a_torn_last_line_is_named_and_the_rest_is_read(queue: Path) -> None:
    history.add(queue, "whole")
    with queue.open("a", encoding="utf-8") as stream:
        stream.write('{"id": "abc", "que')
    found = history.read_history(queue)
    assert [row["query"] for row in found.rows] == ["whole"]
    assert found.problems == [
        "history.jsonl line 2 is cut off (a write was interrupted) and was passed over."
    ]


def test_adding_after_a_torn_line_keeps_both_apart(queue: Path) -> None:
    history.add(queue, "whole")
    with queue.open("a", encoding="utf-8") as stream:
        stream.write('{"id": "abc", "que')
    history.add(queue, "next")
    assert [json.loads(line)["query"] for line in queue.read_text(encoding="utf-8").splitlines()] == [
        "whole",
        "next",
    ]
    assert queue.with_name("history.jsonl.torn").read_text(encoding="utf-8") == '{"id": "abc", "que\n'


def test_adding_after_a_whole_line_without_newline_keeps_both(queue: Path) -> None:
    queue.parent.mkdir(parents=True)
    queue.write_text('{"query": "no newline"}', encoding="utf-8")
    history.add(queue, "next")
    assert [row["query"] for row in history.read_history(queue).rows] == ["no newline", "next"]


def test_a_question_with_a_lone_surrogate_is_kept(queue: Path) -> None:
    history.add(queue, "odd \ud83d text")
    assert history.read_history(queue).rows[0]["query"] == "odd \ud83d text"
    assert history.mark_refined(queue, {history.query_id("odd \ud83d text")}) == 1


def test_a_line_of_bytes_that_are_no_utf8_stays_as_it_is(queue: Path) -> None:
    queue.parent.mkdir(parents=True)
    queue.write_bytes(b'{"query": "caf\xe9"}\n{"query": "b"}\n')
    history.mark_refined(queue, {history.query_id("b")})
    assert queue.read_bytes().startswith(b'{"query": "caf\xe9"}\n')


def test_a_symbolic_link_and_the_mode_survive_marking(queue: Path, tmp_path: Path) -> None:
    queue.parent.mkdir(parents=True)
    real = tmp_path / "shared.jsonl"
    real.write_text('{"query": "a"}\n', encoding="utf-8")
    real.chmod(0o640)
    queue.symlink_to(real)
    history.mark_refined(queue, {history.query_id("a")})
    assert queue.is_symlink()
    assert json.loads(real.read_text(encoding="utf-8"))["refined"] is True
    assert real.stat().st_mode & 0o777 == 0o640


def test_a_line_that_no_parser_takes_is_passed_over(queue: Path) -> None:
    history.add(queue, "what is a?")
    with queue.open("ab") as stream:
        stream.write(b"[" * 100_000 + b"\n" + b'{"a":' * 100_000 + b"\n")
        stream.write(
            b'{"query": "what is \xff?", "refined": false}\n{"query": "half \\ud83d", "refined": false}\n'
        )
    history.add(queue, "what is b?")
    found = history.read_history(queue)
    assert [row["query"] for row in found.pending()] == ["what is a?", "what is b?"]
    assert [problem.split(" line ")[1].split(" ", 1)[0].rstrip(":") for problem in found.problems] == [
        "2",
        "3",
        "4",
        "5",
    ]
    assert history.mark_refined(queue, [history.query_id("what is b?")]) == 1
    assert queue.read_bytes().count(b"[" * 100_000) == 1


def test_a_queue_in_use_is_waited_for_and_then_told(queue: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(history, "LONGEST_WAIT", 0.2)
    history.add(queue, "what is a?")
    script = (
        "import sys, time; from pathlib import Path; from deeprefine_graphdb.project.history import _exclusive\n"
        "with _exclusive(Path(sys.argv[1])): print('held', flush=True); time.sleep(60)"
    )
    holder = subprocess.Popen([sys.executable, "-c", script, str(queue)], stdout=subprocess.PIPE, text=True)
    try:
        assert holder.stdout is not None
        assert holder.stdout.readline() == "held\n"
        with pytest.raises(StoreLocked, match=r"history\.lock"):
            history.add(queue, "what is b?")
    finally:
        holder.kill()
        holder.wait()
    history.add(queue, "what is b?")
    assert len(history.read_history(queue).rows) == 2


def test_a_queue_that_is_no_file_is_refused(queue: Path) -> None:
    queue.mkdir(parents=True)
    with pytest.raises(UsageError, match="is not a file"):
        history.add(queue, "what is a?")


def test_notes_of_graphify_are_queued_once(tmp_path: Path) -> None:
    project = ProjectPaths(tmp_path)
    project.memory.mkdir(parents=True)
    note = '---\ntype: "query"\nquestion: "what is \\"dulce\\"?"\n---\n\n# Q: what is "dulce"?\n'
    (project.memory / "query_1.md").write_text(note, encoding="utf-8")
    (project.memory / "query_2.md").write_text(note, encoding="utf-8")
    (project.memory / "query_3.md").write_text("no front matter\n", encoding="utf-8")
    history.add(project.history, "known already")
    said: list[str] = []
    assert history.sync_memory(project, said.append) == {"added": 1, "known": 1}
    assert history.sync_memory(project, said.append) == {"added": 0, "known": 2}
    assert "query_3.md" in said[0]
    rows = history.read_history(project.history).rows
    assert [row["query"] for row in rows] == ["known already", 'what is "dulce"?']
    assert rows[1]["source"] == "graphify_memory"
    assert rows[1]["memory_file"] == "graphify-out/memory/query_1.md"


ADD = """
import sys
from pathlib import Path
from deeprefine_graphdb.project.history import add, mark_refined, query_id
path, name = Path(sys.argv[1]), sys.argv[2]
for n in range(500):
    add(path, f"{name} {n}")
    if n % 100 == 99:
        mark_refined(path, {query_id(f"{name} {n}")})
"""


@pytest.mark.slow
def test_two_processes_adding_500_each_leave_1000_valid_lines(queue: Path) -> None:
    queue.parent.mkdir(parents=True)
    workers = [subprocess.Popen([sys.executable, "-c", ADD, str(queue), name]) for name in "ab"]
    assert [worker.wait(timeout=120) for worker in workers] == [0, 0]
    found = history.read_history(queue)
    assert not found.problems
    assert {row["query"] for row in found.rows} == {f"{name} {n}" for name in "ab" for n in range(500)}
    assert len(found.rows) == 1000
    assert sum(row["refined"] for row in found.rows) == 10
