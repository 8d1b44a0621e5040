"""Retrieval on the graph as it would be: the store read through an overlay, the index with the same laid over it."""

from __future__ import annotations

import sqlite3
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path

from deeprefine_graphdb.graph.view import GraphView
from deeprefine_graphdb.model.errors import IndexStale
from deeprefine_graphdb.model.write import StoreState
from deeprefine_graphdb.retrieval.catalogue import OpenReader, Stamp
from deeprefine_graphdb.retrieval.laid import Laid, laid_over
from deeprefine_graphdb.retrieval.protocol import Retrieved
from deeprefine_graphdb.retrieval.ranking import EdgeIndex, Hit, IndexMoved, best_first, search_distinct
from deeprefine_graphdb.retrieval.sources import SourceReader
from deeprefine_graphdb.retrieval.walk import (
    TRIES,
    edges_within,
    expanded_triples,
    found_triples,
    texts_in,
)
from deeprefine_graphdb.stores.protocol import GraphStore

Lay = Callable[[GraphStore], GraphView]


@dataclass(frozen=True)
class _Seen:
    """A state of the store, the index beneath, and how the graph as it would be differs from that index."""

    state: StoreState
    stamp: Stamp
    laid: Laid

    @property
    def edges(self) -> int:
        return self.stamp.edges + self.laid.more

    def still(self, state: StoreState) -> bool:
        """Whether the graph is as it was seen, whatever was recorded meanwhile."""
        return (self.state.base_digest, self.state.revision) == (state.base_digest, state.revision)


class OverlaidRetriever:
    """Retrieves as :class:`StoreRetriever` would if what ``lay`` lays over an open store were written.

    The store is opened only to read and never while a model is asked; what it is at each retrieval is what ``lay``
    lays over. Nothing is written to the index, unless there is none of this base yet: then it is built as any
    retrieval builds it. Texts of new edges are embedded in one request at most. For one question and one thread.
    """

    def __init__(self, open_reader: OpenReader, index: EdgeIndex, root: Path, lay: Lay) -> None:
        self._open = open_reader
        self._index = index.overlaid()
        self._root = root
        self._lay = lay
        self._seen: _Seen | None = None

    def first(self, question: str, limit: int) -> Retrieved:
        """Give the ``limit`` edges most similar to the question: score descending, then edge key.

        Raises what laying over raises, and :class:`IndexStale` and :class:`ModelError` when embeddings are in use.
        """

        def found(store: GraphStore, seen: _Seen, hits: list[Hit]) -> Retrieved:
            return found_triples(self._lay(store), self._index, seen.edges, hits)

        return self._retrieve(question, lambda: search_distinct(self._index, question, limit), found)

    def expand(self, question: str, entity_ids: Sequence[str], hops: int, limit: int) -> Retrieved:
        """Give the edges within ``hops`` of the entities, both ways, as :meth:`StoreRetriever.expand` does."""

        def found(store: GraphStore, seen: _Seen, hits: list[Hit]) -> Retrieved:
            del hits
            view = self._lay(store)
            edges = edges_within(view, entity_ids, hops)
            known = self._index.catalogue.texts(edges) if seen.stamp.of(seen.state) else {}
            known = {key: text for key, text in known.items() if key not in seen.laid.hidden}
            scores = self._index.scores(question, texts_in(view, edges, known))
            kept = [edges[key] for key in best_first(scores, limit)]
            return expanded_triples(view, self._index, kept, scores, hops)

        return self._retrieve(question, list, found)

    def source_text(self, entity_ids: Sequence[str]) -> str:
        """Give the text around where the entities come from, ``""`` when there is none."""
        with self._open() as store:
            view = self._lay(store)
            found = [view.entity(entity_id) for entity_id in dict.fromkeys(entity_ids)]
        return SourceReader(self._root).text(entity for entity in found if entity is not None)

    def _retrieve(
        self,
        question: str,
        search: Callable[[], list[Hit]],
        found: Callable[[GraphStore, _Seen, list[Hit]], Retrieved],
    ) -> Retrieved:
        for attempt in range(1, TRIES + 1):
            try:
                seen = self._look(question)
                hits = search()
                with self._open() as store:
                    if attempt == TRIES or seen.still(store.state()):
                        return found(store, seen, hits)
            except IndexMoved:
                pass
            except sqlite3.DatabaseError:
                self._index.catalogue.refresh(self._open, rebuild=True)
            self._seen = None
        raise IndexStale("The retrieval index could not be read.", "Run `deeprefine-db index --rebuild`.")

    def _look(self, question: str) -> _Seen:
        """Make the index ready for the store as it is now, as far as it is not; may ask the embedding model."""
        if self._seen is not None:
            return self._seen
        catalogue = self._index.catalogue
        stamp = catalogue.stamp()
        with self._open() as store:
            state = store.state()
            laid = self._laid(store, stamp)
        if laid is None:
            stamp = catalogue.refresh(self._open)
            with self._open() as store:
                state = store.state()
                laid = self._laid(store, stamp)
            if laid is None:
                raise IndexMoved("The graph was replaced while it was read.", "Run the command again.")
        self._index.prepare(stamp)
        self._index.lay(question, laid)
        self._seen = _Seen(state, stamp, laid)
        return self._seen

    def _laid(self, store: GraphStore, stamp: Stamp) -> Laid | None:
        """Compare with the index; ``None`` when it is of another base."""
        state = store.state()
        if not stamp.same_base(state):
            return None
        return laid_over(self._index.catalogue, self._lay(store), store, stamp.of(state))
