"""The same base, other refinements or other words on them: the graph that follows, planned and written."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import dataclass

from deeprefine_graphdb.graph import incremental
from deeprefine_graphdb.graph.compile import compile_overlay
from deeprefine_graphdb.graph.incremental import Difference, Recorded
from deeprefine_graphdb.model.write import NewRecord, Statement, StoreState, WritePlan
from deeprefine_graphdb.project.became import Became
from deeprefine_graphdb.project.derivation import (
    active_refinements,
    conclude,
    extended,
    given_by,
)
from deeprefine_graphdb.project.knowledge_base import KnowledgeBase
from deeprefine_graphdb.provenance.compile import record_statements
from deeprefine_graphdb.provenance.log import Log
from deeprefine_graphdb.provenance.records import AnyBody, now, to_record


@dataclass(frozen=True)
class Rederived:
    """A change of the graph that is planned.

    ``suspended`` are all refinements that are in conflict after it, ``became`` tells what comes out otherwise than
    before, ``differences`` the same as undo judges it. ``statements`` write it.
    """

    state: StoreState
    records: tuple[NewRecord, ...]
    statements: tuple[Statement, ...]
    became: tuple[Became, ...]
    differences: tuple[Difference, ...]
    suspended: frozenset[str]


def plan_rederive(
    base: KnowledgeBase,
    log: Log,
    bodies: Sequence[AnyBody],
    *,
    undone: Collection[str] = (),
    redone: Collection[str] = (),
    again: Collection[str] = (),
) -> Rederived:
    """Plan what the graph is once the log has these bodies; nothing is written.

    ``undone`` are the active refinements that go with them, ``redone`` those that come back, ``again`` those on
    whose conflicts they are a word. Only what these meet is judged again.
    """
    ts = now()
    said = [to_record(body, ts) for body in bodies]
    after = extended(log, said)
    recorded = [
        Recorded.of(each, log.effects_of(each.id), log.refinement_body(each.id).footprint)
        for each in active_refinements(log)
    ]
    coming = [each for each in active_refinements(after) if each.id in redone]
    with base.open("read") as store:
        state = store.state()
        result = incremental.rederive(
            store, recorded, given_by(after), undone=undone, redone=coming, again=again
        )
        statements = compile_overlay(result.overlay)
    kept = (
        effect
        for each in recorded
        if each.refinement.id not in result.effects and each.refinement.id not in undone
        for effect in each.effects
    )
    concluded = conclude(after, said, result.effects, kept)
    before = log.refinement_records({effect.action.rpartition(".")[0] for effect in concluded.changed})
    return Rederived(
        state=state,
        records=concluded.records,
        statements=(*statements, *record_statements(concluded.records, before)),
        became=concluded.became,
        differences=result.differences,
        suspended=result.suspended,
    )


def write_rederive(base: KnowledgeBase, planned: Rederived) -> StoreState:
    """Make a planned change the store's content, in one transaction.

    Raises :class:`RevisionMoved` when the graph moved since it was planned.
    """
    with base.open("write") as store:
        return store.write(
            WritePlan(statements=planned.statements, records=planned.records, revision=planned.state.revision)
        )
