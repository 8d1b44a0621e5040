"""Retrieval on a store: the first search, the expansion hop by hop, and the source text behind entities."""

from __future__ import annotations

import sqlite3
from collections.abc import Mapping, Sequence
from pathlib import Path

from deeprefine_graphdb.graph.view import GraphView
from deeprefine_graphdb.model.errors import IndexStale
from deeprefine_graphdb.model.graph import Edge
from deeprefine_graphdb.retrieval.catalogue import OpenReader, Stamp
from deeprefine_graphdb.retrieval.overlaid import Lay, OverlaidRetriever
from deeprefine_graphdb.retrieval.protocol import Retrieved
from deeprefine_graphdb.retrieval.ranking import EdgeIndex, IndexMoved, best_first, search_distinct
from deeprefine_graphdb.retrieval.sources import SourceReader
from deeprefine_graphdb.retrieval.walk import (
    TRIES,
    edges_within,
    expanded_triples,
    found_triples,
    texts_in,
)


class StoreRetriever:
    """Retrieves from a store, which is opened only to read and never while a model is asked.

    ``open_reader`` opens the store for reading; ``index`` is a :class:`LexicalIndex` or a
    :class:`VectorIndex`; ``root`` is the knowledge base's folder, below which source files lie. Safe to
    share between threads.
    """

    def __init__(self, open_reader: OpenReader, index: EdgeIndex, root: Path) -> None:
        self._open = open_reader
        self._index = index
        self._root = root

    def rebuild(self) -> Stamp:
        """Build the index anew, whatever there is (vectors of known texts apart), and give its stamp."""
        stamp = self._index.catalogue.refresh(self._open, rebuild=True)
        self._index.prepare(stamp, rebuild=True)
        return stamp

    def refresh(self) -> Stamp:
        """Bring the index to the store's present state and give its stamp."""
        stamp = self._index.catalogue.refresh(self._open)
        self._index.prepare(stamp)
        return stamp

    def first(self, question: str, limit: int) -> Retrieved:
        """Give the ``limit`` edges most similar to the question: score descending, then edge key.

        Builds or refreshes the index when the store has moved on. Raises :class:`IndexStale` and
        :class:`ModelError` when embeddings are in use.
        """
        stamp = self._known_stamp()
        for attempt in range(1, TRIES + 1):
            try:
                self._index.prepare(stamp)
                hits = search_distinct(self._index, question, limit)
            except IndexMoved:
                stamp = self._index.catalogue.refresh(self._open)
                continue
            except sqlite3.DatabaseError:
                stamp = self._index.catalogue.refresh(self._open, rebuild=True)
                continue
            with self._open() as store:
                if attempt == TRIES or stamp.of(store.state()):
                    return found_triples(GraphView(store), self._index, stamp.edges, hits)
            stamp = self._index.catalogue.refresh(self._open)
        raise _unreadable()

    def expand(self, question: str, entity_ids: Sequence[str], hops: int, limit: int) -> Retrieved:
        """Give the edges within ``hops`` of the entities, both ways, at most 50 out and 50 in an entity.

        When there are more than ``limit``, the ones most similar to the question are kept: score descending,
        then edge key. Entities that are not in the graph are passed over.
        """
        try:
            return self._expand(self._known_stamp(), question, entity_ids, hops, limit)
        except sqlite3.DatabaseError:
            stamp = self._index.catalogue.refresh(self._open, rebuild=True)
        try:
            return self._expand(stamp, question, entity_ids, hops, limit)
        except sqlite3.DatabaseError as error:
            raise _unreadable() from error

    def source_text(self, entity_ids: Sequence[str]) -> str:
        """Give the text around where the entities come from, ``""`` when there is none."""
        with self._open() as store:
            found = [store.entity(entity_id) for entity_id in dict.fromkeys(entity_ids)]
        return SourceReader(self._root).text(entity for entity in found if entity is not None and entity.live)

    def overlaid(self, lay: Lay) -> OverlaidRetriever:
        """Give a retriever for the graph as it would be if what ``lay`` lays over an open store were written."""
        return OverlaidRetriever(self._open, self._index, self._root, lay)

    def _known_stamp(self) -> Stamp:
        stamp = self._index.catalogue.stamp()
        return stamp if stamp.revision >= 0 else self._index.catalogue.refresh(self._open)

    def _expand(
        self, stamp: Stamp, question: str, entity_ids: Sequence[str], hops: int, limit: int
    ) -> Retrieved:
        self._index.warm(question)
        with self._open() as store:
            view = GraphView(store)
            edges = edges_within(view, entity_ids, hops)
            texts = self._texts(view, edges, stamp.of(store.state()))
            if self._index.knows(texts.values()):
                scores = self._index.scores(question, texts)
                kept = [edges[key] for key in best_first(scores, limit)]
                return expanded_triples(view, self._index, kept, scores, hops)
        scores = self._index.scores(question, texts)
        with self._open() as store:
            view = GraphView(store)
            kept = [edges[key] for key in best_first(scores, limit) if _is_live(view, edges[key])]
            return expanded_triples(view, self._index, kept, scores, hops)

    def _texts(self, view: GraphView, edges: Mapping[str, Edge], fresh: bool) -> dict[str, str]:
        return texts_in(view, edges, self._index.catalogue.texts(edges) if fresh else {})


def _unreadable() -> IndexStale:
    return IndexStale("The retrieval index could not be read.", "Run `deeprefine-db index --rebuild`.")


def _is_live(view: GraphView, edge: Edge) -> bool:
    return any(now.key == edge.key for now in view.edges_between(edge.src, edge.tgt))
