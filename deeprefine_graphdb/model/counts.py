"""Counts as the servers of models tell them, which may be anything."""

from __future__ import annotations

# Beyond what any request takes; a store holds it, and all requests added up.
MOST_TOKENS = 1_000_000_000


def counted(value: object) -> int:
    """Give a count that a server tells, and 0 for what is none: a text, a negative or an absurd number."""
    if isinstance(value, bool) or not isinstance(value, int | float) or not 0 <= value <= MOST_TOKENS:
        return 0
    return int(value)
