"""From a record of the journal to the nodes and relationships that stand for it in the graph.

The projection depends on the records alone, so a store that is rebuilt from its journal has the same rows.
Where two records give a row of the same key (a question that was asked twice) the first one stands; what a later
record says of an effect or a conflict is an update of its row.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass

from deeprefine_graphdb.model.actions import BoundAction
from deeprefine_graphdb.model.write import NewRecord, NodeRow, RelRow
from deeprefine_graphdb.provenance.nodes import (
    Row,
    action_node,
    column,
    effect_columns,
    json_text,
    rows_of,
    touching,
)
from deeprefine_graphdb.provenance.records import (
    RefinementBody,
    SettledBody,
    read_body,
    read_effects,
)


@dataclass(frozen=True)
class Projection:
    """Rows in an order in which each one's ends are there before it.

    ``updates`` have some columns of nodes that are not among ``nodes``: they were written before.
    """

    nodes: tuple[NodeRow, ...] = ()
    relations: tuple[RelRow, ...] = ()
    updates: tuple[NodeRow, ...] = ()


def project(record: NewRecord) -> Projection:
    """Give the rows of one record."""
    return project_all((record,))


def project_all(records: Iterable[NewRecord], before: Iterable[NewRecord] = ()) -> Projection:
    """Give the rows of a log, each node and each relationship once.

    ``before`` are the records that the store has already, as far as they are refinements whose effects change.
    """
    nodes: dict[tuple[str, str], NodeRow] = {}
    relations: dict[tuple[str, ...], RelRow] = {}
    updates: dict[tuple[str, str], NodeRow] = {}
    places = dict(place for record in before for place in _places(record))
    for record in records:
        for row in rows_of(record):
            if isinstance(row, NodeRow):
                nodes.setdefault((row.table, row.key), row)
            else:
                relations.setdefault(relation_key(row), row)
        places.update(_places(record))
        for row in _changed_by(record, places):
            if isinstance(row, RelRow):
                relations.setdefault(relation_key(row), row)
                continue
            where = (row.table, row.key)
            held = nodes if where in nodes else updates
            columns = held[where].columns if where in held else {}
            held[where] = (held.get(where) or row).model_copy(update={"columns": columns | row.columns})
    return Projection(tuple(nodes.values()), tuple(relations.values()), tuple(updates.values()))


def _places(record: NewRecord) -> Iterator[tuple[str, tuple[str, BoundAction]]]:
    """Give, for each bound action of a refinement's record, the key of its node."""
    if record.kind == RefinementBody.KIND:
        body = read_body(record)
        if isinstance(body, RefinementBody):
            for number, bound in body.numbered():
                yield bound.id, (action_node(body.proposal_id, number), bound)


def _changed_by(record: NewRecord, places: Mapping[str, tuple[str, BoundAction]]) -> Iterator[Row]:
    """Give what a record changes in rows of earlier ones: effects that came out otherwise, conflicts that are over."""
    if record.kind == SettledBody.KIND:
        settled = read_body(record)
        if isinstance(settled, SettledBody):
            yield NodeRow(table="Conflict", key=settled.conflict, columns={"resolved": settled.how})
    if record.kind == RefinementBody.KIND:
        return
    for effect in read_effects(record):
        yield NodeRow(
            table="Effect",
            key=column(effect.action),
            columns={name: column(value) for name, value in effect_columns(effect).items()},
        )
        if effect.action in places:
            node, bound = places[effect.action]
            yield from touching(node, bound, effect)


def relation_key(row: RelRow) -> tuple[str, ...]:
    """Give what makes two relationships the same: type, ends and columns."""
    return (row.type, row.from_table, row.from_key, row.to_table, row.to_key, json_text(row.columns))
