"""CI fails on a skip that the machine could have run."""

from __future__ import annotations

import runpy
from pathlib import Path
from typing import Any

import pytest

CASE = '<testsuites><testsuite><testcase classname="t" name="{name}">{inner}</testcase>{more}</testsuite></testsuites>'


@pytest.fixture(scope="module")
def skips() -> dict[str, Any]:
    return runpy.run_path(str(Path(__file__).resolve().parents[2] / ".ci" / "skips.py"))


def report(tmp_path: Path, inner: str, more: str = '<testcase classname="t" name="ran"/>') -> str:
    path = tmp_path / "r.xml"
    path.write_text(CASE.format(name="a", inner=inner, more=more), encoding="utf-8")
    return str(path)


def test_a_run_without_skips_passes(skips: dict[str, Any], tmp_path: Path) -> None:
    assert skips["main"]([report(tmp_path, "")]) == 0


def test_an_unknown_reason_fails_and_is_named(
    skips: dict[str, Any], tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert skips["main"]([report(tmp_path, '<skipped message="could not be bothered"/>')]) == 1
    assert "t::a: could not be bothered" in capsys.readouterr().err


def test_a_declared_capability_may_skip(skips: dict[str, Any], tmp_path: Path) -> None:
    assert skips["main"]([report(tmp_path, '<skipped message="ladybug lacks the capability x"/>')]) == 0


def test_a_run_of_nothing_fails(skips: dict[str, Any], tmp_path: Path) -> None:
    assert skips["main"]([report(tmp_path, '<skipped message="capability"/>', more="")]) == 1
    assert skips["main"]([]) == 1
