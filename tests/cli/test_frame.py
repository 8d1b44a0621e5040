"""What holds for every command: help at once, flags on either side, errors in one sentence, codes that say what."""

from __future__ import annotations

import importlib
import io
import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import click
import pytest

from deeprefine_graphdb.cli.main import COMMANDS, run
from deeprefine_graphdb.cli.main import cli as group
from deeprefine_graphdb.cli.options import Options
from deeprefine_graphdb.cli.output import Progress, clean, table
from tests.cli.conftest import Cli, environment
from tests.support.openai_server import Answer, OpenAIServer, in_order

HEAVY = {"kuzu", "ladybug", "faiss", "openai", "neo4j", "pyarrow", "numpy", "pydantic", "sqlite3", "httpx"}
MODULE = [sys.executable, "-m", "deeprefine_graphdb.cli.main"]


def imported(*arguments: str) -> set[str]:
    """Give the top-level modules that a command imports."""
    done = subprocess.run(
        [sys.executable, "-X", "importtime", "-m", "deeprefine_graphdb.cli.main", *arguments],
        capture_output=True,
        text=True,
        check=True,
        env=environment(),
    )
    return {line.rpartition("|")[2].strip().partition(".")[0] for line in done.stderr.splitlines()}


@pytest.mark.parametrize("arguments", [["--help"], ["--version"], *([name, "--help"] for name in COMMANDS)])
def test_help_imports_nothing_heavy(arguments: list[str]) -> None:
    assert not imported(*arguments) & HEAVY


@pytest.mark.parametrize("name", COMMANDS)
def test_a_command_is_registered_under_its_own_name(name: str) -> None:
    module, text = COMMANDS[name]
    command = importlib.import_module(module).command
    assert isinstance(command, click.Command)
    assert command.name == name
    assert text.endswith(".")


def test_help_lists_every_command(cli: Cli) -> None:
    shown = cli("--help").out
    assert [name for name in COMMANDS if f"\n  {name} " not in shown] == []


@pytest.mark.engine
def test_common_options_are_taken_before_and_after_the_command(
    synced: Path, cli: Cli, tmp_path: Path
) -> None:
    for arguments in (
        ("--json", "--project-root", synced, "log"),
        ("log", "--json", "--project-root", synced),
        ("--json", "log", "--project-root", synced),
    ):
        assert cli(*arguments).data == []
    cli("--project-root", tmp_path / "nowhere", "log", code=2)
    cli("history", "--project-root", tmp_path / "nowhere", "list", code=2)


def test_an_unknown_command_is_told_with_near_ones(cli: Cli) -> None:
    ended = cli("syncc", code=2)
    assert (
        ended.err == "Error: There is no command `syncc`. Did you mean sync?\nTry `deeprefine-db --help`.\n"
    )
    assert ended.out == ""


def test_no_command_shows_help_and_is_a_usage_error(cli: Cli) -> None:
    assert "Commands:" in cli(code=2).err


def test_an_error_is_a_sentence_and_a_hint_on_stderr(
    cli: Cli, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    ended = cli("status", code=7)
    assert ended.out == ""
    first, second = ended.err.splitlines()
    assert first == f"Error: No graphify-out/graph.json in {tmp_path} or above it."
    assert "graphify update" in second


def test_debug_shows_the_traceback(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert run(["status", "--debug", "--project-root", str(tmp_path)], Options()) == 7
    assert "Traceback" in capsys.readouterr().err


def test_what_was_not_foreseen_is_one_sentence_too(
    root: Path, cli: Cli, monkeypatch: pytest.MonkeyPatch
) -> None:
    def broken(*_: object) -> None:
        raise RuntimeError("boom")

    monkeypatch.setattr("deeprefine_graphdb.project.history.read_history", broken)
    ended = cli("history", "list", code=1)
    assert ended.err.startswith("Error: RuntimeError: boom\n")
    assert "--debug" in ended.err


def test_a_reader_that_has_gone_is_no_error(root: Path) -> None:
    process = subprocess.Popen(
        [*MODULE, "history", "list", "--json"],
        env=environment(),
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )
    assert process.stdout is not None
    assert process.stderr is not None
    process.stdout.close()
    assert "Error" not in process.stderr.read()
    assert process.wait(timeout=30) == 141


@pytest.mark.slow
@pytest.mark.engine
@pytest.mark.skipif(os.name == "nt", reason="signals work otherwise: not on Windows")
def test_ctrl_c_ends_a_run_that_waits_for_the_model(synced: Path) -> None:
    with OpenAIServer(in_order(Answer(delay=20))) as server:
        process = subprocess.Popen(
            [*MODULE, "refine", "--query", "q order"],
            env=environment(DEEPREFINE_LLM_URL=server.url),
            stderr=subprocess.PIPE,
            text=True,
        )
        for _ in range(200):
            if server.chats:
                break
            time.sleep(0.1)
        process.send_signal(signal.SIGINT)
        _, err = process.communicate(timeout=30)
    assert process.returncode == 130
    assert err.endswith("Interrupted.\n")
    assert "Traceback" not in err


ENDLESS = "UNWIND range(1, 1000000000) AS x RETURN count(x)"


@pytest.mark.slow
@pytest.mark.engine
def test_a_query_ends_in_its_time_whatever_the_engine_does(synced: Path, cli: Cli) -> None:
    began = time.monotonic()
    done = subprocess.run(
        [*MODULE, "cypher", ENDLESS, "--timeout", "1"],
        env=environment(),
        capture_output=True,
        text=True,
        check=False,
        timeout=50,
    )
    assert (done.returncode, done.stdout) == (1, "")
    assert done.stderr.startswith("Error: The query did not finish within 1 seconds.")
    assert time.monotonic() - began < 30
    assert cli("cypher", "RETURN 1 AS one", "--json").data == [{"one": 1}]


@pytest.mark.slow
@pytest.mark.engine
@pytest.mark.skipif(os.name == "nt", reason="signals work otherwise: not on Windows")
def test_ctrl_c_ends_a_query_at_once(synced: Path) -> None:
    process = subprocess.Popen(
        [*MODULE, "cypher", ENDLESS, "--timeout", "60"], env=environment(), stderr=subprocess.PIPE, text=True
    )
    time.sleep(5)
    process.send_signal(signal.SIGINT)
    _, err = process.communicate(timeout=20)
    assert process.returncode == 130
    assert err == "Interrupted.\n"


def test_progress_is_silent_where_stderr_is_no_terminal(capsys: pytest.CaptureFixture[str]) -> None:
    progress = Progress(Options())
    progress("Embedding", 1, 2)
    progress.done()
    assert capsys.readouterr().err == ""


def test_control_characters_of_labels_do_not_reach_the_terminal() -> None:
    assert clean("a\x1b[31mb\x07\tc\n") == "a\ufffd[31mb\ufffd\tc\n"


def test_a_table_keeps_each_cell_on_one_line() -> None:
    text = table(("a", "b"), [("x\ny", None), ("long" * 30, ["z"])], cell_width=10)
    assert text.splitlines() == ["a           b", "x y         -", 'longlongl…  ["z"]']
    assert table(("a",), []) == ""


@pytest.mark.parametrize(("value", "coloured"), [("", True), ("1", False)])
def test_no_color_is_honoured(value: str, coloured: bool, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("NO_COLOR", value)
    monkeypatch.setattr("click.utils.should_strip_ansi", lambda stream, color: color is False)
    seen = io.StringIO()

    @click.command("painted")
    def painted() -> None:
        click.secho("text", fg="red", file=seen)

    monkeypatch.setitem(group.commands, "painted", painted)
    assert run(["painted"], Options()) == 0
    assert ("\x1b[" in seen.getvalue()) is coloured


@pytest.mark.engine
def test_a_store_in_use_ends_with_5_and_says_who_has_it(synced: Path, cli: Cli) -> None:
    script = (
        "import sys, time; from pathlib import Path; from deeprefine_graphdb.stores.locks import store_lock\n"
        "with store_lock(Path(sys.argv[1]), 'write', 5): print('held', flush=True); time.sleep(60)"
    )
    store = synced / "graphify-out" / ".deeprefine" / "store"
    holder = subprocess.Popen(
        [sys.executable, "-c", script, str(store)], env=environment(), stdout=subprocess.PIPE, text=True
    )
    try:
        assert holder.stdout is not None
        assert holder.stdout.readline() == "held\n"
        for arguments in (("search", "order"), ("cypher", "RETURN 1"), ("export",)):
            assert str(holder.pid) in cli(*arguments, "--wait", "0.1", code=5).err
        assert cli("log", "--json").data == []
    finally:
        holder.kill()
        holder.wait()


@pytest.mark.engine
def test_commands_without_a_model_import_no_client_of_one(synced: Path) -> None:
    (synced / "a.txt").write_text(
        '<refinement>replace_node("Psp", "PaymentProvider")</refinement>', encoding="utf-8"
    )
    apply = ("apply", "--refinement-file", str(synced / "a.txt"), "--skip-trace-check")
    for arguments in (apply, ("status",), ("log",), ("search", "order"), ("export",)):
        assert not imported(*arguments) & {"openai", "faiss", "numpy", "neo4j"}, arguments


def test_completion_is_offered(tmp_path: Path) -> None:
    asked = environment(
        _DEEPREFINE_DB_COMPLETE="bash_complete", COMP_WORDS="deeprefine-db sea", COMP_CWORD="1"
    )
    script = "from deeprefine_graphdb.cli.main import main; main()"
    done = subprocess.run(
        [sys.executable, "-c", script], env=asked, capture_output=True, text=True, check=False, cwd=tmp_path
    )
    assert done.stdout == "plain,search\n"


def test_every_command_takes_the_common_options() -> None:
    context = click.Context(group)
    for name in COMMANDS:
        command = group.get_command(context, name)
        assert command is not None
        leaves = list(command.commands.values()) if isinstance(command, click.Group) else [command]
        for leaf in leaves:
            options = {option for parameter in leaf.params for option in parameter.opts}
            assert {"--project-root", "--store", "--json", "--debug", "--quiet"} <= options, leaf.name
