"""One told history for all tests that only read it."""

from __future__ import annotations

import shutil
from collections.abc import Iterator
from pathlib import Path

import pytest

from deeprefine_graphdb.stores.embedded import EmbeddedStore
from deeprefine_graphdb.stores.urls import parse_url
from tests.audit.scene import ENGINE, Scene, told_scene


@pytest.fixture(scope="session")
def scene(tmp_path_factory: pytest.TempPathFactory) -> Scene:
    return told_scene(tmp_path_factory.mktemp("told"))


@pytest.fixture
def store(scene: Scene) -> Iterator[EmbeddedStore]:
    with scene.open("read") as opened:
        yield opened


@pytest.fixture
def own_scene(scene: Scene, tmp_path: Path) -> Scene:
    """Give a copy of the history that a test may spoil."""
    directory = parse_url(scene.url).directory
    shutil.copytree(directory, tmp_path / "store")
    shutil.copytree(scene.log_dir, tmp_path / "log")
    return Scene(f"{ENGINE}:{tmp_path / 'store'}", tmp_path / "log", scene.hour)
