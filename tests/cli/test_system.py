"""What the system refuses, and what a shell hands over, ends in one sentence and a code of ours."""

from __future__ import annotations

import os
import stat
import subprocess
import sys
import threading
from pathlib import Path

import pytest

from tests.cli.conftest import Cli, environment

MODULE = [sys.executable, "-m", "deeprefine_graphdb.cli.main"]
posix = pytest.mark.skipif(os.name == "nt", reason="streams and names of POSIX")


def shell(command: str, *arguments: str | Path) -> subprocess.CompletedProcess[str]:
    """Run a command line in which ``"$@"`` stands for this program with its arguments."""
    return subprocess.run(
        ["sh", "-c", command, "sh", *MODULE, *map(str, arguments)],
        env=environment(),
        capture_output=True,
        text=True,
        check=False,
        timeout=60,
    )


@posix
@pytest.mark.parametrize("closed", [">&-", "<&- >&-", "<&- >&- 2>&-", "2>&-"])
def test_a_closed_stream_is_as_good_as_one_that_nobody_reads(root: Path, closed: str) -> None:
    done = shell(f'"$@" {closed}', "history", "add", "--query", "what is a?")
    assert (done.returncode, done.stderr) == (0, "")
    queue = (root / "graphify-out" / ".deeprefine" / "history.jsonl").read_text(encoding="utf-8")
    assert queue.count("what is a?") == 1


@posix
@pytest.mark.engine
def test_nothing_that_is_printed_gets_into_a_file_of_the_store(root: Path, cli: Cli) -> None:
    assert shell('"$@" <&- >&- 2>&-', "sync").returncode == 0
    cli("doctor")
    cli("export", "--check")


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="a device that is full")
@pytest.mark.parametrize("arguments", [("status", "--json"), ("--help",), ("history", "list")])
def test_a_full_stdout_is_told(root: Path, arguments: tuple[str, ...], cli: Cli) -> None:
    cli("history", "add", "--query", "what is a?")
    done = shell('"$@" >/dev/full', *arguments)
    assert done.stderr.splitlines()[0] == "Error: stdout cannot be written: No space left on device."
    assert "not foreseen" not in done.stderr
    assert "Exception" not in done.stderr
    assert done.returncode == 1


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="a device that is full")
def test_a_full_stderr_stops_nothing(root: Path) -> None:
    done = shell('"$@" 2>/dev/full', "history", "list")
    assert (done.returncode, done.stderr) == (0, "")


@posix
@pytest.mark.engine
def test_an_export_goes_through_a_pipe_and_leaves_it_one(synced: Path, cli: Cli, tmp_path: Path) -> None:
    graph = (synced / "graphify-out" / "graph.json").read_bytes()
    pipe = tmp_path / "pipe"
    os.mkfifo(pipe)
    read: list[bytes] = []
    reader = threading.Thread(target=lambda: read.append(pipe.read_bytes()))
    reader.start()
    cli("export", "--out", pipe)
    reader.join(timeout=20)
    assert read == [graph]
    assert stat.S_ISFIFO(pipe.stat().st_mode)
    done = shell('"$@" | cat', "export", "--out", "/dev/stdout")
    assert done.stdout.encode() == graph
    assert done.stderr.startswith("Wrote /dev/stdout;")


@posix
@pytest.mark.engine
def test_a_graph_json_that_is_no_file_is_refused_and_stays(synced: Path, cli: Cli) -> None:
    graph = synced / "graphify-out" / "graph.json"
    graph.unlink()
    os.mkfifo(graph)
    for arguments in (("status",), ("sync",), ("export",), ("export", "--force"), ("export", "--check")):
        assert f"{graph} is not a file." in cli(*arguments, code=7).err
    assert stat.S_ISFIFO(graph.stat().st_mode)


@pytest.mark.engine
@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (("sync", "--wait", "nan"), "nan"),
        (("sync", "--wait", "inf"), "inf"),
        (("sync", "--wait", "-1"), "-1"),
        (("sync", "--wait", "soon"), "soon"),
        (("cypher", "RETURN 1", "--timeout", "nan"), "nan"),
        (("cypher", "RETURN 1", "-p", "a=" + "[" * 100_000), "nested too deep"),
        (("cypher", "RETURN $a", "-p", "a=[1, 'y']".replace("'", '"')), "a list of different types"),
        (("cypher", "RETURN $a", "-p", 'a={"x": [1, "y"]}'), "a list of different types"),
        (("cypher", "RETURN $a", "-p", f"a={1 << 63}"), "beyond 64 bits"),
        (("cypher", "RETURN $a", "-p", 'a="\\ud83d"'), "not valid Unicode"),
        (("history", "add", "--query", "what is \udcff?"), "not valid Unicode"),
        (("refine", "--query", "what is \udcff?"), "not valid Unicode"),
        (("export", "--out", ""), "names no file"),
        (("apply", "p1", "--refinement-file", "a.txt"), "not both"),
        (("review", "p1", "--refinement-file", "a.txt"), "not both"),
        (("apply", "p1", "--trace-file", "t.json"), "--trace-file goes with --refinement-file"),
        (("apply", "--trace-file", "t.json"), "--trace-file goes with --refinement-file"),
        (("review", "--trace-file", "t.json"), "--trace-file goes with --refinement-file"),
        (("apply",), "Give the id of a proposal, or --refinement-file"),
        (("apply", "p1", "--skip-trace-check"), "--skip-trace-check goes with --refinement-file"),
        (("apply", "p1", "--dry-run", "--export"), "--dry-run changes nothing"),
        (("apply", "p1", "--show-cypher"), "--show-cypher goes with --dry-run"),
        (("refine", "--export"), "--export goes with --apply"),
    ],
)
def test_options_that_make_no_sense_are_usage_errors(
    root: Path, cli: Cli, arguments: tuple[str, ...], said: str
) -> None:
    assert said in cli(*arguments, code=2).err


@posix
def test_a_place_that_cannot_be_written_is_named(root: Path, cli: Cli) -> None:
    (root / "file").write_text("x", encoding="utf-8")
    ended = cli("demo", "--dir", root / "file" / "below", code=1)
    assert ended.err.startswith(f"Error: {root / 'file' / 'below'}")
    assert "not foreseen" not in ended.err


def test_an_error_of_the_system_names_the_file_or_the_folder(
    root: Path, cli: Cli, monkeypatch: pytest.MonkeyPatch
) -> None:
    def full(*_: object) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr("deeprefine_graphdb.project.history.read_history", full)
    ended = cli("history", "list", code=1)
    folder = root / "graphify-out" / ".deeprefine"
    assert ended.err.splitlines()[0] == f"Error: {folder} cannot be used: No space left on device."
    assert "Free some space" in ended.err

    def refused(*_: object) -> None:
        raise PermissionError(13, "Permission denied", "/some/file")

    monkeypatch.setattr("deeprefine_graphdb.project.history.read_history", refused)
    assert cli("history", "list", code=1).err.startswith(
        "Error: /some/file cannot be used: Permission denied.\n"
    )
