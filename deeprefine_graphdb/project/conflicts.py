"""Conflicts: what is suspended and why, and a person's word on it."""

from __future__ import annotations

from typing import Literal

from deeprefine_graphdb.graph.outcomes import CONFLICTS
from deeprefine_graphdb.model.actions import Frozen, Resolution
from deeprefine_graphdb.model.errors import NothingToDo
from deeprefine_graphdb.project.became import Became
from deeprefine_graphdb.project.derivation import in_words
from deeprefine_graphdb.project.knowledge_base import KnowledgeBase
from deeprefine_graphdb.project.rederive import plan_rederive, write_rederive
from deeprefine_graphdb.provenance.log import Log
from deeprefine_graphdb.provenance.records import ConflictBody, ResolutionBody, new_id

Keep = Literal["ours", "theirs", "drop"]


class ConflictEntry(Frozen):
    """A conflict as ``conflicts`` lists it: the action, what the kind of conflict means, and what can be done."""

    id: str
    refinement: str
    action: str
    what: str
    kind: str
    meaning: str
    detail: str = ""
    resolved: str = ""
    commands: tuple[str, ...] = ()


class ResolveReport(Frozen):
    """What a word on a conflict did. ``suspended`` are the refinements that are still in conflict."""

    conflict: str
    keep: Keep
    became: tuple[Became, ...] = ()
    suspended: tuple[str, ...] = ()
    revision: int = 0


def conflicts(base: KnowledgeBase, *, everything: bool = False) -> list[ConflictEntry]:
    """List the conflicts that wait for a person, or all that there ever were, oldest first."""
    log = base.log()
    found = log.conflicts() if everything else log.open_conflicts()
    return [_entry(log, body) for body in found]


def resolve_conflict(
    base: KnowledgeBase, conflict_id: str, keep: Keep, *, by: str, choice: str | None = None, note: str = ""
) -> ResolveReport:
    """Say what is to become of an action that is in conflict, and derive the graph again.

    ``choice`` is the id or edge key that is meant where several could be. Raises :class:`UsageError` for an unknown
    conflict and :class:`NothingToDo` for one that is over.
    """
    log = base.log()
    conflict = log.conflict(conflict_id)
    if conflict.resolved:
        raise NothingToDo(f"Conflict {conflict.id} is over already: {conflict.resolved}.")
    body = ResolutionBody(
        id=new_id("w"),
        conflict=conflict.id,
        resolution=Resolution(
            action=conflict.action, keep=keep, kind=conflict.kind, ground=conflict.ground, choice=choice
        ),
        by=by,
        note=note,
    )
    refinement = conflict.action.rpartition(".")[0]
    planned = plan_rederive(base, log, [body], again={refinement})
    state = write_rederive(base, planned)
    return ResolveReport(
        conflict=conflict.id,
        keep=keep,
        became=planned.became,
        suspended=tuple(sorted(planned.suspended)),
        revision=state.revision,
    )


def _entry(log: Log, body: ConflictBody) -> ConflictEntry:
    refinement, _, number = body.action.rpartition(".")
    bound = log.refinement_body(refinement).actions[int(number) - 1]
    commands = (
        *(f"deeprefine-db resolve {body.id} --keep {keep}" for keep in ("ours", "theirs", "drop")),
        f"deeprefine-db undo {refinement}",
    )
    return ConflictEntry(
        id=body.id,
        refinement=refinement,
        action=body.action,
        what=in_words(bound.intent),
        kind=body.kind,
        meaning=CONFLICTS.get(body.kind, ""),
        detail=body.detail,
        resolved=body.resolved,
        commands=() if body.resolved else commands,
    )
