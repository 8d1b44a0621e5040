"""Reading the history back from the journal's records alone; no engine is opened for it."""

from __future__ import annotations

from collections.abc import Container, Iterable, Iterator
from functools import cached_property
from typing import Any, TypeVar, cast

from deeprefine_graphdb.graph.outcomes import suspends
from deeprefine_graphdb.graph.rewind import written
from deeprefine_graphdb.model.actions import Effect, Footprint, Resolution
from deeprefine_graphdb.model.errors import UsageError
from deeprefine_graphdb.model.write import Record
from deeprefine_graphdb.provenance.entries import (
    ActionEntry,
    EventEntry,
    ProposalEntry,
    ProposalState,
    RefinementDetail,
    RefinementEntry,
    RefinementState,
    TokenUse,
)
from deeprefine_graphdb.provenance.order import Order
from deeprefine_graphdb.provenance.records import (
    AnyBody,
    ConflictBody,
    EventBody,
    ExportBody,
    ProposalBody,
    QueryBody,
    RefinementBody,
    ResolutionBody,
    ReviewBody,
    SettledBody,
    SyncBody,
    TraceBody,
    UpdateBody,
    read_all_effects,
    read_body,
)

BodyT = TypeVar("BodyT", bound=AnyBody)


class Log:
    """The records of a journal. Each kind is parsed when it is first asked for.

    Every method raises :class:`StoreDamaged` when a record that it needs cannot be read.
    """

    def __init__(self, records: Iterable[Record]) -> None:
        self.records: tuple[Record, ...] = tuple(records)
        self._parsed: dict[str, list[tuple[Record, AnyBody]]] = {}

    def extended(self, records: Iterable[Record]) -> Log:
        """Give the log with further records; what this one has parsed is not parsed again."""
        more = tuple(records)
        longer = Log((*self.records, *more))
        for kind, parsed in self._parsed.items():
            longer._parsed[kind] = [*parsed, *((new, read_body(new)) for new in more if new.kind == kind)]
        return longer

    def bodies(self, kind: type[BodyT]) -> list[tuple[Record, BodyT]]:
        """Give the records of one kind with their bodies, oldest first."""
        if kind.KIND not in self._parsed:
            self._parsed[kind.KIND] = [
                (record, read_body(record)) for record in self.records if record.kind == kind.KIND
            ]
        return cast("list[tuple[Record, BodyT]]", self._parsed[kind.KIND])

    def active(self) -> tuple[str, ...]:
        """Give the ids of the refinements that are applied and not undone, in order of activation."""
        order: dict[str, None] = {}
        for _, body in self.order.in_order(self.bodies(EventBody)):
            if body.of_kind == "refinement" and body.event in {"applied", "undone"}:
                order.pop(body.of, None)
                if body.event == "applied":
                    order[body.of] = None
        return tuple(order)

    @cached_property
    def order(self) -> Order:
        """The order of the records, which all stores that share them agree on."""
        return Order(self.records)

    @cached_property
    def _refinements(self) -> dict[str, tuple[Record, RefinementBody]]:
        return {body.id: (record, body) for record, body in self.bodies(RefinementBody)}

    @cached_property
    def _proposals(self) -> dict[str, tuple[Record, ProposalBody]]:
        return {body.id: (record, body) for record, body in self.bodies(ProposalBody)}

    @cached_property
    def _traces(self) -> dict[str, tuple[Record, TraceBody]]:
        return {body.id: (record, body) for record, body in self.bodies(TraceBody)}

    def active_bodies(self) -> list[tuple[Record, RefinementBody]]:
        """Give the active refinements with their records, in the order in which they are derived."""
        return [self._refinements[refinement_id] for refinement_id in self.active()]

    def refinements(self) -> list[RefinementEntry]:
        """Give all refinements, oldest first."""
        positions = {refinement_id: n for n, refinement_id in enumerate(self.active(), start=1)}
        return [
            self._refinement_entry(record, body, positions.get(body.id))
            for record, body in self._refinements.values()
        ]

    def refinement(self, refinement_id: str) -> RefinementDetail:
        """Give one refinement whole. ``refinement_id`` may be the beginning of an id, if only one has it.

        Raises :class:`UsageError` when none has it or several do.
        """
        full_id = self._complete(refinement_id, self._refinements, "refinement", "deeprefine-db log")
        record, body = self._refinements[full_id]
        position = {each: n for n, each in enumerate(self.active(), start=1)}.get(full_id)
        action_ids = {action.id for action in body.actions}
        return RefinementDetail(
            **dict(self._refinement_entry(record, body, position)),
            body=body,
            effects=self.effects_of(full_id),
            events=tuple(self._events(full_id)),
            proposal=self._proposals[body.proposal_id][1] if body.proposal_id in self._proposals else None,
            reviews=tuple(self.reviews(body.proposal_id)),
            conflicts=tuple(c for c in self.conflicts() if c.action in action_ids),
        )

    def proposals(self) -> list[ProposalEntry]:
        """Give all proposals, oldest first, with their states."""
        return self._proposal_entries(self._proposals.values())

    def _proposal_entries(self, wanted: Iterable[tuple[Record, ProposalBody]]) -> list[ProposalEntry]:
        active = set(self.active())
        applied = {body.proposal_id: body.id for _, body in self._refinements.values()}
        return [self._proposal_entry(record, body, applied.get(body.id), active) for record, body in wanted]

    def has_proposal(self, proposal_id: str) -> bool:
        """Tell whether the log has a proposal of exactly this id."""
        return proposal_id in self._proposals

    def proposal(self, proposal_id: str) -> tuple[ProposalEntry, ProposalBody]:
        """Give one proposal by its id or the beginning of it. Raises :class:`UsageError` if none is."""
        full_id = self._complete(proposal_id, self._proposals, "proposal", "deeprefine-db status")
        found = self._proposals[full_id]
        return self._proposal_entries([found])[0], found[1]

    def proposal_with_digest(self, digest: str) -> ProposalBody | None:
        """Give the latest proposal whose text has this digest."""
        found = [body for _, body in self._proposals.values() if body.digest == digest]
        return found[-1] if found else None

    def reviews(self, proposal_id: str) -> list[ReviewBody]:
        """Give the reviews of a proposal, oldest first."""
        return [body for _, body in self.bodies(ReviewBody) if body.proposal_id == proposal_id]

    def traces(self, query_id: str | None = None) -> list[TraceBody]:
        """Give the traces, oldest first, of one question or of all."""
        return [body for _, body in self._traces.values() if query_id is None or body.query_id == query_id]

    def queries(self) -> list[QueryBody]:
        """Give every question once, in the order in which they were first asked."""
        found: dict[str, QueryBody] = {}
        for record in self.records:
            if record.kind in {QueryBody.KIND, TraceBody.KIND}:
                body = read_body(record)
                if isinstance(body, TraceBody):
                    body = QueryBody(id=body.query_id, question=body.question, source=body.query_source)
                if isinstance(body, QueryBody):
                    found.setdefault(body.id, body)
        return list(found.values())

    def conflicts(self) -> list[ConflictBody]:
        """Give all conflicts, oldest first, with how each ended if it has."""
        ended = {body.conflict: body.how for _, body in self.bodies(SettledBody)}
        return [
            body.model_copy(update={"resolved": ended.get(body.id, body.resolved)})
            for _, body in self.bodies(ConflictBody)
        ]

    def conflict(self, conflict_id: str) -> ConflictBody:
        """Give one conflict by its id or the beginning of it. Raises :class:`UsageError` if none is."""
        known = {body.id: body for body in self.conflicts()}
        return known[self._complete(conflict_id, known, "conflict", "deeprefine-db conflicts")]

    def open_conflicts(self) -> list[ConflictBody]:
        """Give the conflicts that wait for a person."""
        return [body for body in self.conflicts() if not body.resolved]

    def resolutions(self) -> tuple[Resolution, ...]:
        """Give every word of a person on a conflict, oldest first."""
        return tuple(body.resolution for _, body in self.order.in_order(self.bodies(ResolutionBody)))

    def refinement_body(self, refinement_id: str) -> RefinementBody:
        """Give the body of one refinement by its whole id. Raises ``KeyError``."""
        return self._refinements[refinement_id][1]

    def refinement_records(self, wanted: Container[str]) -> list[Record]:
        """Give the records of some refinements, oldest first."""
        return [record for record, body in self._refinements.values() if body.id in wanted]

    def refinement_bodies(self) -> list[RefinementBody]:
        """Give the bodies of all refinements, oldest first."""
        return [body for _, body in self._refinements.values()]

    def undo_of(self, undo_id: str) -> tuple[str, ...] | None:
        """Give the refinements that an undo undid, in order; ``None`` when no undo has this id or begins with it."""
        groups: dict[str, list[str]] = {}
        for _, body in self.bodies(EventBody):
            if body.group and body.event == "undone":
                groups.setdefault(body.group, []).append(body.of)
        found = [group for group in groups if group.startswith(undo_id)] if undo_id else []
        return tuple(groups[found[0]]) if len(found) == 1 else None

    def updating(self) -> str | None:
        """Give the digest of the base that an update put in place of graph.json and did not finish with."""
        updates = self.bodies(UpdateBody)
        return updates[-1][1].base_digest if updates and updates[-1][1].phase == "started" else None

    def effects_of(self, refinement_id: str) -> tuple[Effect, ...]:
        """Give the effects of a refinement's actions as they came out last."""
        _, body = self._refinements[refinement_id]
        dumped = (self._effects[bound.id] for bound in body.actions if bound.id in self._effects)
        return read_all_effects(dumped)

    @cached_property
    def _effects(self) -> dict[str, dict[str, Any]]:
        return {str(effect["action"]): effect for record in self.records for effect in record.effects}

    def last_sync(self) -> SyncBody | None:
        """Give the last reading of graph.json, if there was one."""
        syncs = self.bodies(SyncBody)
        return syncs[-1][1] if syncs else None

    def snapshots(self) -> list[SyncBody | ExportBody]:
        """Give every sync and export, oldest first."""
        both: list[tuple[Record, SyncBody | ExportBody]] = [*self.bodies(SyncBody), *self.bodies(ExportBody)]
        return [body for _, body in sorted(both, key=lambda each: each[0].seq)]

    def last_export(self) -> ExportBody | None:
        """Give the last export, if there was one."""
        exports = self.bodies(ExportBody)
        return exports[-1][1] if exports else None

    def not_exported(self) -> int:
        """Count the refinements by which the last written or read graph.json differs from the graph now."""
        snapshots = self.snapshots()
        written = set(snapshots[-1].active) if snapshots else set()
        return len(written ^ set(self.active()))

    def tokens(self) -> list[TokenUse]:
        """Give what each model took, and all of them together in a last row without a name."""
        uses: dict[str, TokenUse] = {}
        of_traces = (call for trace in self.traces() for call in trace.calls)
        of_reviews = (call for _, review in self.bodies(ReviewBody) for call in review.calls)
        for calls in (of_traces, of_reviews):
            for call in calls:
                for name in (call.model, ""):
                    use = uses.get(name, TokenUse(model=name))
                    uses[name] = TokenUse(
                        model=name,
                        calls=use.calls + 1,
                        failed=use.failed + (1 if call.error else 0),
                        tokens_in=use.tokens_in + call.tokens_in,
                        tokens_out=use.tokens_out + call.tokens_out,
                        seconds=use.seconds + call.seconds,
                    )
        return sorted(uses.values(), key=lambda use: (not use.model, use.model))

    def _events(self, of: str) -> Iterator[EventEntry]:
        for record, body in self.bodies(EventBody):
            if body.of == of:
                yield EventEntry(
                    seq=record.seq,
                    ts=record.ts,
                    event=body.event,
                    by=body.by,
                    note=body.note,
                    group=body.group,
                )

    def _refinement_entry(
        self, record: Record, body: RefinementBody, position: int | None
    ) -> RefinementEntry:
        effects = {effect.action: effect for effect in self.effects_of(body.id)}
        proposal = self._proposals[body.proposal_id][1] if body.proposal_id in self._proposals else None
        trace = self._traces.get(proposal.trace_id or "") if proposal is not None else None
        labels = {each.number: each.label for each in proposal.actions} if proposal is not None else {}
        suspended = suspends(effects.values())
        ever = any(event.event == "applied" for event in self._events(body.id))
        state: RefinementState = "undone" if ever else "recorded"
        if position is not None:
            state = "suspended" if suspended else "applied"
        return RefinementEntry(
            id=body.id,
            seq=record.seq,
            ts=record.ts,
            state=state,
            position=position,
            proposal_id=body.proposal_id,
            query_id=body.query_id,
            question=proposal.question if proposal is not None else "",
            by=body.by,
            model=", ".join(trace[1].models()) if trace is not None else "",
            note=body.note,
            actions=tuple(
                ActionEntry(
                    number=number,
                    kind=action.intent.kind,
                    subject=action.intent.subject,
                    relation=action.intent.relation,
                    object=action.intent.object,
                    label=labels.get(number),
                    outcome=effects[action.id].outcome if action.id in effects else "",
                    note=effects[action.id].note if action.id in effects else "",
                )
                for number, action in body.numbered()
            ),
        )

    def _proposal_entry(
        self, record: Record, body: ProposalBody, refinement_id: str | None, active: set[str]
    ) -> ProposalEntry:
        events = [event.event for event in self._events(body.id)]
        state: ProposalState = "open"
        stale_by: tuple[str, ...] = ()
        if refinement_id is not None:
            state = "applied" if refinement_id in active else "undone"
        elif events and events[-1] == "rejected":
            state = "rejected"
        else:
            stale_by = tuple(self._moved_since(record.seq, body.footprint))
            state = "stale" if stale_by else "approved" if events and events[-1] == "approved" else "open"
        labels = [action.label for action in body.actions if action.label is not None]
        return ProposalEntry(
            id=body.id,
            seq=record.seq,
            ts=record.ts,
            state=state,
            query_id=body.query_id,
            question=body.question,
            source=body.source,
            labels={label: labels.count(label) for label in dict.fromkeys(labels)},
            refinement_id=refinement_id,
            stale_by=stale_by,
        )

    def _moved_since(self, seq: int, footprint: Footprint) -> Iterator[str]:
        """Give the refinements that changed, after a record, what a plan had seen."""
        moved = dict.fromkeys(
            body.of
            for record, body in self.bodies(EventBody)
            if record.seq > seq and body.of in self._refinements
        )
        for refinement_id in moved:
            if not footprint.seen.keys().isdisjoint(written(self.effects_of(refinement_id))):
                yield refinement_id

    @staticmethod
    def _complete(given: str, known: Iterable[str], what: str, command: str) -> str:
        found = [each for each in known if each == given] or [
            each for each in known if each.startswith(given)
        ]
        if len(found) == 1 and given:
            return found[0]
        if not found or not given:
            raise UsageError(f"The log has no {what} {given!r}.", f"See `{command}`.")
        raise UsageError(
            f"{given!r} is the beginning of {len(found)} {what}s: {', '.join(found[:5])}.",
            f"See `{command}`.",
        )
