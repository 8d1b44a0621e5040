"""Telling what became of actions, one line each, and what a changed file meant."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import TYPE_CHECKING

from deeprefine_graphdb.cli.output import counted

if TYPE_CHECKING:
    from deeprefine_graphdb.graph.unecho_model import EchoNote
    from deeprefine_graphdb.project.became import Became

NOTES_SHOWN = 20
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


def noted_lines(notes: Iterable[EchoNote], unconfirmed: int) -> Iterator[str]:
    """Give the notes of un-echoing a file, the first of them in words, and how much the base keeps unconfirmed."""
    said = [each for each in notes if each.kind != "unconfirmed"]
    yield from (each.text for each in said[:NOTES_SHOWN])
    if len(said) > NOTES_SHOWN:
        yield f"And {len(said) - NOTES_SHOWN:,} more notes; `--json` has all."
    if unconfirmed:
        kept = counted(unconfirmed, "object")
        yield f"The base keeps {kept} that the file lacks, perhaps only since we took them out; `--json` names them."
