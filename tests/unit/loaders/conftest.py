"""Real graphs, small enough to lie in the repository."""

from __future__ import annotations

import lzma
from pathlib import Path

import pytest

DATA = Path(__file__).parents[2] / "data"


@pytest.fixture(scope="session")
def real_graph() -> dict[str, bytes]:
    """Give the bytes of the real graphs by name."""
    return {
        name: lzma.decompress((DATA / f"{name}.graph.json.xz").read_bytes()) for name in ("requests", "flask")
    }
