"""Where a store is, as a URL says it."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from deeprefine_graphdb.model.errors import UsageError

EMBEDDED = ("kuzu", "ladybug")


@dataclass(frozen=True)
class Place:
    """An embedded store: its engine and its directory."""

    engine: str
    directory: Path


def parse_url(url: str) -> Place:
    """Read ``kuzu:<directory>`` or ``ladybug:<directory>``. Raises :class:`UsageError` for anything else."""
    scheme, colon, rest = url.partition(":")
    if scheme not in EMBEDDED or not colon or not rest.strip():
        raise UsageError(
            f"{url!r} is not the URL of a store.", "Give kuzu:<directory> or ladybug:<directory>."
        )
    return Place(scheme, Path(rest))
