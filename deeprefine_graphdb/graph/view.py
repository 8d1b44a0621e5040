"""A graph to plan on: a store or a parsed base, with planned changes laid over it in memory."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Callable, Iterable, Sequence
from functools import partial
from typing import Literal, TypeVar, cast

from deeprefine_graphdb.graph.overlay import AnyRow, Overlay, table_of
from deeprefine_graphdb.graph.questions import between
from deeprefine_graphdb.model.actions import Footprint, ObjectChange
from deeprefine_graphdb.model.graph import Alias, Edge, Entity, Loose, Names, Row
from deeprefine_graphdb.stores.protocol import GraphReader
from deeprefine_loaders.basefile import BaseFile
from deeprefine_loaders.identity import norm_label

Answer = TypeVar("Answer")
_READS = {
    "entity": "entity",
    "names": "names",
    "alias": "alias",
    "edges": "edges_of",
    "loose": "loose",
    "members": "loose_with",
}
How = Literal["added", "changed", "removed", "moved", "folded", "merged", "collapsed", "revived"]


class GraphView:
    """Reads a graph through its overlay, and records everything that was asked of the graph beneath.

    The reader must not change while the view is in use. Writing to a view (:meth:`put`) changes the overlay only.
    ``asked`` collects every question that was put to the view itself, ``entity:<id>``, ``names:<norm>`` and so on,
    whether the overlay or the graph beneath had the answer; whoever wants to know empties it before.
    """

    def __init__(self, reader: GraphReader, overlay: Overlay | None = None) -> None:
        self.reader = reader
        self.overlay = overlay if overlay is not None else Overlay()
        self._answers: dict[str, object] = {}
        self._known: dict[str, object] = {}
        self._ids: set[str] = set()
        self._names: set[str] = set()
        self.asked: set[str] = set()

    @property
    def base(self) -> BaseFile:
        """The base file under the graph."""
        return self.reader.base

    def entity(self, entity_id: str) -> Entity | None:
        """Give a live entity."""
        row = self.entity_row(entity_id)
        return row if row is not None and row.live else None

    def entity_row(self, entity_id: str) -> Entity | None:
        """Give an entity whether live or retired."""
        self._ids.add(entity_id)
        self.asked.add("entity:" + entity_id)
        found = self.overlay.entities.get(entity_id)
        return found if found is not None else self._committed_entity(entity_id)

    def names(self, norm: str) -> Names:
        """Give the live entities whose label has this normal form."""
        self.asked.add("names:" + norm)
        return self._names_now(norm)

    def _names_now(self, norm: str) -> Names:
        self._names.add(norm)
        found = self.overlay.names.get(norm)
        return found if found is not None else self._ask("names:" + norm, lambda: self.reader.names(norm))

    def alias(self, norm: str) -> Alias:
        """Give the entities that once had a label of this normal form."""
        self._names.add(norm)
        self.asked.add("alias:" + norm)
        found = self.overlay.aliases.get(norm)
        return found if found is not None else self._ask("alias:" + norm, lambda: self.reader.alias(norm))

    def edge_rows(self, source: str, target: str) -> list[Edge]:
        """Give all edges source→target, live and retired, by key."""
        self._ids.update((source, target))
        self.asked.add(between(source, target))
        stored = self._stored_between(source, target)
        rows = {row.key: row for row in stored}
        rows.update(
            (row.key, row) for row in self.overlay.edges_at(source) if row.tgt == target and row.src == source
        )
        return [rows[key] for key in sorted(rows)]

    def edges_between(self, source: str, target: str) -> list[Edge]:
        """Give the live edges source→target, by key."""
        return [row for row in self.edge_rows(source, target) if row.live]

    def edges_of(self, entity_id: str) -> list[Edge]:
        """Give all live edges of an entity, both directions, self loops once, by key."""
        self._ids.add(entity_id)
        self.asked.add("edges:" + entity_id)
        stored = self._ask("edges:" + entity_id, lambda: self.reader.edges_of(entity_id))
        rows = {row.key: row for row in stored}
        rows.update((row.key, row) for row in self.overlay.edges_at(entity_id))
        return [rows[key] for key in sorted(rows) if rows[key].live]

    def neighbours(self, entity_id: str, limit: int) -> list[Edge]:
        """Give at most ``limit`` live edges out and ``limit`` in, lowest keys first, self loops once (as out)."""
        return self.neighbours_of([entity_id], limit)[0]

    def neighbours_of(self, entity_ids: Sequence[str], limit: int) -> list[list[Edge]]:
        """Give what :meth:`neighbours` gives for each of several entities."""
        self._ids.update(entity_ids)
        found = self.reader.several([partial(self._neighbours, each, limit) for each in entity_ids])
        return list(found)

    def _neighbours(self, entity_id: str, limit: int) -> list[Edge]:
        laid = {row.key: row for row in self.overlay.edges_at(entity_id)}
        hidden = sum(not row.live for row in laid.values())
        rows = {row.key: row for row in self.reader.neighbours(entity_id, limit + hidden)}
        rows.update(laid)
        live = [rows[key] for key in sorted(rows) if rows[key].live]
        out = [row for row in live if row.src == entity_id][:limit]
        into = [row for row in live if row.src != entity_id][:limit]
        return sorted(out + into, key=lambda row: row.key)

    def loose(self, key: str) -> Loose | None:
        """Give a dangling link, hyperedge or header field, live or retired."""
        self.asked.add("loose:" + key)
        found = self.overlay.loose.get(key)
        return found if found is not None else self._ask("loose:" + key, lambda: self.reader.loose(key))

    def loose_with(self, member: str) -> list[Loose]:
        """Give the live dangling links and hyperedges that name an id, by key."""
        self._ids.add(member)
        self.asked.add("members:" + member)
        stored = self._ask("members:" + member, lambda: self.reader.loose_with(member))
        rows = {row.key: row for row in stored}
        rows.update(self.overlay.loose)
        return [rows[key] for key in sorted(rows) if rows[key].live and member in rows[key].members]

    def object_text(self, row: Entity | Edge | Loose) -> str:
        """Give the JSON text of an object as an export writes it."""
        if row.raw is not None:
            return row.raw
        kind = "node" if isinstance(row, Entity) else "link" if isinstance(row, Edge) else row.kind
        text = self.base.slice(kind, row.id if isinstance(row, Entity) else row.key)
        if text is None:
            raise KeyError(f"no base text for {kind} {row!r}")
        return text

    def put(self, row: AnyRow, how: How) -> ObjectChange:
        """Lay a new row state over the graph, names following, and tell the change it made."""
        return self.put_over(self._current(row), row, how)

    def put_over(self, before: AnyRow | None, row: AnyRow, how: How) -> ObjectChange:
        """Lay a new row state over the graph when the state before is at hand, so that it is not asked for again."""
        table, key = table_of(row)
        if isinstance(row, Entity):
            self._ids.add(row.id)
            self._follow_names(before if isinstance(before, Entity) else None, row)
        elif isinstance(row, Edge):
            self._ids.update((row.src, row.tgt))
        elif isinstance(row, Alias):
            self._names.add(row.norm)
        self.overlay.put(row, before)
        return ObjectChange.model_construct(
            table=table,
            key=key,
            how=how,
            before=_image(before) if before is not None else None,
            after=_image(row),
        )

    def footprint(self) -> Footprint:
        """Give every id and name that was read or written through this view, and digests of what was seen."""
        seen = {question: _digest(answer) for question, answer in sorted(self._answers.items())}
        return Footprint(ids=tuple(sorted(self._ids)), names=tuple(sorted(self._names)), seen=seen)

    def moved(self, footprint: Footprint) -> list[str]:
        """Name what is not as it was when a footprint was recorded, in the form ``entity:<id>``.

        What the graph answers is kept for whoever asks the same next, but is no part of the view's own footprint.
        """
        self.prefetch(footprint.seen)
        return [
            question for question, digest in footprint.seen.items() if _digest(self._held(question)) != digest
        ]

    def prefetch(self, questions: Iterable[str]) -> None:
        """Read the answers to questions that will be put to this view, in the form of a footprint, all at once."""
        wanted = [
            each for each in dict.fromkeys(questions) if each not in self._answers and each not in self._known
        ]
        answers = self.reader.several([partial(self._read, each) for each in wanted])
        self._known.update(zip(wanted, answers, strict=True))

    def _current(self, row: AnyRow) -> AnyRow | None:
        if isinstance(row, Entity):
            return self.entity_row(row.id)
        if isinstance(row, Edge):
            return next((edge for edge in self.edge_rows(row.src, row.tgt) if edge.key == row.key), None)
        if isinstance(row, Alias):
            known = self.alias(row.norm)
            return known if known.ids else None
        return self.loose(row.key)

    def _follow_names(self, before: Entity | None, after: Entity) -> None:
        old = before if before is not None and before.live else None
        new = after if after.live else None
        if (
            old is not None
            and new is not None
            and (old.label, old.source_file) == (new.label, new.source_file)
        ):
            return
        if old is not None:
            self._set_names(norm_label(old.label), old.id, None)
        if new is not None:
            self._set_names(norm_label(new.label), new.id, new)

    def _set_names(self, norm: str, entity_id: str, entity: Entity | None) -> None:
        row = self._names_now(norm)
        entries = {
            known: (label, file)
            for known, label, file in zip(row.ids, row.labels, row.files, strict=True)
            if known != entity_id
        }
        if entity is not None:
            entries[entity_id] = (entity.label, entity.source_file or "")
        ids = tuple(sorted(entries))
        labels, files = tuple(entries[i][0] for i in ids), tuple(entries[i][1] for i in ids)
        self.overlay.put_names(Names(norm=norm, ids=ids, labels=labels, files=files))

    def _stored_between(self, source: str, target: str) -> Sequence[Edge]:
        """Ask for edges only where the graph has both ends: without these it has none."""
        if self._committed_entity(source) is None or self._committed_entity(target) is None:
            return ()
        return self._ask(between(source, target), lambda: self.reader.edges_between(source, target))

    def _committed_entity(self, entity_id: str) -> Entity | None:
        return self._ask("entity:" + entity_id, lambda: self.reader.entity(entity_id))

    def _ask(self, question: str, read: Callable[[], Answer]) -> Answer:
        if question not in self._answers:
            self._answers[question] = self._held(question) if question in self._known else read()
        return cast("Answer", self._answers[question])

    def _held(self, question: str) -> object:
        return self._known[question] if question in self._known else self._answers[question]

    def _read(self, question: str) -> object:
        kind, _, argument = question.partition(":")
        if kind == "between":
            source, target = json.loads(argument)
            return self.reader.edges_between(source, target)
        read: Callable[[str], object] = getattr(self.reader, _READS[kind])
        return read(argument)


def _image(row: Row) -> dict[str, object]:
    """Give a row as a dictionary; its values are texts, numbers and tuples of texts, so a shallow copy is whole."""
    return dict(row.__dict__)


def _digest(answer: object) -> str:
    rows: Iterable[object] = answer if isinstance(answer, (list, tuple)) else (answer,)
    digest = hashlib.blake2b(digest_size=8)
    for row in rows:
        digest.update(row.model_dump_json().encode("utf-8") if isinstance(row, Row) else b"none")
    return digest.hexdigest()
