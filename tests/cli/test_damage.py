"""Every command on a store of which a file is damaged: one sentence and the command that helps, never wrong data."""

from __future__ import annotations

import os
import shutil
from collections.abc import Callable
from pathlib import Path

import pytest

from tests.cli.conftest import ENGINE, Cli

pytestmark = pytest.mark.engine
REBUILD = "deeprefine-db doctor --rebuild"
ACTIONS = '<refinement>insert_edge("place_order()", "triggers", "charge_customer()")</refinement>'
MORE = '<refinement>insert_edge("place_order()", "precedes", "charge_customer()")</refinement>'
OWN = ("--skip-trace-check", "--allow-low-confidence")


def truncated(path: Path) -> None:
    with path.open("rb+") as stream:
        stream.truncate(path.stat().st_size // 2)


def flipped(path: Path) -> None:
    """Turn over a bit of a byte in the middle."""
    content = bytearray(path.read_bytes())
    content[len(content) // 2] ^= 1
    path.write_bytes(content)


def removed(path: Path) -> None:
    path.unlink()


DAMAGES: tuple[Callable[[Path], None], ...] = (truncated, flipped, removed)
MENDED = ("store.json", "journal.size", "base.seen")
"""Notes that the program makes for itself: without them, or with wrong ones, nothing is lost."""


@pytest.fixture(scope="module")
def whole(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("whole") / "kb"


@pytest.fixture
def kb(whole: Path, root: Path, cli: Cli) -> Path:
    """Make a knowledge base with a refinement that is exported; made once, and copied for each test."""
    (root / "actions.txt").write_text(ACTIONS, encoding="utf-8")
    (root / "more.txt").write_text(MORE, encoding="utf-8")
    if not whole.exists():
        cli("sync")
        cli("apply", "--refinement-file", root / "actions.txt", *OWN)
        cli("export")
        cli("search", "order")
        shutil.copytree(root, whole)
    shutil.rmtree(root / "graphify-out")
    shutil.copytree(whole / "graphify-out", root / "graphify-out")
    return root


def file_of(root: Path, name: str) -> Path:
    (found,) = (root / "graphify-out" / ".deeprefine" / "store").glob(f"gen-*/{name}")
    return found


def identity(cli: Cli) -> str:
    return str(cli("log", "--json").data[0]["id"])


def commands(root: Path, refinement: str) -> dict[str, tuple[str | Path, ...]]:
    return {
        "search": ("search", "order"),
        "expand": ("expand", "place_order()"),
        "check": ("export", "--check"),
        "export": ("export",),
        "out": ("export", "--out", root / "out.json"),
        "apply": ("apply", "--refinement-file", root / "more.txt", *OWN),
        "undo": ("undo", refinement),
        "cypher": ("cypher", "MATCH (e:Entity) RETURN count(e)"),
        "fold": ("doctor", "--compact"),
        "audit": ("audit", "verify"),
        "doctor": ("doctor",),
    }


@pytest.mark.parametrize("name", ["base.json", "base.idx"])
@pytest.mark.parametrize("damage", DAMAGES, ids=lambda damage: damage.__name__)
def test_a_damaged_base_is_noticed_by_every_command_and_made_anew(
    kb: Path, cli: Cli, name: str, damage: Callable[[Path], None]
) -> None:
    refinement = identity(cli)
    graph = (kb / "graphify-out" / "graph.json").read_bytes()
    damage(file_of(kb, name))
    cli("status")
    cli("log")
    cli("show", refinement)
    cli("sync")
    for what, arguments in commands(kb, refinement).items():
        said = cli(*arguments, code=1)
        assert "not foreseen" not in said.err, what
        assert REBUILD in said.out + said.err, what
        assert name in said.out + said.err, what
    assert (kb / "graphify-out" / "graph.json").read_bytes() == graph
    assert not (kb / "out.json").exists()
    cli("doctor", "--rebuild")
    for what in ("doctor", "check", "undo"):
        cli(*commands(kb, refinement)[what])


@pytest.mark.parametrize("name", MENDED)
@pytest.mark.parametrize("damage", DAMAGES, ids=lambda damage: damage.__name__)
def test_a_note_that_is_damaged_does_no_harm(
    kb: Path, cli: Cli, name: str, damage: Callable[[Path], None]
) -> None:
    damage(file_of(kb, name))
    for arguments in (("sync",), ("search", "order"), ("doctor",)):
        cli(*arguments)


def test_a_base_that_only_looks_changed_is_read_through_once(kb: Path, cli: Cli) -> None:
    base, seen = file_of(kb, "base.json"), file_of(kb, "base.seen")
    before = seen.read_bytes()
    os.utime(base, ns=(1, 1))
    cli("search", "order")
    assert seen.read_bytes() != before
    cli("doctor")


@pytest.mark.parametrize("damage", [truncated, removed], ids=lambda damage: damage.__name__)
def test_a_damaged_database_is_named_with_what_helps(
    kb: Path, cli: Cli, damage: Callable[[Path], None]
) -> None:
    refinement = identity(cli)
    damage(file_of(kb, f"graph.{ENGINE}"))
    for what in ("search", "expand", "export", "apply", "undo", "doctor"):
        said = cli(*commands(kb, refinement)[what], code=1)
        assert "not foreseen" not in said.err, what
        assert REBUILD in said.out + said.err, what
    cli("doctor", "--rebuild")
    cli("doctor")
