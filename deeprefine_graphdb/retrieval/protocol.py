"""What the loop asks of retrieval: edges for a question, edges around entities, and the sources behind them."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Protocol

from deeprefine_graphdb.model.actions import Frozen
from deeprefine_graphdb.model.graph import Triple


class Retrieved(Frozen):
    """The triples of one retrieval, best first, deduplicated and within the limit that was asked for.

    ``method`` is a name that a loop trace takes: ``graphify_query`` for a search, ``k_hop_expansion`` for an
    expansion. ``evidence`` says in words how they were found (which search or model, how many there were before the
    limit); it is never empty, so that an empty retrieval explains itself too.
    """

    triples: tuple[Triple, ...]
    method: str
    evidence: str


class Retriever(Protocol):
    """Finds the part of the graph that a question is about."""

    def first(self, question: str, limit: int) -> Retrieved:
        """Give the ``limit`` edges most similar to the question."""

    def expand(self, question: str, entity_ids: Sequence[str], hops: int, limit: int) -> Retrieved:
        """Give the edges within ``hops`` of the entities, in both directions.

        When there are more than ``limit``, the ones most similar to the question are kept.
        """

    def source_text(self, entity_ids: Sequence[str]) -> str:
        """Give the text around where the entities come from, ``""`` when there is none."""
