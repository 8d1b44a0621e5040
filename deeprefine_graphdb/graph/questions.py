"""The questions that a graph is asked, by name: an action's outcome rests on the answers, and rows are in them."""

from __future__ import annotations

import json
from collections.abc import Iterator

from deeprefine_graphdb.graph.overlay import AnyRow
from deeprefine_graphdb.model.graph import Alias, Edge, Entity
from deeprefine_loaders.identity import norm_label


def between(source: str, target: str) -> str:
    """Name the question for the edges source→target."""
    return f"between:{json.dumps([source, target])}"


def merged(entity_id: str) -> str:
    """Name the question for the active merges of an id."""
    return f"merged:{entity_id}"


def state(refinement_id: str) -> str:
    """Name the question whether a refinement is suspended."""
    return f"state:{refinement_id}"


def said(source: str, relation: str, target: str) -> str:
    """Name the question for what was said about a triple, by ids."""
    return f"triple:{json.dumps([source, relation, target])}"


def answered_by(row: AnyRow) -> Iterator[str]:
    """Give every question whose answer has this row in it."""
    if isinstance(row, Entity):
        yield f"entity:{row.id}"
        yield f"names:{norm_label(row.label)}"
    elif isinstance(row, Edge):
        yield between(row.src, row.tgt)
        yield f"edges:{row.src}"
        yield f"edges:{row.tgt}"
    elif isinstance(row, Alias):
        yield f"alias:{row.norm}"
    else:
        yield f"loose:{row.key}"
        yield from (f"members:{member}" for member in row.members)
