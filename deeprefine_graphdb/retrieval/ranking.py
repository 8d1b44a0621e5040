"""What a way of finding edges for a question has to offer, whether it goes by words or by vectors."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import NamedTuple, Protocol

from deeprefine_graphdb.model.errors import IndexStale
from deeprefine_graphdb.retrieval.catalogue import EdgeCatalogue, Stamp
from deeprefine_graphdb.retrieval.laid import Laid


class Hit(NamedTuple):
    """An edge that a search found: key, ids of its ends, score (higher is nearer) and text."""

    key: str
    source: str
    target: str
    score: float
    text: str


class IndexMoved(IndexStale):
    """The graph's index was brought to another state while it was searched; the caller searches again."""


def distinct(hits: Iterable[Hit]) -> list[Hit]:
    """Give the first of the hits that are the same triple, order kept."""
    first: dict[tuple[str, str, str], Hit] = {}
    for hit in hits:
        first.setdefault((hit.source, hit.target, hit.text), hit)
    return list(first.values())


class EdgeIndex(Protocol):
    """Finds edges by a question, and ranks given ones. Calls no store, so it may take its time."""

    catalogue: EdgeCatalogue

    def prepare(self, stamp: Stamp, rebuild: bool = False) -> None:
        """Make ready for searching the catalogue as ``stamp`` says it is; may call a model."""

    def search(self, question: str, limit: int) -> list[Hit]:
        """Give at most ``limit`` edges, best first, ties by key."""

    def scores(self, question: str, texts: Mapping[str, str]) -> dict[str, float]:
        """Score edge texts (by key) against a question; calls no model for what it knows."""

    def knows(self, texts: Iterable[str]) -> bool:
        """Tell whether these texts can be scored without calling a model."""

    def warm(self, question: str) -> None:
        """Do what scoring by this question needs a model for."""

    def describe(self) -> str:
        """Say in a few words what the search goes by."""

    def overlaid(self) -> OverlaidIndex:
        """Give an index of its own for the same edges with others laid over them, in memory."""


class OverlaidIndex(Protocol):
    """An index with other edges laid over those that it was made from. Nothing of it is ever written."""

    catalogue: EdgeCatalogue

    def prepare(self, stamp: Stamp, rebuild: bool = False) -> None:
        """Make ready for searching the catalogue as ``stamp`` says it is."""

    def lay(self, question: str, laid: Laid) -> None:
        """Take over how the edges differ from the catalogue's; may ask a model, once in the life of the index."""

    def search(self, question: str, limit: int) -> list[Hit]:
        """Give at most ``limit`` edges, best first, ties by key. Calls no model."""

    def scores(self, question: str, texts: Mapping[str, str]) -> dict[str, float]:
        """Score edge texts (by key) against a question. Calls no model."""

    def describe(self) -> str:
        """Say in a few words what the search goes by."""


def search_distinct(index: EdgeIndex | OverlaidIndex, question: str, limit: int) -> list[Hit]:
    """Search for so many edges that ``limit`` different triples are among them, where there are."""
    asked = 2 * limit + 10
    while True:
        hits = index.search(question, asked)
        found = distinct(hits)
        if len(found) >= limit or len(hits) < asked:
            return found[:limit]
        asked *= 4


def best_first(scores: Mapping[str, float], limit: int) -> list[str]:
    """Give the ``limit`` best keys: score descending, then key."""
    return sorted(scores, key=lambda key: (-scores[key], key))[:limit]


def score_range(scores: Sequence[float]) -> str:
    """Show the span of some scores for an evidence line; ``""`` for none."""
    return f", scores {max(scores):.3f} to {min(scores):.3f}" if scores else ""
