"""What the members of a parsed object mean, whichever port or version wrote them."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from .identity import storable_text

RELATION_MEMBERS = ("relation", "relationship", "type", "label")
"""Where the relation of a link is found, best first."""

HYPEREDGE_MEMBERS = ("nodes", "members", "node_ids")
"""Where the members of a hyperedge are found, best first."""


def relation_member(link: Mapping[str, Any]) -> str | None:
    """Name the member that holds the relation of a link, or ``None`` when it has none."""
    for name in RELATION_MEMBERS:
        if link.get(name) is not None:
            return name
    return None


def hyperedge_member(hyperedge: Any) -> str | None:
    """Name the member that lists the entities of a hyperedge, or ``None`` when it has none."""
    if isinstance(hyperedge, dict):
        for name in HYPEREDGE_MEMBERS:
            if isinstance(hyperedge.get(name), list):
                return name
    return None


def members_of_hyperedge(hyperedge: Any) -> tuple[str, ...]:
    """Give the entity ids that a hyperedge names, in file order and as often as they stand there."""
    name = hyperedge_member(hyperedge)
    if name is None:
        return ()
    return tuple(storable_text(member) or "" for member in hyperedge[name])
