"""What the loop's tests share."""

from __future__ import annotations

from collections.abc import Callable

import pytest
from deeprefine_skill.agent_loop import validate_trace


@pytest.fixture(autouse=True)
def _no_settings_from_outside(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("OPENAI_API_KEY", "OPENAI_BASE_URL", "HTTP_PROXY", "HTTPS_PROXY", "ALL_PROXY", "http_proxy"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("NO_PROXY", "127.0.0.1")


@pytest.fixture
def skill_validates() -> Callable[..., list[str]]:
    """Give the validator of deeprefine-cli 0.2.0."""
    validate: Callable[..., list[str]] = validate_trace
    return validate
