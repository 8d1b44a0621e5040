"""The command line on a copy of the demo's knowledge base, run in this process with the real store and client."""

from __future__ import annotations

import json
import os
import sys
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from deeprefine_graphdb.cli.main import run
from deeprefine_graphdb.cli.options import Options
from deeprefine_graphdb.project.demo import copy_demo

ENGINE = os.environ.get("DEEPREFINE_TEST_ENGINE", "kuzu")


@dataclass(frozen=True)
class Result:
    """How a command ended, and what it printed."""

    code: int
    out: str
    err: str

    @property
    def data(self) -> Any:
        return json.loads(self.out)


Cli = Callable[..., Result]


def environment(**more: str) -> dict[str, str]:
    """Give the environment for a process of its own, which finds the package from any folder."""
    path = os.pathsep.join(str(Path(entry).absolute()) for entry in sys.path if entry)
    return {**os.environ, "PYTHONPATH": path, **more}


@pytest.fixture(autouse=True)
def _clean_environment(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in list(os.environ):
        if name.startswith(("OPENAI_", "DEEPREFINE_")) and not name.startswith("DEEPREFINE_TEST"):
            monkeypatch.delenv(name)


@pytest.fixture
def root(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Make a knowledge base that nothing was done with yet; the current folder is in it."""
    root = copy_demo(tmp_path)
    monkeypatch.chdir(root / "shop")
    monkeypatch.setenv("DEEPREFINE_STORE", f"{ENGINE}:{root / 'graphify-out' / '.deeprefine' / 'store'}")
    return root


@pytest.fixture
def cli(capsys: pytest.CaptureFixture[str]) -> Cli:
    """Run a command; ``code`` is what it must end with."""

    def call(*arguments: str | Path, code: int = 0) -> Result:
        capsys.readouterr()
        ended = run([str(argument) for argument in arguments], Options())
        captured = capsys.readouterr()
        assert ended == code, f"{arguments} ended with {ended}\n{captured.out}\n{captured.err}"
        assert "Traceback" not in captured.err
        return Result(ended, captured.out, captured.err)

    return call


@pytest.fixture
def synced(root: Path, cli: Cli) -> Path:
    """Make a knowledge base whose graph is in the store."""
    cli("sync")
    return root
