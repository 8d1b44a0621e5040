"""One told history for all tests that only read it."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from deeprefine_graphdb.stores.embedded import EmbeddedStore
from tests.audit.scene import Scene, told_scene


@pytest.fixture(scope="session")
def scene(tmp_path_factory: pytest.TempPathFactory) -> Scene:
    return told_scene(tmp_path_factory.mktemp("told"))


@pytest.fixture
def store(scene: Scene) -> Iterator[EmbeddedStore]:
    with scene.open("read") as opened:
        yield opened


@pytest.fixture
def own_scene(tmp_path: Path) -> Scene:
    """Give a history that a test may spoil."""
    return told_scene(tmp_path)
