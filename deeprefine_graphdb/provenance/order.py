"""The order of what several stores recorded: the same whichever of them holds the records, and whose each one is.

A log that took nothing in from others is in order as it stands. In one that did (its ``union`` records say what), the
order is by moments: a record's own time, but always behind whatever its store had in its log when it was written, so
that neither a clock that goes wrong nor another store's can put an undo before what it undoes. Equal moments are
ordered by id. A record that is taken in keeps the moment that it has where it comes from.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from functools import cached_property
from typing import TypeVar

from deeprefine_graphdb.model.write import NewRecord, Record
from deeprefine_graphdb.provenance.outcome_records import UnionBody
from deeprefine_graphdb.provenance.records import RefinementBody, read_body

BodyT = TypeVar("BodyT")
_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
_PER_MILLISECOND = 1000


@dataclass(frozen=True)
class Origin:
    """Whose a refinement is: the side that recorded it, and the refinements of other sides that this one knew then."""

    side: str
    aware: frozenset[str]


class Order:
    """The order of a log's records. ``united`` says whether any of them come from another log."""

    def __init__(self, records: Sequence[NewRecord]) -> None:
        unions = [body for body in map(_union, records) if body is not None]
        self.united = bool(unions)
        self.side = side_of(records)
        self._records = records
        self._taken = {one for union in unions for one in union.taken}
        self._foreign = {
            refinement: Origin(known.side, frozenset(known.aware))
            for union in unions
            for known in union.origins
            for refinement in known.refinements
        }

    @cached_property
    def moments(self) -> list[int]:
        """The moment of each record, in microseconds since 1970."""
        found: list[int] = []
        last = 0
        for record in self._records:
            own = _microseconds(record.ts)
            moment = own if record.body.get("id") in self._taken else max(own, last + 1)
            last = max(last, moment)
            found.append(moment)
        return found

    def in_order(self, pairs: Sequence[tuple[Record, BodyT]]) -> list[tuple[Record, BodyT]]:
        """Give records of the log, with their bodies, in the order that every store agrees on."""
        if not self.united:
            return list(pairs)
        moments = {id(record): moment for record, moment in zip(self._records, self.moments, strict=True)}
        return sorted(pairs, key=lambda pair: (moments[id(pair[0])], str(pair[0].body.get("id"))))

    def places(self) -> dict[str, int]:
        """Give the number by which each refinement orders what it adds to the graph."""
        moments = self.moments if self.united else ()
        return {
            str(record.body["id"]): moments[at] // _PER_MILLISECOND if self.united else _number(record, at)
            for at, record in enumerate(self._records)
            if record.kind == RefinementBody.KIND
        }

    def origins(self) -> dict[str, Origin]:
        """Give whose each refinement is."""
        found: dict[str, Origin] = {}
        known: set[str] = set()
        for record in self._records:
            if record.kind == RefinementBody.KIND:
                one = str(record.body["id"])
                found[one] = self._foreign.get(one) or Origin(self.side, frozenset(known))
                known.update({one} & self._foreign.keys())
        return found

    def is_taken(self, record: NewRecord) -> bool:
        """Tell whether a record that has a place in the order comes from another log."""
        return record.body.get("id") in self._taken


def side_of(records: Sequence[NewRecord]) -> str:
    """Give the name of the side that a log is of, the same wherever the log is read: the id of its first record."""
    return str(records[0].body.get("id")) if records else ""


def next_place(records: Sequence[NewRecord], coming: Sequence[NewRecord], refinement: NewRecord) -> int:
    """Give the place of a refinement that is to be recorded behind a log and some further records."""
    return Order((*records, *coming, refinement)).places()[str(refinement.body["id"])]


def time_of(moment: int) -> str:
    """Give a moment as the ISO text that records have."""
    return (_EPOCH + timedelta(microseconds=moment)).strftime("%Y-%m-%dT%H:%M:%S.%fZ")


def unions_of(records: Sequence[NewRecord]) -> Iterator[UnionBody]:
    """Give what was taken in from other logs, oldest first."""
    return (body for body in map(_union, records) if body is not None)


def _union(record: NewRecord) -> UnionBody | None:
    if record.kind != UnionBody.KIND:
        return None
    body = read_body(record)
    return body if isinstance(body, UnionBody) else None


def _number(record: NewRecord, at: int) -> int:
    return record.seq if isinstance(record, Record) else at + 1


def _microseconds(ts: str) -> int:
    try:
        moment = datetime.fromisoformat(ts)
    except ValueError:
        return 0
    aware = moment if moment.tzinfo is not None else moment.replace(tzinfo=UTC)
    return (aware - _EPOCH) // timedelta(microseconds=1)
