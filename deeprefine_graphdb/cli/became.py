"""Telling what became of actions, one line each."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from deeprefine_graphdb.project.became import Became

_SAID = {
    "reapplied": "applied again",
    "already": "nothing to do any more",
    "dropped": "left out",
    "held": "waits for the rest of its refinement",
}


def became_lines(became: Iterable[Became]) -> Iterator[str]:
    """Give a line for each action that came out otherwise, under the id of its refinement."""
    refinement = ""
    for each in became:
        if each.refinement != refinement:
            refinement = each.refinement
            yield f"{refinement}:"
        yield f"  {each.number}. {each.what}: {_SAID.get(each.outcome, each.outcome)}. {each.note}".rstrip()
