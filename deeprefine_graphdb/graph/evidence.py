"""Whether what speaks for an edge has become stronger since a person decided to delete it."""

from __future__ import annotations

from collections.abc import Sequence

from deeprefine_graphdb.graph.bind import text_digest
from deeprefine_graphdb.graph.view import GraphView
from deeprefine_graphdb.model.actions import Fingerprint
from deeprefine_graphdb.model.graph import Edge
from deeprefine_loaders.identity import column_text
from deeprefine_loaders.objects import read_object

STRENGTH = {"AMBIGUOUS": 0, "INFERRED": 1, "EXTRACTED": 2}


def stronger(view: GraphView, fingerprint: Fingerprint, edges: Sequence[Edge]) -> str:
    """Say in a sentence what speaks for edges now that did not when one was deleted; empty when nothing does."""
    parts = []
    before = STRENGTH.get(fingerprint.confidence or "")
    now = max((STRENGTH.get(edge.confidence or "", -1) for edge in edges), default=-1)
    if before is not None and now > before:
        best = next(name for name, strength in STRENGTH.items() if strength == now)
        parts.append(f"it is {best} and was {fingerprint.confidence}")
    if fingerprint.origin == "semantic" and any(_origin(view, edge, fingerprint) == "ast" for edge in edges):
        parts.append("the source code itself has it")
    if len(edges) > fingerprint.count:
        parts.append(f"there are {len(edges)} of it")
    return f"The evidence for it is stronger now: {', '.join(parts)}." if parts else ""


def _origin(view: GraphView, edge: Edge, fingerprint: Fingerprint) -> str | None:
    text = view.object_text(edge)
    return (
        None if text_digest(text) == fingerprint.raw_digest else column_text(read_object(text).get("_origin"))
    )
