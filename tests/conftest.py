"""Flags of the whole suite, and a store to test on for the contract and the engines' own tests."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest
from hypothesis import settings

from tests.contract.harness import Harness, harness_at

# Speed is measured in benchmarks/: a busy machine fails no test.
settings.register_profile("untimed", deadline=None)
settings.load_profile("untimed")


def pytest_addoption(parser: pytest.Parser) -> None:
    parser.addoption(
        "--fuzz-seeds",
        type=int,
        default=2,
        help="how many random histories the store is driven through (default 2)",
    )


@pytest.fixture
def harness(tmp_path: Path) -> Harness:
    return harness_at(tmp_path)


@pytest.fixture(scope="session")
def template(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Load the common graph once; making all tables anew for each test takes most of its time."""
    directory = tmp_path_factory.mktemp("template")
    harness_at(directory).load()
    return directory


@pytest.fixture
def loaded(harness: Harness, template: Path, tmp_path: Path) -> Harness:
    shutil.copytree(template, tmp_path, dirs_exist_ok=True)
    return harness
