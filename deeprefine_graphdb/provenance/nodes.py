"""The nodes and relationships that stand for one record of the journal; they depend on the record alone."""

from __future__ import annotations

import hashlib
import json
from collections import Counter
from collections.abc import Iterable, Iterator
from typing import Any

from deeprefine_graphdb.model.actions import BoundAction, DeleteEdge, Effect, ReplaceNode
from deeprefine_graphdb.model.write import NewRecord, NodeRow, RelRow
from deeprefine_graphdb.provenance.columns import NODE_COLUMNS
from deeprefine_graphdb.provenance.records import (
    CallBody,
    ConflictBody,
    EventBody,
    ExportBody,
    ProposalBody,
    ProposedAction,
    QueryBody,
    RefinementBody,
    ReviewBody,
    StepBody,
    SyncBody,
    TraceBody,
    read_body,
    read_effects,
)

CAPTION_LENGTH = 80
SHOWN_IMAGES = 100
_ACTION_NAMES = {"insert_edge": "insert", "delete_edge": "delete", "replace_node": "replace"}

Row = NodeRow | RelRow


def rows_of(record: NewRecord) -> Iterator[Row]:
    """Give the rows of one record, a node before its relationships; that to its owner is part of the node."""
    body = read_body(record)
    ts = record.ts
    match body:
        case QueryBody():
            yield _query(body.id, body.question, body.source, ts)
        case TraceBody():
            yield from _trace(body, ts)
        case ProposalBody():
            yield from _proposal(body, ts)
        case ReviewBody():
            yield _review(body, ts)
        case RefinementBody():
            yield from _refinement(body, read_effects(record), ts)
        case EventBody():
            yield _event(body, ts)
            if body.group:
                yield from _reverting(body, ts)
        case SyncBody() | ExportBody():
            yield _snapshot(body, ts)
        case ConflictBody():
            yield _conflict(body, ts)
        case _:
            return


def action_node(proposal_id: str, number: int) -> str:
    """Give the key of the node of one proposed action."""
    return f"{proposal_id}.{number}"


def caption(text: str) -> str:
    """Shorten a text to one line that fits a node in a picture."""
    line = " ".join(text.split())
    return line if len(line) <= CAPTION_LENGTH else line[: CAPTION_LENGTH - 1] + "…"


def json_text(value: Any) -> str:
    """Give a value as JSON text that depends on the value alone."""
    return json.dumps(value, ensure_ascii=False, sort_keys=True, separators=(",", ":"))


def column(value: Any) -> Any:
    """Make a value fit for every engine: lone surrogates, which they refuse, become their escapes."""
    if isinstance(value, str) and not value.isascii():
        return value.encode("utf-8", "backslashreplace").decode("utf-8")
    return value


def _node(
    table: str, owner: tuple[str, str, str, bool] | None, title: str, ts: str, /, **values: Any
) -> NodeRow:
    values |= {"caption": caption(title), "ts": ts}
    columns = {name: column(values[name]) for name in NODE_COLUMNS[table]}
    return NodeRow(table=table, key=columns["id"], columns=columns, owner=owner)


def _query(query_id: str, question: str, source: str, ts: str) -> NodeRow:
    return _node("Query", None, question, ts, id=query_id, question=question, source=source)


def _trace(body: TraceBody, ts: str) -> Iterator[Row]:
    yield _query(body.query_id, body.question, body.query_source, ts)
    rest = body.model_dump(mode="json", exclude={"steps", "calls", "question", "abduction"})
    yield _node(
        "Trace",
        ("HAS_TRACE", "Query", body.query_id, False),
        f"{body.outcome.replace('_', ' ')} after {len(body.steps)} step{'s' if len(body.steps) != 1 else ''}",
        ts,
        id=body.id,
        query_id=body.query_id,
        mode=body.mode,
        driver=body.driver,
        outcome=body.outcome,
        early_exit=body.early_exit,
        hops=len(body.steps),
        answerable=body.answerable,
        abduction=body.abduction,
        body=json_text(rest),
    )
    for step in body.steps:
        yield from _step(body.id, step, ts)
    for call in body.calls:
        yield _call(body.id, call, ts)


def _step(trace_id: str, step: StepBody, ts: str) -> Iterator[Row]:
    key = f"{trace_id}.{step.number}"
    verdict = {True: "Yes", False: "No", None: "not judged"}[step.answerable]
    yield _node(
        "Step",
        ("HAS_STEP", "Trace", trace_id, False),
        f"step {step.number}: {verdict}",
        step.ts or ts,
        id=key,
        number=step.number,
        method=step.method,
        answerable=step.answerable,
        triples=json_text([triple.model_dump(mode="json") for triple in step.triples]),
        evidence=step.evidence,
    )
    for rank, (entity, _) in enumerate(step.retrieved(), start=1):
        yield RelRow(
            type="RETRIEVED",
            from_table="Step",
            from_key=column(key),
            to_table="Entity",
            to_key=column(entity),
            columns={"rank": rank},
        )


def _call(trace_id: str, call: CallBody, ts: str) -> NodeRow:
    return _node(
        "LLMCall",
        ("CALLED", "Trace", trace_id, False),
        f"{call.stage} by {call.model}",
        call.ts or ts,
        id=f"{trace_id}.c{call.number}",
        **call.model_dump(mode="json", exclude={"number", "ts"}),
    )


def _proposal(body: ProposalBody, ts: str) -> Iterator[Row]:
    count = len(body.actions)
    yield _node(
        "Proposal",
        ("PROPOSED", "Trace", body.trace_id, False) if body.trace_id else None,
        f"{count} action{'s' if count != 1 else ''} for {body.question or body.query_id or body.source}",
        ts,
        id=body.id,
        query_id=body.query_id,
        trace_id=body.trace_id,
        digest=body.digest,
        source=body.source,
        text=body.text,
        actions=count,
        footprint=json_text(body.footprint.model_dump(include={"ids", "names"})),
    )
    for proposed in body.actions:
        yield _action(body.id, proposed, ts)


def _action(proposal_id: str, proposed: ProposedAction, ts: str) -> NodeRow:
    action = proposed.action
    if isinstance(action, ReplaceNode):
        subject, relation, target = action.old, "", action.new
    else:
        subject, relation, target = action.subject, action.relation, action.object
    bound: dict[str, Any] = dict(proposed.bound)
    if isinstance(action, DeleteEdge) and action.edge_key:
        bound["edge_key"] = action.edge_key
    kind = _ACTION_NAMES[action.action]
    return _node(
        "Action",
        ("CONTAINS", "Proposal", proposal_id, False),
        f"{kind} {subject} {f'-{relation}-> ' if relation else 'by '}{target}",
        ts,
        id=action_node(proposal_id, proposed.number),
        proposal_id=proposal_id,
        number=proposed.number,
        kind=kind,
        subject=subject,
        relation=relation,
        object=target,
        reference=json_text(bound),
        label=proposed.label,
        executable=proposed.executable,
    )


def _review(body: ReviewBody, ts: str) -> NodeRow:
    labels = [action.label for action in body.actions]
    counts = ", ".join(f"{labels.count(name)} {name}" for name in ("HIGH", "MEDIUM", "LOW") if name in labels)
    return _node(
        "Review",
        ("OF", "Proposal", body.proposal_id, True),
        f"{body.reviewer}: {counts or body.decision or 'no actions'}",
        ts,
        id=body.id,
        proposal_id=body.proposal_id,
        reviewer=body.reviewer,
        decision=body.decision,
        labels=json_text({str(action.number): action.label for action in body.actions}),
        reasons=json_text({str(action.number): action.reasons for action in body.actions}),
        body=json_text(body.model_dump(mode="json", exclude={"id", "proposal_id", "reviewer", "decision"})),
    )


def _refinement(body: RefinementBody, effects: tuple[Effect, ...], ts: str) -> Iterator[Row]:
    count = len(body.actions)
    yield _node(
        "Refinement",
        None,
        f"{count} action{'s' if count != 1 else ''}{f' by {body.by}' if body.by else ''}",
        ts,
        id=body.id,
        proposal_id=body.proposal_id,
        query_id=body.query_id,
        by=body.by,
        revision=body.revision,
        footprint=json_text(body.footprint.model_dump(include={"ids", "names"})),
        note=body.note,
        flags=json_text(body.flags.model_dump(mode="json")),
    )
    by_action = {effect.action: effect for effect in effects}
    for number, bound in body.numbered():
        node = action_node(body.proposal_id, number)
        effect = by_action.get(bound.id)
        if effect is not None:
            yield _effect(body, bound, effect, node, ts)
        yield RelRow(
            type="APPLIED",
            from_table="Refinement",
            from_key=column(body.id),
            to_table="Action",
            to_key=column(node),
        )
        yield from touching(node, bound, effect)


def touching(node: str, bound: BoundAction, effect: Effect | None) -> Iterator[RelRow]:
    """Give the relationships from an action's node to the entities at its ends."""
    for entity, how in touched(bound, effect):
        yield RelRow(
            type="TOUCHED",
            from_table="Action",
            from_key=column(node),
            to_table="Entity",
            to_key=column(entity),
            columns={"how": how},
        )


def touched(bound: BoundAction, effect: Effect | None) -> list[tuple[str, str]]:
    """Give the entities at the ends of an action, each once, with the role that it has there.

    What the effect says stands before what the action was bound to; one at both is ``subject and object``.
    """
    ends = effect.bound if effect is not None else {}
    subject = ends.get("subject") or bound.subject.id
    target = ends.get("object") or bound.object.id
    if subject == target or not target:
        return [(subject, "subject and object" if subject == target else "subject")]
    return [(subject, "subject"), (target, "object")] if subject else [(target, "object")]


def _effect(body: RefinementBody, bound: BoundAction, effect: Effect, node: str, ts: str) -> NodeRow:
    intent = bound.intent
    return _node(
        "Effect",
        ("OF", "Action", node, True),
        f"{intent.kind} {intent.subject} {intent.relation} {intent.object}",
        ts,
        id=bound.id,
        action_id=node,
        refinement_id=body.id,
        **effect_columns(effect),
    )


def effect_columns(effect: Effect) -> dict[str, Any]:
    """Give the columns of an effect's node that a derive may change."""
    return {
        "outcome": effect.outcome,
        "note": effect.note,
        "witness": effect.witness,
        "before": _images((change.table, change.key, change.before) for change in effect.changes),
        "after": _images((change.table, change.key, change.after) for change in effect.changes),
        "bound": json_text(effect.bound),
        "changes": json_text([{"table": c.table, "key": c.key, "how": c.how} for c in effect.changes]),
    }


def _images(changes: Iterable[tuple[str, str, dict[str, object] | None]]) -> str:
    """Give the images of the first objects as JSON; a merge of a hub has thousands; the journal has all."""
    images = {f"{table} {key}": image for table, key, image in changes if image is not None}
    shown: dict[str, object] = dict(list(images.items())[:SHOWN_IMAGES])
    if len(images) > SHOWN_IMAGES:
        shown["more"] = len(images) - SHOWN_IMAGES
    return json_text(shown)


def _event(body: EventBody, ts: str) -> NodeRow:
    table = "Proposal" if body.of_kind == "proposal" else "Refinement"
    return _node(
        "Event",
        ("OF", table, body.of, True),
        f"{body.event}{f' by {body.by}' if body.by else ''}",
        ts,
        id=body.id,
        kind=body.event,
        of=body.of,
        by=body.by,
        note=body.note,
    )


def _reverting(body: EventBody, ts: str) -> Iterator[Row]:
    """Give an undo, or the redo that takes it back, as a refinement of its own that reverts others."""
    yield _node(
        "Refinement",
        None,
        f"{'undo' if body.event == 'undone' else 'redo'}{f' by {body.by}' if body.by else ''}",
        ts,
        id=body.group,
        proposal_id="",
        query_id="",
        by=body.by,
        revision=0,
        footprint="{}",
        note=body.note,
        flags="{}",
    )
    yield RelRow(
        type="REVERTS",
        from_table="Refinement",
        from_key=column(body.group),
        to_table="Refinement",
        to_key=column(body.of),
    )


def _snapshot(body: SyncBody | ExportBody, ts: str) -> NodeRow:
    manifest = json_text(body.manifest)
    digest = hashlib.sha256(manifest.encode("utf-8", "backslashreplace")).hexdigest()
    summary = {
        "objects": Counter(str(entry.get("kind")) for entry in body.manifest.get("entries", ())),
        "sha256": digest,
    }
    return _node(
        "Snapshot",
        None,
        f"{body.KIND} at revision {body.revision}",
        ts,
        id=body.id,
        kind=body.KIND,
        file_digest=body.file_digest,
        base_digest=body.base_digest,
        revision=body.revision,
        nodes=body.nodes,
        links=body.links,
        manifest=json_text(summary),
        active=json_text(body.active),
    )


def _conflict(body: ConflictBody, ts: str) -> NodeRow:
    return _node(
        "Conflict",
        ("OF", "Effect", body.action, True),
        f"{body.kind}: {body.detail}" if body.detail else body.kind,
        ts,
        id=body.id,
        effect_id=body.action,
        kind=body.kind,
        detail=body.detail,
        resolved=body.resolved,
    )
