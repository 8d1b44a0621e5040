"""Deriving the graph anew: what a changed base, or changed refinements, make of every recorded action."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace

from deeprefine_graphdb import stores
from deeprefine_graphdb.graph import outcomes
from deeprefine_graphdb.graph.base_view import ParsedBase
from deeprefine_graphdb.graph.derive import ActiveRefinement, Given, derive
from deeprefine_graphdb.model.actions import Effect, Intent
from deeprefine_graphdb.model.graph import Alias
from deeprefine_graphdb.model.write import NewRecord, Record, StoreState
from deeprefine_graphdb.project.became import Became
from deeprefine_graphdb.project.knowledge_base import KnowledgeBase
from deeprefine_graphdb.provenance.log import Log
from deeprefine_graphdb.provenance.project import project_all
from deeprefine_graphdb.provenance.records import (
    AnyBody,
    ConflictBody,
    How,
    RefinementBody,
    SettledBody,
    new_id,
    to_record,
)
from deeprefine_graphdb.provenance.remains import left_behind
from deeprefine_graphdb.stores.journal import chain
from deeprefine_graphdb.stores.protocol import Generation, Touched
from deeprefine_loaders.graphfile import GraphFile


@dataclass(frozen=True)
class Derivation:
    """A graph derived anew over a base, not yet written.

    ``touched`` and ``aliases`` are the rows that differ from the base, ``refinements`` counts the active ones and
    ``suspended`` names those in conflict. ``records`` go into the log. What the derivation looked things up in is not
    kept, since it is large.
    """

    graph: GraphFile
    touched: Touched
    aliases: tuple[Alias, ...]
    refinements: int
    suspended: frozenset[str]
    records: tuple[NewRecord, ...]
    became: tuple[Became, ...]
    opened: tuple[ConflictBody, ...]
    settled: tuple[ConflictBody, ...]


@dataclass(frozen=True)
class Conclusion:
    """What a derivation says: the records that go into the log, what came out otherwise, and the conflicts."""

    records: tuple[NewRecord, ...]
    became: tuple[Became, ...]
    changed: tuple[Effect, ...]
    opened: tuple[ConflictBody, ...]
    settled: tuple[ConflictBody, ...]


def active_refinements(log: Log) -> list[ActiveRefinement]:
    """Give the active refinements in the form that derive takes, in order of activation."""
    places, origins = log.order.places(), log.order.origins()
    return [
        ActiveRefinement(
            id=body.id,
            record_seq=places[body.id],
            bound=body.actions,
            side=origins[body.id].side,
            aware=origins[body.id].aware,
        )
        for _, body in log.active_bodies()
    ]


def given_by(log: Log) -> Given:
    """Give what derive is given besides base and refinements: words on conflicts, and what the last file said."""
    last = log.last_sync()
    return Given(
        resolutions=log.resolutions(),
        echoes={(echo.object, echo.key, echo.by): echo.raw for echo in last.echoes} if last else {},
        undone_outside=frozenset(note.by for note in last.notes if note.kind == "returned")
        if last
        else frozenset(),
    )


def derive_after(graph: GraphFile, log: Log, said: Sequence[NewRecord]) -> Derivation:
    """Derive the graph over a base as it is once the log has these records, without writing anything."""
    after = extended(log, said)
    derived = derive(ParsedBase(graph), active_refinements(after), given_by(after))
    concluded = conclude(after, said, derived.by_refinement)
    return Derivation(
        graph=graph,
        touched=derived.touched(),
        aliases=tuple(derived.view.overlay.aliases.values()),
        refinements=len(derived.by_refinement),
        suspended=derived.suspended,
        records=concluded.records,
        became=concluded.became,
        opened=concluded.opened,
        settled=concluded.settled,
    )


def conclude(
    after: Log,
    said: Sequence[NewRecord],
    judged: Mapping[str, Sequence[Effect]],
    kept: Iterable[Effect] = (),
) -> Conclusion:
    """Give what the log gets when these records change the graph: they themselves and what follows from them.

    ``after`` is the log with them, ``judged`` the effects of the refinements that were derived again, ``kept`` the
    recorded ones of the others. The effects that come out otherwise than recorded go beside the last of ``said``.
    """
    became, changed = compare(after, judged)
    opened, settled = conflicts_of(after, [*kept, *(one for effects in judged.values() for one in effects)])
    last = said[-1].model_copy(
        update={"effects": [*said[-1].effects, *(effect.model_dump(mode="json") for effect in changed)]}
    )
    more: list[AnyBody] = [*opened, *(body for body, _ in settled)]
    return Conclusion(
        records=(*said[:-1], last, *(to_record(body, last.ts) for body in more)),
        became=became,
        changed=tuple(changed),
        opened=opened,
        settled=tuple(conflict for _, conflict in settled),
    )


def write_derivation(base: KnowledgeBase, state: StoreState, log: Log, derivation: Derivation) -> StoreState:
    """Make a derivation the store's content, as a new generation, and append its records to the log.

    ``state`` is the state that the derivation was made on, with what the store is to say now but for the log's place.
    """
    records = (*log.records, *derivation.records)
    rows = project_all(records)
    touched, nodes = derivation.touched, derivation.graph.nodes
    present = {*nodes.id, *(entity.id for entity in touched.entities)}
    gone = left_behind(records, present, state.revision)
    return stores.load_generation(
        base.url,
        Generation(
            base=derivation.graph,
            state=state,
            touched=replace(touched, entities=(*touched.entities, *gone)),
            aliases=derivation.aliases,
            nodes=rows.nodes,
            relations=rows.relations,
        ),
        derivation.records,
        log_dir=base.project.log,
        wait=base.wait,
    )


def extended(log: Log, records: Iterable[NewRecord]) -> Log:
    """Give the log as it is when these records are in it."""
    last = log.records[-1] if log.records else None
    chained: tuple[Record, ...] = chain(records, last.seq if last else 0, last.hash if last else "")
    return log.extended(chained)


def compare(
    log: Log, by_refinement: Mapping[str, Sequence[Effect]]
) -> tuple[tuple[Became, ...], list[Effect]]:
    """Give what came out otherwise than it was last recorded: for people, and as effects to be recorded.

    The effects of a refinement are recorded together, with the questions that decided them.
    """
    became: list[Became] = []
    changed: list[Effect] = []
    for refinement_id, effects in by_refinement.items():
        last = {effect.action: effect for effect in log.effects_of(refinement_id)}
        body = log.refinement_body(refinement_id)
        if _is_news(last, effects, body):
            changed.extend(effects)
        for (number, bound), effect in zip(body.numbered(), effects, strict=True):
            old = last.get(effect.action)
            if (
                old is None
                or outcomes.differ(old.outcome, effect.outcome)
                or effect.note not in {old.note, ""}
            ):
                became.append(
                    Became(
                        action=effect.action,
                        refinement=refinement_id,
                        number=number,
                        kind=bound.intent.kind,
                        what=in_words(bound.intent),
                        before=old.outcome if old is not None else "",
                        outcome=effect.outcome,
                        note=effect.note,
                    )
                )
    return tuple(became), changed


def _is_news(last: Mapping[str, Effect], effects: Iterable[Effect], body: RefinementBody) -> bool:
    known = {question for effect in last.values() for question in effect.reads} or set(body.footprint.seen)
    return any(
        effect.action not in last
        or _comparable(last[effect.action]) != _comparable(effect)
        or not known.issuperset(effect.reads)
        for effect in effects
    )


def in_words(intent: Intent) -> str:
    """Say in words what an action is for."""
    if intent.kind in {"insert", "delete"}:
        return f"{intent.kind} {intent.subject!r} -{intent.relation}-> {intent.object!r}"
    return f"{intent.kind} {intent.subject!r} {'into' if intent.kind == 'merge' else 'to'} {intent.object!r}"


def _comparable(effect: Effect) -> Effect:
    """Leave out what says only when or why an effect came about."""
    return effect.model_copy(update={"outcome": outcomes.plainly(effect.outcome), "reads": ()})


def conflicts_of(
    log: Log, effects: Iterable[Effect]
) -> tuple[tuple[ConflictBody, ...], list[tuple[SettledBody, ConflictBody]]]:
    """Give the conflicts that are new, and those that are over."""
    stuck = {effect.action: effect for effect in effects if outcomes.is_conflict(effect.outcome)}
    settled: list[tuple[SettledBody, ConflictBody]] = []
    still: set[str] = set()
    said: dict[tuple[str, str, str], How] = {
        (word.action, word.kind, word.ground): word.keep for word in log.resolutions()
    }
    active = set(log.active())
    for conflict in log.open_conflicts():
        effect = stuck.get(conflict.action)
        if effect is not None and (effect.outcome, effect.ground) == (conflict.kind, conflict.ground):
            still.add(conflict.action)
            continue
        how: How = said.get((conflict.action, conflict.kind, conflict.ground), "healed")
        if conflict.action.rpartition(".")[0] not in active:
            how = "undone"
        settled.append((SettledBody(id=new_id("v"), conflict=conflict.id, how=how), conflict))
    opened = tuple(
        ConflictBody(
            id=new_id("c"), action=action, kind=effect.outcome, detail=effect.note, ground=effect.ground
        )
        for action, effect in stuck.items()
        if action not in still
    )
    return opened, settled
