"""The vector index with other edges laid over it in memory, whose texts are embedded in one request at most."""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from deeprefine_graphdb.retrieval.catalogue import Stamp
from deeprefine_graphdb.retrieval.embed import BATCH, Vectors
from deeprefine_graphdb.retrieval.laid import NOTHING_LAID, Laid, LaidEdge
from deeprefine_graphdb.retrieval.ranking import Hit
from deeprefine_graphdb.retrieval.terms import question_terms, terms
from deeprefine_graphdb.retrieval.vectors import DECIMALS, VectorIndex

FARTHEST = -1.0
"""The score of a text that has no vector: no inner product of two vectors of length 1 is lower."""


class OverlaidVectors:
    """Ranks as the index would if it held the laid-over edges too, and those that they hide not.

    Texts that have no vector are embedded in one request, in the whole life of the object, which is kept in memory
    only. Where they are more than a request takes, as after renaming a hub, those that share most terms with the
    question go first, and the others are ranked by what they said before. What comes in after that has no vector and is
    ranked last.
    """

    def __init__(self, index: VectorIndex) -> None:
        self.catalogue = index.catalogue
        self._index = index
        self._laid = NOTHING_LAID
        self._edges: Mapping[str, LaidEdge] = {}
        self._lent: dict[str, Vectors] = {}
        self._asked = False

    def prepare(self, stamp: Stamp, rebuild: bool = False) -> None:
        """Make the index ready that this one lies over."""
        self._index.prepare(stamp, rebuild)

    def lay(self, question: str, laid: Laid) -> None:
        """Take over how the edges differ, and embed what is new. Raises :class:`ModelError`, :class:`IndexStale`."""
        self._laid = laid
        self._edges = {edge.text: edge for edge in laid.edges}
        shared = set(question_terms(question))
        nearest = sorted(self._edges, key=lambda text: (-len(shared.intersection(terms(text))), text))
        wanted = list(dict.fromkeys((question, *nearest)))
        known = self._index.kept(wanted)
        missing = [text for text in wanted if text not in known and text not in self._lent]
        if missing and not self._asked:
            self._asked = True
            self._lent.update(self._index.passing(missing[:BATCH]))

    def search(self, question: str, limit: int) -> list[Hit]:
        """Give the ``limit`` nearest edges: inner product descending, then edge key."""
        vectors = self._vectors([question, *self._edges])
        if question not in vectors:
            return []
        query = vectors[question].reshape(1, -1)
        hits = [
            hit
            for hit in self._index.near(query, limit + len(self._laid.hidden))
            if hit.key not in self._laid.hidden
        ]
        hits += [
            Hit(edge.key, edge.source, edge.target, _score(vectors, question, edge.text), edge.text)
            for edge in self._laid.edges
            if edge.text in vectors
        ]
        return sorted(hits, key=lambda hit: (-hit.score, hit.key))[:limit]

    def scores(self, question: str, texts: Mapping[str, str]) -> dict[str, float]:
        """Score edge texts (by key) against a question; one that has no vector is farthest from it."""
        vectors = self._vectors([question, *texts.values()])
        return {key: _score(vectors, question, text) for key, text in texts.items()}

    def describe(self) -> str:
        """Say what the search goes by."""
        return self._index.describe()

    def _vectors(self, texts: Iterable[str]) -> dict[str, Vectors]:
        wanted = list(dict.fromkeys(texts))
        before = {text: self._edges[text].before for text in wanted if text in self._edges}
        known = {**self._index.kept([*wanted, *before.values()]), **self._lent}
        found = {}
        for text in wanted:
            vector = known.get(text, known.get(before.get(text, "")))
            if vector is not None:
                found[text] = vector
        return found


def _score(vectors: Mapping[str, Vectors], question: str, text: str) -> float:
    if question not in vectors or text not in vectors:
        return FARTHEST
    return round(float(vectors[text] @ vectors[question]), DECIMALS)
