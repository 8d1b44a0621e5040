"""The bodies of records about what became of refinements: on a graph.json that changed, and beside other stores'."""

from __future__ import annotations

from typing import Literal

from deeprefine_graphdb.model.actions import Frozen, Resolution
from deeprefine_graphdb.provenance.body import Body

How = Literal["ours", "theirs", "drop", "healed", "undone"]
"""How a conflict ended."""


class UpdateBody(Body):
    """graphify was given the base in place of graph.json (``started``), or is done with it (``finished``)."""

    KIND = "update"
    phase: Literal["started", "finished"]
    base_digest: str = ""


class ConflictBody(Body):
    """An action that does not apply any more; ``action`` is ``<refinement>.<n>``, ``kind`` says why.

    ``ground`` is the digest of the base objects that it is about. ``resolved`` says how it ended, if it has.
    """

    KIND = "conflict"
    action: str
    kind: str
    detail: str = ""
    ground: str = ""
    resolved: str = ""


class SettledBody(Body):
    """A conflict is over: a person said ``ours``, ``theirs`` or ``drop``, or it went away.

    It is ``healed`` when the action applies again or is stuck for another reason, ``undone`` with its refinement.
    """

    KIND = "settled"
    conflict: str
    how: How


class ResolutionBody(Body):
    """A person's word on a conflict, which every derive is given from then on."""

    KIND = "resolution"
    conflict: str
    resolution: Resolution
    by: str = ""
    note: str = ""


class Origins(Frozen):
    """Refinements of one side, made in the knowledge of the same refinements of other sides (``aware``)."""

    side: str
    aware: tuple[str, ...] = ()
    refinements: tuple[str, ...]


class UnionBody(Body):
    """The records that follow were taken in from the logs of other stores of the same knowledge base.

    ``taken`` are the ids of those that have a place in the order of all stores: refinements, what happened to them,
    and words on conflicts. ``origins`` say whose the refinements are.
    """

    KIND = "union"
    taken: tuple[str, ...]
    origins: tuple[Origins, ...] = ()
