"""From rows to the statements that write them: blind, and few, since they run inside an apply.

A node and the relationship to its owner are one statement. The effect of an action, what it belongs to, that
its refinement applied the action, and the entities at the action's ends are one statement as well.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from deeprefine_graphdb.model.write import NewRecord, NodeRow, RelRow, Statement
from deeprefine_graphdb.provenance.project import Projection, project_all

_NODE_STATEMENTS: Mapping[tuple[str, str | None], str] = {
    ("Query", None): "provenance/query",
    ("Trace", "Query"): "provenance/trace",
    ("Step", "Trace"): "provenance/step",
    ("LLMCall", "Trace"): "provenance/llm_call",
    ("Proposal", None): "provenance/proposal",
    ("Proposal", "Trace"): "provenance/proposal_of_trace",
    ("Action", "Proposal"): "provenance/action",
    ("Review", "Proposal"): "provenance/review",
    ("Refinement", None): "provenance/refinement",
    ("Conflict", "Effect"): "provenance/conflict",
    ("Snapshot", None): "provenance/snapshot",
    ("Event", "Proposal"): "provenance/event_of_proposal",
    ("Event", "Refinement"): "provenance/event_of_refinement",
}
_RELATION_STATEMENTS: Mapping[str, tuple[str, str, str]] = {
    "RETRIEVED": ("provenance/retrieved", "step", "entity"),
    "TOUCHED": ("provenance/touched", "action", "entity"),
    "APPLIED": ("provenance/applied", "refinement", "action"),
    "REVERTS": ("provenance/reverts", "refinement", "reverted"),
}
_UPDATES: Mapping[str, str] = {"Effect": "provenance/effect_set", "Conflict": "provenance/conflict_set"}
_EFFECT_STATEMENTS = ("provenance/effect", "provenance/effect_on_one", "provenance/effect_on_two")
_ENDS = ("first", "second")


def record_statements(records: Sequence[NewRecord], before: Sequence[NewRecord] = ()) -> list[Statement]:
    """Give the statements that write the nodes of these records, in an order in which they can run.

    ``before`` are the records of the refinements whose effects these change. What a row hangs from must be in the
    store or come from an earlier record; so must the entities that an
    action touched. A row whose end is not there is left out without an error, as in every blind write.
    """
    return compile_rows(project_all(records, before))


def compile_rows(rows: Projection) -> list[Statement]:
    """Give the statements for rows: nodes in order, relationships with the node that has them or after."""
    waiting = list(rows.relations)
    statements = [_effect(node, waiting) if node.table == "Effect" else _node(node) for node in rows.nodes]
    statements.extend(_relation(row) for row in waiting)
    statements.extend(
        Statement(name=_UPDATES[row.table], params={"id": row.key} | row.columns) for row in rows.updates
    )
    return statements


def _node(node: NodeRow) -> Statement:
    owner = node.owner
    name = _NODE_STATEMENTS[node.table, owner[1] if owner else None]
    return Statement(name=name, params=({"owner": owner[2]} if owner else {}) | node.columns)


def _effect(node: NodeRow, waiting: list[RelRow]) -> Statement:
    action, refinement = node.columns["action_id"], node.columns["refinement_id"]
    applied = [
        row for row in waiting if row.type == "APPLIED" and (row.from_key, row.to_key) == (refinement, action)
    ]
    ends = [row for row in waiting if row.type == "TOUCHED" and row.from_key == action][: len(_ENDS)]
    if not applied:
        raise ValueError(f"the effect {node.key} comes without the APPLIED of its action")
    for row in (applied[0], *ends):
        waiting.remove(row)
    params = dict(node.columns)
    for name, row in zip(_ENDS, ends, strict=False):
        params |= {name: row.to_key, f"{name}_how": row.columns["how"]}
    return Statement(name=_EFFECT_STATEMENTS[len(ends)], params=params)


def _relation(row: RelRow) -> Statement:
    name, start, end = _RELATION_STATEMENTS[row.type]
    return Statement(name=name, params={start: row.from_key, end: row.to_key} | row.columns)
