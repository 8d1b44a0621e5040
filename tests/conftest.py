"""Flags of the whole suite."""

from __future__ import annotations

import pytest


def pytest_addoption(parser: pytest.Parser) -> None:
    parser.addoption(
        "--fuzz-seeds",
        type=int,
        default=2,
        help="how many random histories the store is driven through (default 2)",
    )
