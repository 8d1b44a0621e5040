"""The bodies of the journal's records, each one whole: nodes and lists are made from the journal alone."""

from __future__ import annotations

import uuid
from collections.abc import Iterable, Mapping, Sequence
from datetime import UTC, datetime
from typing import Any, Literal, Self, get_args

from pydantic import Field, ValidationError, model_validator

from deeprefine_graphdb.graph.manifest import ManifestEntry
from deeprefine_graphdb.graph.unecho_model import EchoNote, EchoText, Unconfirmed
from deeprefine_graphdb.model.actions import Action, BoundAction, Effect, Footprint, Frozen
from deeprefine_graphdb.model.errors import StoreDamaged
from deeprefine_graphdb.model.graph import Triple
from deeprefine_graphdb.model.write import NewRecord, Record
from deeprefine_graphdb.provenance.body import Body
from deeprefine_graphdb.provenance.outcome_records import ConflictBody as ConflictBody
from deeprefine_graphdb.provenance.outcome_records import How as How
from deeprefine_graphdb.provenance.outcome_records import Origins as Origins
from deeprefine_graphdb.provenance.outcome_records import ResolutionBody as ResolutionBody
from deeprefine_graphdb.provenance.outcome_records import SettledBody as SettledBody
from deeprefine_graphdb.provenance.outcome_records import UnionBody as UnionBody
from deeprefine_graphdb.provenance.outcome_records import UpdateBody as UpdateBody
from deeprefine_graphdb.review.models import WhatIf
from deeprefine_graphdb.stores.journal import RESTORE, record_hash

Label = Literal["HIGH", "MEDIUM", "LOW"]


class QueryBody(Body):
    """A question. ``id`` is the query id of the contract; the first record of a question stands for all."""

    KIND = "query"
    question: str
    source: str = "cli"


class StepBody(Frozen):
    """One hop: what was shown to the model and what it said. ``hops`` counts from the first retrieval."""

    number: int = Field(ge=1)
    hops: int = Field(default=0, ge=0)
    method: str = ""
    evidence: str = ""
    triples: tuple[Triple, ...] = ()
    answerable: bool | None = None
    judgement_raw: str = ""
    ts: str = ""

    def retrieved(self) -> list[tuple[str, str]]:
        """Give the entities of the triples as (id, name), each once, in the order of the prompt."""
        seen: dict[str, str] = {}
        for triple in self.triples:
            for entity, name in ((triple.subject_id, triple.subject), (triple.object_id, triple.object)):
                if entity:
                    seen.setdefault(entity, name)
        return list(seen.items())


class CallBody(Frozen):
    """One request to a model, paid for: ``seconds`` is wall time, tokens as the endpoint counted."""

    number: int = Field(ge=1)
    stage: str
    model: str
    prompt_digest: str = ""
    tokens_in: int = 0
    tokens_out: int = 0
    seconds: float = 0.0
    retries: int = 0
    error: str = ""
    ts: str = ""


class TraceBody(Body):
    """One run of the loop over a question: steps, calls, the diagnosis and how it ended.

    ``outcome`` is ``early_exit``, ``refined`` or ``failed``; ``extra`` keeps keys of a trace file that have
    no field here.
    """

    KIND = "trace"
    query_id: str
    question: str
    query_source: str = "cli"
    mode: str = "agent-loop"
    driver: str = ""
    outcome: Literal["early_exit", "refined", "failed"] = "refined"
    early_exit: bool = False
    answerable: bool | None = None
    abduction: str = ""
    abduction_raw: str = ""
    refinement_raw: str = ""
    steps: tuple[StepBody, ...] = ()
    calls: tuple[CallBody, ...] = ()
    extra: dict[str, Any] = Field(default_factory=dict)

    @property
    def tokens_in(self) -> int:
        """Tokens sent, all calls together."""
        return sum(call.tokens_in for call in self.calls)

    @property
    def tokens_out(self) -> int:
        """Tokens received, all calls together."""
        return sum(call.tokens_out for call in self.calls)

    def models(self) -> tuple[str, ...]:
        """Give the names of the models that were asked, in order of first use."""
        return tuple(dict.fromkeys(call.model for call in self.calls))


class ProposedAction(Frozen):
    """An action as a proposal has it, numbered from 1, with the label that its review gave it.

    ``bound`` maps ``subject``/``object`` (``old``/``new``) to entity ids where the names resolved.
    """

    number: int = Field(ge=1)
    action: Action
    label: Label | None = None
    executable: bool = True
    bound: dict[str, str] = Field(default_factory=dict)


class ProposalBody(Body):
    """Actions that wait for a decision. ``digest`` is of ``text``; ``revision`` is what it was planned on."""

    KIND = "proposal"
    query_id: str = ""
    question: str = ""
    trace_id: str | None = None
    source: Literal["refine", "file", "agent", "log"] = "refine"
    driver: str = ""
    text: str
    digest: str
    actions: tuple[ProposedAction, ...]
    footprint: Footprint = Footprint()
    revision: int = 0

    @model_validator(mode="after")
    def _numbered(self) -> Self:
        if [each.number for each in self.actions] != list(range(1, len(self.actions) + 1)):
            raise ValueError("the actions of a proposal are numbered from 1 without a gap")
        return self


class ReviewedAction(Frozen):
    """What a review says about one action of its proposal."""

    number: int
    label: Label
    executable: bool = True
    reasons: tuple[str, ...] = ()
    evidence: tuple[str, ...] = ()


class ReviewBody(Body):
    """A review of a proposal, by the program (``reviewer`` is ``deeprefine-db``) or by a person.

    ``calls`` are those of its what-if that are not in the trace of the proposal.
    """

    KIND = "review"
    proposal_id: str
    reviewer: str = "deeprefine-db"
    decision: str = ""
    actions: tuple[ReviewedAction, ...] = ()
    note: str = ""
    what_if: WhatIf | None = None
    calls: tuple[CallBody, ...] = ()
    extra: dict[str, Any] = Field(default_factory=dict)


class RefinementFlags(Frozen):
    """What a person allowed and asked for when applying; all of it is part of the record."""

    allow_low_confidence: bool = False
    skip_trace_check: bool = False
    require_gain: bool = False
    only: tuple[int, ...] = ()
    reject: tuple[int, ...] = ()


class RefinementBody(Body):
    """An ordered list of bound actions that is applied or undone as one.

    ``numbers`` says which action of the proposal each bound action is; left empty it means 1, 2, 3…
    ``revision`` is the graph that it was planned on. Its effects stand beside the record.
    """

    KIND = "refinement"
    proposal_id: str
    query_id: str = ""
    by: str = ""
    flags: RefinementFlags = RefinementFlags()
    actions: tuple[BoundAction, ...]
    numbers: tuple[int, ...] = ()
    footprint: Footprint = Footprint()
    revision: int = 0
    note: str = ""

    @model_validator(mode="after")
    def _numbered(self) -> Self:
        if [action.id for action in self.actions] != [f"{self.id}.{n + 1}" for n in range(len(self.actions))]:
            raise ValueError("a bound action is named after its refinement and numbered from 1 without a gap")
        if self.numbers and not len(self.numbers) == len(set(self.numbers)) == len(self.actions):
            raise ValueError("each bound action is another action of the proposal")
        return self

    def numbered(self) -> list[tuple[int, BoundAction]]:
        """Give the bound actions, each with the number that it has in the proposal."""
        return list(zip(self.numbers or range(1, len(self.actions) + 1), self.actions, strict=True))


class EventBody(Body):
    """Something that happened to a proposal or refinement; ``of`` is its id. A redo is ``applied`` again.

    The events of one undo, or of the redo that takes it back, have its id as their ``group``.
    """

    KIND = "event"
    event: Literal["approved", "applied", "rejected", "undone"]
    of: str
    of_kind: Literal["proposal", "refinement"]
    by: str = ""
    note: str = ""
    group: str = ""


class SnapshotBody(Body):
    """A state of graph.json: its digest, the base's, the manifest between them and the active refinements.

    ``manifest["entries"]`` holds dumped :class:`ManifestEntry` objects, which are many and seldom read.
    """

    file_digest: str
    base_digest: str
    revision: int
    nodes: int = 0
    links: int = 0
    manifest: dict[str, Any] = Field(default_factory=dict)
    active: tuple[str, ...] = ()
    path: str = ""

    def entries(self) -> list[ManifestEntry]:
        """Give the manifest as typed entries."""
        return [ManifestEntry.model_validate(entry) for entry in self.manifest.get("entries", ())]


class SyncBody(SnapshotBody):
    """graph.json was read.

    ``ancestor`` is the digest of the state of the file that this one descends from, if it was found. ``unconfirmed``
    are objects that the base keeps although the file lacks them, ``echoes`` the texts that the file still had of
    objects that actions add, ``notes`` what a person should hear of.
    """

    KIND = "sync"
    ancestor: str = ""
    unconfirmed: tuple[Unconfirmed, ...] = ()
    echoes: tuple[EchoText, ...] = ()
    notes: tuple[EchoNote, ...] = ()


class ExportBody(SnapshotBody):
    """graph.json was written. ``replaced`` is the digest of the file whose place it took, if any."""

    KIND = "export"
    replaced: str | None = None
    forced: bool = False


AnyBody = (
    QueryBody
    | TraceBody
    | ProposalBody
    | ReviewBody
    | RefinementBody
    | EventBody
    | SyncBody
    | ExportBody
    | ConflictBody
    | SettledBody
    | ResolutionBody
    | UpdateBody
    | UnionBody
)

BODIES: Mapping[str, type[AnyBody]] = {each.KIND: each for each in get_args(AnyBody)}


def to_record(body: AnyBody, ts: str | None = None, effects: Sequence[Effect] = ()) -> NewRecord:
    """Make the record of a body. ``ts`` is an ISO time in UTC (default: now).

    ``effects`` are those of a refinement's actions, or what became of the effects of others by what is recorded.
    """
    return NewRecord(
        kind=body.KIND,
        ts=ts or now(),
        body=body.model_dump(mode="json"),
        effects=[effect.model_dump(mode="json") for effect in effects],
    )


def read_body(record: NewRecord) -> AnyBody:
    """Give the typed body of a record.

    Raises :class:`StoreDamaged` when its kind is unknown or its body does not have the kind's shape.
    """
    known = BODIES.get(record.kind)
    if known is None:
        raise _unreadable(record, f"the kind {record.kind!r} is unknown", _hint(record))
    try:
        return known.model_validate(record.body)
    except ValidationError as error:
        raise _unreadable(record, _first(error), _hint(record)) from error


def read_effects(record: NewRecord) -> tuple[Effect, ...]:
    """Give the effects that stand beside a record. Raises :class:`StoreDamaged`."""
    try:
        return tuple(Effect.model_validate(each) for each in record.effects)
    except ValidationError as error:
        raise _unreadable(record, f"effects: {_first(error)}", RESTORE) from error


def read_all_effects(dumped: Iterable[Mapping[str, Any]]) -> tuple[Effect, ...]:
    """Give effects of several records as they were recorded. Raises :class:`StoreDamaged`."""
    try:
        return tuple(Effect.model_validate(each) for each in dumped)
    except ValidationError as error:
        raise StoreDamaged(f"An effect in the log cannot be read: {_first(error)}.", RESTORE) from error


def new_id(prefix: str) -> str:
    """Make an id that no other store will make: the prefix and 16 random hex digits, no ``.``, no ``:``."""
    return f"{prefix}{uuid.uuid4().hex[:16]}"


def now() -> str:
    """Give the time in UTC as ISO text with microseconds, so that text order is time order."""
    return datetime.now(UTC).strftime("%Y-%m-%dT%H:%M:%S.%fZ")


def _unreadable(record: NewRecord, why: str, hint: str) -> StoreDamaged:
    place = f"Record {record.seq}" if isinstance(record, Record) else "A record"
    return StoreDamaged(f"{place} of the log ({record.kind}) cannot be read: {why}.", hint)


def _hint(record: NewRecord) -> str:
    """Say what helps: a body that is as it was written, and has another form, comes from another program."""
    if isinstance(record, Record) and record_hash(record.seq, record.prev, record) == record.hash:
        return "It is as it was written, by a later version of this program. Upgrade deeprefine-graphdb."
    return RESTORE


def _first(error: ValidationError) -> str:
    first = error.errors()[0]
    place = ".".join(map(str, first["loc"]))
    said = " ".join(str(first["msg"]).split()).rstrip(".")
    return f"{place}: {said}" if place else said
