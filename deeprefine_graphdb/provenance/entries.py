"""What the log shows: one shape for the Python API, the tables and ``--json``."""

from __future__ import annotations

from typing import Literal

from pydantic import Field

from deeprefine_graphdb.model.actions import Effect, Frozen
from deeprefine_graphdb.provenance.records import (
    ConflictBody,
    Label,
    ProposalBody,
    RefinementBody,
    ReviewBody,
)

RefinementState = Literal["applied", "undone", "suspended", "recorded"]
ProposalState = Literal["open", "approved", "applied", "undone", "rejected", "stale"]


class EventEntry(Frozen):
    """One thing that happened, as ``log`` and ``show`` print it. ``seq`` numbers the journal.

    ``group`` is the id of the undo, or of the redo that took one back, that it is part of.
    """

    seq: int
    ts: str
    event: str
    by: str = ""
    note: str = ""
    group: str = ""


class ActionEntry(Frozen):
    """An applied action with what it did. ``label`` is that of the review, where there was one."""

    number: int
    kind: str
    subject: str
    relation: str
    object: str
    label: Label | None = None
    outcome: str = ""
    note: str = ""


class RefinementEntry(Frozen):
    """A line of ``log``: one refinement, where it comes from, and its state now.

    ``position`` counts active refinements in the order in which they are derived, from 1.
    """

    id: str
    seq: int
    ts: str
    state: RefinementState
    position: int | None = None
    proposal_id: str
    query_id: str = ""
    question: str = ""
    by: str = ""
    model: str = ""
    note: str = ""
    actions: tuple[ActionEntry, ...] = ()


class RefinementDetail(RefinementEntry):
    """Everything about one refinement, as ``show`` prints it."""

    body: RefinementBody
    effects: tuple[Effect, ...] = ()
    events: tuple[EventEntry, ...] = ()
    proposal: ProposalBody | None = None
    reviews: tuple[ReviewBody, ...] = ()
    conflicts: tuple[ConflictBody, ...] = ()


class ProposalEntry(Frozen):
    """A proposal and what became of it. ``stale_by`` names what changed the ground under it."""

    id: str
    seq: int
    ts: str
    state: ProposalState
    query_id: str = ""
    question: str = ""
    source: str = ""
    labels: dict[str, int] = Field(default_factory=dict)
    refinement_id: str | None = None
    stale_by: tuple[str, ...] = ()


class TokenUse(Frozen):
    """Tokens, calls and seconds that one model (or, with an empty name, all of them) took."""

    model: str = ""
    calls: int = 0
    failed: int = 0
    tokens_in: int = 0
    tokens_out: int = 0
    seconds: float = 0.0
