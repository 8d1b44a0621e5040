"""Uniting the logs of several stores of one knowledge base: what one of them has that another has not."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Iterator
from dataclasses import dataclass

from deeprefine_graphdb.model.write import NewRecord
from deeprefine_graphdb.provenance.log import Log
from deeprefine_graphdb.provenance.order import Origin, time_of
from deeprefine_graphdb.provenance.records import (
    EventBody,
    Origins,
    ProposalBody,
    QueryBody,
    RefinementBody,
    ResolutionBody,
    ReviewBody,
    TraceBody,
    UnionBody,
    new_id,
    to_record,
)
from deeprefine_graphdb.stores.journal import chain

_ORDERED = (RefinementBody.KIND, EventBody.KIND, ResolutionBody.KIND)


@dataclass(frozen=True)
class _Found:
    """A record of one of the logs, at its moment. ``native``: that log's store made it."""

    moment: int
    record: NewRecord
    native: bool
    origin: Origin | None

    @property
    def rank(self) -> tuple[int, str, bool]:
        """Where it stands among all records, one that is read where it was made before its copies."""
        return self.moment, str(self.record.body["id"]), not self.native


def news(log: Log, others: Iterable[Log]) -> list[NewRecord]:
    """Give what other logs have and a log has not, in the form in which it is appended to that log.

    These are all refinements, applied and undone, with what happened to them, the words on their conflicts, and the
    questions, traces, proposals and reviews that they rest on. What is recorded of files stays where it is. Empty when
    there is nothing.
    """
    have = {_identity(record) for record in log.records}
    found: dict[tuple[str, str], _Found] = {}
    for other in others:
        for one in _found_in(other):
            where = _identity(one.record)
            if where not in have and (where not in found or one.rank < found[where].rank):
                found[where] = one
    refinements = {where[1] for where in (*have, *found) if where[0] == RefinementBody.KIND}
    taken = [
        one for one in sorted(found.values(), key=lambda one: one.rank) if _is_of(one.record, refinements)
    ]
    if not taken:
        return []
    ordered = [one for one in taken if one.record.kind in _ORDERED]
    union = UnionBody(
        id=new_id("u"),
        taken=tuple(str(one.record.body["id"]) for one in ordered),
        origins=tuple(_origins(ordered)),
    )
    return [
        to_record(union),
        *(one.record.model_copy(update={"ts": time_of(one.moment)}) for one in taken),
    ]


def united(logs: Iterable[Log]) -> Log:
    """Give one log with what all of these say of refinements, the same in whatever order they are given."""
    return Log(chain(news(Log(()), logs), 0, ""))


def _found_in(log: Log) -> Iterator[_Found]:
    wanted = _rested_on(log)
    origins = log.order.origins()
    for record, moment in zip(log.records, log.order.moments, strict=True):
        if record.kind in _ORDERED or _identity(record) in wanted:
            bare = NewRecord(kind=record.kind, ts=record.ts, body=record.body, effects=_own(record))
            origin = origins.get(str(record.body["id"])) if record.kind == RefinementBody.KIND else None
            yield _Found(moment, bare, not log.order.is_taken(record), origin)


def _own(record: NewRecord) -> list[dict[str, object]]:
    """Give the effects of a refinement as it was applied at first; those beside other records are their store's."""
    return record.effects if record.kind == RefinementBody.KIND else []


def _rested_on(log: Log) -> set[tuple[str, str]]:
    """Name the questions, traces, proposals and reviews that a log's refinements rest on."""
    proposals = {body.proposal_id for body in log.refinement_bodies()}
    wanted = {(ProposalBody.KIND, one) for one in proposals}
    for _, proposal in log.bodies(ProposalBody):
        if proposal.id in proposals:
            wanted.add((TraceBody.KIND, proposal.trace_id or ""))
            wanted.add((QueryBody.KIND, proposal.query_id))
    wanted |= {
        (ReviewBody.KIND, review.id)
        for _, review in log.bodies(ReviewBody)
        if review.proposal_id in proposals
    }
    return wanted


def _is_of(record: NewRecord, refinements: set[str]) -> bool:
    """Tell whether a record says something of these refinements; other events are of proposals that stay behind."""
    if record.kind == EventBody.KIND:
        return record.body["of"] in refinements
    if record.kind == ResolutionBody.KIND:
        return str(record.body["resolution"]["action"]).rpartition(".")[0] in refinements
    return True


def _origins(found: Iterable[_Found]) -> Iterator[Origins]:
    groups: defaultdict[Origin, list[str]] = defaultdict(list)
    for one in found:
        if one.origin is not None:
            groups[one.origin].append(str(one.record.body["id"]))
    for origin, refinements in groups.items():
        yield Origins(side=origin.side, aware=tuple(sorted(origin.aware)), refinements=tuple(refinements))


def _identity(record: NewRecord) -> tuple[str, str]:
    return record.kind, str(record.body.get("id"))
