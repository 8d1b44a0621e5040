"""Going back in a committed graph to before recorded refinements, and forward again one by one."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from types import MappingProxyType

from deeprefine_graphdb.graph.overlay import AnyRow, Overlay, TableName, table_of
from deeprefine_graphdb.graph.questions import answered_by
from deeprefine_graphdb.graph.view import GraphView
from deeprefine_graphdb.model.actions import Effect, ObjectChange
from deeprefine_graphdb.model.graph import Alias, Edge, Entity, Loose
from deeprefine_graphdb.stores.protocol import GraphReader

RowKey = tuple[TableName, str]
UNDONE = "undo:"
_MODELS: Mapping[TableName, type[AnyRow]] = MappingProxyType({
    "Entity": Entity,
    "RELATES": Edge,
    "Alias": Alias,
    "Loose": Loose,
})


class Rewound:
    """Two histories over one view: the recorded one, taken back and gone through again, and the one that is made.

    ``dirty`` are the questions that the two answer otherwise at the point that has been reached.
    """

    def __init__(self, view: GraphView, recorded: Iterable[Iterable[Effect]]) -> None:
        self.view = view
        self.dirty: Counter[str] = Counter()
        self._differing: dict[RowKey, tuple[str, ...]] = {}
        self._recorded: dict[RowKey, AnyRow | None] = {}
        last: dict[RowKey, AnyRow] = {}
        for change in _changes(effect for effects in recorded for effect in effects):
            key = (change.table, change.key)
            if key not in self._recorded:
                self._recorded[key] = _row(change.table, change.before)
            after = _row(change.table, change.after)
            if after is not None:
                last[key] = after
        for key, before in self._recorded.items():
            view.put_over(last[key], before if before is not None else undone(last[key]), "changed")

    def lay(self, effects: Iterable[Effect]) -> None:
        """Lay what recorded effects did over the view again."""
        for change in _changes(effects):
            after = _row(change.table, change.after)
            if after is not None:
                self.view.put_over(self.view.overlay.row(change.table, change.key), after, change.how)

    def follow(self, recorded: Iterable[Effect], made: Iterable[Effect]) -> None:
        """Go past a refinement: ``recorded`` is what it did in the one history, ``made`` in the other."""
        keys: dict[RowKey, None] = {}
        for change in _changes(recorded):
            keys[change.table, change.key] = None
            self._recorded[change.table, change.key] = _row(change.table, change.after)
        for change in _changes(made):
            key = (change.table, change.key)
            keys[key] = None
            self._recorded.setdefault(key, _row(change.table, change.before))
        for key in keys:
            self._compare(key)

    def _compare(self, key: RowKey) -> None:
        for question in self._differing.pop(key, ()):
            self.dirty[question] -= 1
            if not self.dirty[question]:
                del self.dirty[question]
        rows = [_present(self._recorded[key]), _present(self.view.overlay.row(*key))]
        if rows[0] != rows[1]:
            questions = tuple({question for row in rows if row is not None for question in answered_by(row)})
            self._differing[key] = questions
            self.dirty.update(questions)


def undone(row: AnyRow) -> AnyRow:
    """Give the row that stands for one that was not there: nothing is deleted, so it is retired."""
    if isinstance(row, Alias):
        return Alias(norm=row.norm)
    by = row.added_by or row.changed_by or ""
    return row.model_copy(
        update={
            "retired_by": UNDONE + by.rpartition(".")[0],
            "retired_as": "removed",
            "successor": None,
        }
    )


def to_write(view: GraphView, reader: GraphReader) -> Overlay:
    """Give those rows of a view that are not as the reader has them, with the reader's state of each that it has."""
    overlay = Overlay()
    for row in view.overlay.rows():
        table, key = table_of(row)
        stored = view.overlay.stored.get((table, key))
        if stored is None and isinstance(row, Edge):
            # An edge that a merge re-points is not asked for, but it may stand there since the merge was undone.
            stored = next((edge for edge in reader.edges_between(row.src, row.tgt) if edge.key == key), None)
        if row != stored and (_present(row) is not None or _present(stored) is not None):
            overlay.put(row, stored)
    for norm, names in view.overlay.names.items():
        if names != reader.names(norm):
            overlay.put_names(names)
    return overlay


def _present(row: AnyRow | None) -> AnyRow | None:
    """Give a row unless it only says that something was there once and was undone."""
    if row is None:
        return None
    if isinstance(row, Alias):
        return row if row.ids else None
    return None if (row.retired_by or "").startswith(UNDONE) else row


def written(effects: Iterable[Effect]) -> Iterator[str]:
    """Give the questions to the graph whose answers effects changed."""
    for change in _changes(effects):
        for image in (change.before, change.after):
            row = _row(change.table, image)
            if row is not None:
                yield from answered_by(row)


def _changes(effects: Iterable[Effect]) -> Iterator[ObjectChange]:
    return (change for effect in effects for change in effect.changes)


def _row(table: TableName, image: Mapping[str, object] | None) -> AnyRow | None:
    return None if image is None else _MODELS[table].model_validate(image)
