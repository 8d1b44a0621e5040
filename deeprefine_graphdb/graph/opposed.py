"""Two stores whose logs are united: one inserted an edge and the other deleted it, neither knowing of the other."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable
from dataclasses import dataclass

Ends = tuple[str, str, str]
"""A triple by ids: source, relation, target."""


@dataclass(frozen=True)
class Said:
    """What an action says about a triple: that it is in the graph (``insert``) or is not (``delete``).

    ``aware`` are the refinements of other sides that its own was made in the knowledge of (``None``: all).
    """

    kind: str
    action: str
    refinement: str
    side: str
    aware: frozenset[str] | None

    def knows(self, other: Said) -> bool:
        """Tell whether this was said in the knowledge of the other."""
        return self.aware is None or other.refinement in self.aware


class Sides:
    """What each side said last about every triple. ``differ`` says whether there is more than one side at all."""

    def __init__(self, sides: Iterable[str]) -> None:
        self.differ = len(set(sides)) > 1
        self._last: defaultdict[Ends, dict[str, Said]] = defaultdict(dict)

    def say(self, triple: Ends, said: Said) -> None:
        """Take note of what an action that was carried out says."""
        self._last[triple][said.side] = said

    def opposing(self, triple: Ends, own: Said) -> Said | None:
        """Give what another side said to the contrary, when neither knew of the other."""
        for other in self._last.get(triple, {}).values():
            if (
                other.side != own.side
                and other.kind != own.kind
                and not own.knows(other)
                and not other.knows(own)
            ):
                return other
        return None
