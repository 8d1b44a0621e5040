"""The words for what becomes of an action on a base, and what they mean to a person.

An action is ``reapplied`` (``applied`` when it was carried out for the first time), ``already`` when there is nothing
to do, ``dropped`` when a person left it out, ``held`` when it could be carried out but another action of its refinement
is in conflict. Every other word is the kind of a conflict, and suspends its refinement.
"""

from __future__ import annotations

from collections.abc import Iterable

from deeprefine_graphdb.model.actions import Effect

APPLIED = "applied"
REAPPLIED = "reapplied"
ALREADY = "already"
DROPPED = "dropped"
HELD = "held"

TARGET_MISSING = "target-missing"
TARGET_AMBIGUOUS = "target-ambiguous"
IDENTITY_CHANGED = "identity-changed"
LABEL_CHANGED = "label-changed"
NAME_TAKEN = "name-taken"
EDGE_AMBIGUOUS = "edge-ambiguous"
COLLAPSED = "collapsed"
DEPENDS_ON = "depends-on"
OPPOSED = "opposed"

CONFLICTS = {
    TARGET_MISSING: "what the action is about is not in the graph any more",
    TARGET_AMBIGUOUS: "what the action is about has gone, and several others could be it",
    IDENTITY_CHANGED: "the id stands for another entity now",
    LABEL_CHANGED: "the entity was renamed in the file as well, to another name",
    NAME_TAKEN: "another entity has the new name now",
    EDGE_AMBIGUOUS: "it cannot be told which of several equal edges is meant",
    COLLAPSED: "both ends of the edge are one entity now",
    DEPENDS_ON: "it needs what a suspended refinement would make",
    OPPOSED: "somebody else decided the opposite about the same edge",
}
"""Every kind of conflict, and what it says."""

SETTLED = frozenset({APPLIED, REAPPLIED, ALREADY, DROPPED})


def plainly(outcome: str) -> str:
    """Give an outcome without saying whether the action was carried out for the first time."""
    return REAPPLIED if outcome == APPLIED else outcome


def differ(before: str, now: str) -> bool:
    """Tell whether two outcomes of an action mean different things."""
    return plainly(before) != plainly(now)


def is_conflict(outcome: str) -> bool:
    """Tell whether an outcome is a kind of conflict, which a person can resolve."""
    return outcome not in SETTLED and outcome != HELD


def suspends(effects: Iterable[Effect]) -> bool:
    """Tell whether a refinement with these effects is suspended: one of its actions is in conflict."""
    return any(is_conflict(effect.outcome) for effect in effects)
