"""A retriever over a chain of entities n0 → n1 → n2 …, which shows one link more at every hop."""

from __future__ import annotations

import threading
from collections.abc import Sequence

from deeprefine_graphdb.model.graph import Triple
from deeprefine_graphdb.retrieval.protocol import Retrieved


def link(number: int) -> Triple:
    """Give the chain's link n → n+1."""
    ends = (f"n{number}", f"n{number + 1}")
    return Triple(
        subject=f"file.py::{ends[0]}",
        relation="calls",
        object=f"file.py::{ends[1]}",
        key=f"key{number}",
        subject_id=ends[0],
        object_id=ends[1],
    )


class ChainRetriever:
    """Implements the retrieval protocol over ``length`` links, and remembers what it was asked."""

    def __init__(self, length: int = 30) -> None:
        self.links = [link(number) for number in range(length)]
        self.asked: list[tuple[object, ...]] = []
        self._lock = threading.Lock()

    def first(self, question: str, limit: int) -> Retrieved:
        """Give the first two links."""
        self._note("first", question, limit)
        return Retrieved(
            triples=tuple(self.links[:2][:limit]), method="graphify_query", evidence="the chain's start"
        )

    def expand(self, question: str, entity_ids: Sequence[str], hops: int, limit: int) -> Retrieved:
        """Give every link that touches one of the entities."""
        self._note("expand", tuple(entity_ids), hops, limit)
        found = tuple(t for t in self.links if t.subject_id in entity_ids or t.object_id in entity_ids)
        return Retrieved(
            triples=found[:limit],
            method="k_hop_expansion",
            evidence=f"{len(found)} links around {len(entity_ids)}",
        )

    def source_text(self, entity_ids: Sequence[str]) -> str:
        """Give one line for each entity."""
        self._note("source_text", tuple(entity_ids))
        return "\n".join(f"def {entity}(): pass" for entity in entity_ids)

    def _note(self, *what: object) -> None:
        with self._lock:
            self.asked.append(what)
