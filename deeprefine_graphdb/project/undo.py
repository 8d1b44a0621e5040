"""Undo and redo: the graph without a refinement, or with it again, derived; and what that does to the others."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from deeprefine_graphdb.model.actions import Frozen
from deeprefine_graphdb.model.errors import NothingToDo, RebaseConflict, UsageError
from deeprefine_graphdb.project.became import Became
from deeprefine_graphdb.project.knowledge_base import KnowledgeBase
from deeprefine_graphdb.project.rederive import Rederived, plan_rederive, write_rederive
from deeprefine_graphdb.provenance.log import Log
from deeprefine_graphdb.provenance.records import ConflictBody, EventBody, new_id

NAMED = 5


class UndoReport(Frozen):
    """What an undo or a redo did: its own id, the refinements in the order in which they were taken, and the revision.

    ``became`` tells what it did to actions of other refinements.
    """

    id: str
    done: str
    refinements: tuple[str, ...]
    became: tuple[Became, ...] = ()
    revision: int = 0
    dry_run: bool = False


def undo(
    base: KnowledgeBase, named: Sequence[str], *, by: str, cascade: bool = False, dry_run: bool = False
) -> UndoReport:
    """Take refinements out of the graph, or put those of an undo back in when ``named`` is the id of an undo.

    Raises :class:`RebaseConflict`, naming them, when other refinements would not come out as they do now, unless
    ``cascade`` undoes those too; :class:`NothingToDo` when there is nothing to take back; :class:`UsageError` for an
    unknown id. Nothing has changed then.
    """
    log = base.log()
    undos = [one for one in named if log.undo_of(one) is not None]
    if undos:
        if len(named) > 1:
            raise UsageError(f"{undos[0]} is an undo, which is taken back by itself.", "Give it alone.")
        return _redo(base, log, undos[0], by=by, dry_run=dry_run)
    wanted = list(dict.fromkeys(log.refinement(one).id for one in named))
    idle = [one for one in wanted if one not in log.active()]
    if idle:
        raise NothingToDo(f"Refinement {idle[0]} is not applied, so there is nothing to undo.")
    undo_id = new_id("u")
    while True:
        planned = plan_rederive(base, log, _events(undo_id, "undone", wanted, by), undone=set(wanted))
        refused = [each for each in planned.differences if each.refuses]
        if not refused or all(log.refinement(one).state == "suspended" for one in wanted):
            break
        hurt = {each.refinement for each in refused}
        if not cascade:
            raise RebaseConflict(
                f"Undoing {', '.join(wanted)} would change {_shown(planned.became, hurt)}",
                f"Undo those as well: `deeprefine-db undo {' '.join(wanted)} --cascade`.",
            )
        wanted = [one for one in log.active() if one in hurt or one in wanted]
    return _done(base, planned, undo_id, "undone", wanted, dry_run)


def _redo(base: KnowledgeBase, log: Log, undo_id: str, *, by: str, dry_run: bool) -> UndoReport:
    """Put the refinements of an undo back in, all of them or none, behind all others."""
    refinements = [one for one in log.undo_of(undo_id) or () if one not in log.active()]
    if not refinements:
        raise NothingToDo(f"What {undo_id} undid is applied again already.")
    redo_id = new_id("u")
    events = _events(redo_id, "applied", refinements, by, f"takes back {undo_id}")
    planned = plan_rederive(base, log, events, redone=refinements)
    for one in refinements:
        if one in planned.suspended:
            raise RebaseConflict(
                f"{one} cannot be applied to the graph as it is now: {_why(planned, one)}",
                "Undo what stands in the way first.",
            )
    hurt = {each.refinement for each in planned.differences if each.refuses}
    if hurt:
        raise RebaseConflict(
            f"Applying {', '.join(refinements)} again would change {_shown(planned.became, hurt)}",
            "Undo those first.",
        )
    return _done(base, planned, redo_id, "applied", refinements, dry_run)


def _events(group: str, event: str, refinements: Iterable[str], by: str, note: str = "") -> list[EventBody]:
    return [
        EventBody.model_validate({
            "id": f"{group}.{number}",
            "event": event,
            "of": refinement,
            "of_kind": "refinement",
            "by": by,
            "note": note,
            "group": group,
        })
        for number, refinement in enumerate(refinements, start=1)
    ]


def _shown(became: Iterable[Became], hurt: set[str]) -> str:
    first = [each for each in became if each.refinement in hurt][:NAMED]
    said = "; ".join(f"{each.refinement} ({each.what}: {each.before} → {each.outcome})" for each in first)
    more = len(hurt - {each.refinement for each in first})
    return f"{said}{f' and {more} more' if more else ''}."


def _why(planned: Rederived, refinement: str) -> str:
    bodies = (record.body for record in planned.records if record.kind == ConflictBody.KIND)
    notes = [str(body["detail"]) for body in bodies if str(body["action"]).rpartition(".")[0] == refinement]
    return " ".join(notes) or "it is in conflict."


def _done(
    base: KnowledgeBase,
    planned: Rederived,
    group: str,
    done: str,
    refinements: Sequence[str],
    dry_run: bool,
) -> UndoReport:
    state = planned.state if dry_run else write_rederive(base, planned)
    return UndoReport(
        id=group,
        done=done,
        refinements=tuple(refinements),
        became=tuple(each for each in planned.became if each.refinement not in refinements),
        revision=state.revision,
        dry_run=dry_run,
    )
