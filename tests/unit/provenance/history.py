"""The records of a made-up history, as a journal would hold them."""

from __future__ import annotations

from collections.abc import Sequence

from deeprefine_graphdb.model.actions import (
    BoundAction,
    Effect,
    Footprint,
    InsertEdge,
    Intent,
    ObjectChange,
    Reference,
)
from deeprefine_graphdb.model.graph import Edge, Triple
from deeprefine_graphdb.model.write import NewRecord, Record
from deeprefine_graphdb.provenance.records import (
    CallBody,
    EventBody,
    Label,
    ProposalBody,
    ProposedAction,
    RefinementBody,
    StepBody,
    TraceBody,
    to_record,
)

TS = "2026-01-02T03:04:05.000006Z"


def journal(*records: NewRecord) -> list[Record]:
    """Give records their numbers; the hashes do not matter here."""
    return [Record(**dict(record), seq=n, prev="", hash="") for n, record in enumerate(records, start=1)]


def trace(trace_id: str = "t1", query_id: str = "q1", question: str = "why?") -> TraceBody:
    seen = Triple(subject="A", relation="r", object="B", key="k", subject_id="a", object_id="b")
    return TraceBody(
        id=trace_id,
        query_id=query_id,
        question=question,
        answerable=False,
        abduction="a gap",
        steps=(StepBody(number=1, method="graphify_query", triples=(seen,), answerable=False),),
        calls=(
            CallBody(number=1, stage="judgement", model="m", tokens_in=5, tokens_out=1, seconds=0.5),
            CallBody(
                number=2, stage="refinement", model="n", tokens_in=7, tokens_out=2, seconds=1.0, error="429"
            ),
        ),
    )


def proposal(
    proposal_id: str = "p1",
    labels: Sequence[Label] = ("HIGH",),
    seen: Sequence[str] = (),
    trace_id: str | None = None,
) -> ProposalBody:
    return ProposalBody(
        id=proposal_id,
        query_id="q1",
        question="why?",
        trace_id=trace_id,
        text="x",
        digest="d" + proposal_id,
        actions=tuple(
            ProposedAction(
                number=n, action=InsertEdge(subject="A", relation=f"r{n}", object="B"), label=label
            )
            for n, label in enumerate(labels, start=1)
        ),
        footprint=Footprint(seen=dict.fromkeys(seen, "0")),
    )


def reference(entity_id: str) -> Reference:
    label = entity_id.upper()
    return Reference(id=entity_id, label=label, base_label=label, norm_label=entity_id)


def refinement(
    refinement_id: str = "r1",
    proposal_id: str = "p1",
    numbers: tuple[int, ...] = (1,),
    ends: tuple[str, str] = ("a", "b"),
    outcome: str = "applied",
) -> NewRecord:
    bound, effects = [], []
    for n, number in enumerate(numbers, start=1):
        action_id = f"{refinement_id}.{n}"
        action = InsertEdge(subject=ends[0].upper(), relation=f"r{number}", object=ends[1].upper())
        bound.append(
            BoundAction(
                id=action_id,
                action=action,
                intent=Intent(
                    kind="insert", subject=action.subject, relation=action.relation, object=action.object
                ),
                subject=reference(ends[0]),
                object=reference(ends[1]),
            )
        )
        key, (source, target) = f"k{number}", ends
        row = Edge(
            key=key, origin_key=key, src=source, tgt=target, relation=action.relation, added_by=action_id
        )
        change = ObjectChange(table="RELATES", key=key, how="added", after=row.model_dump(mode="json"))
        effects.append(Effect(id=action_id, action=action_id, outcome=outcome, changes=(change,)))
    body = RefinementBody(
        id=refinement_id,
        proposal_id=proposal_id,
        query_id="q1",
        by="ana",
        actions=tuple(bound),
        numbers=numbers,
    )
    return to_record(body, TS, effects)


def event(what: str, of: str, number: int = 0) -> NewRecord:
    kind = "refinement" if of.startswith("r") else "proposal"
    body = EventBody.model_validate({
        "id": f"e-{what}-{of}-{number}",
        "event": what,
        "of": of,
        "of_kind": kind,
        "by": "ana",
    })
    return to_record(body, TS)
