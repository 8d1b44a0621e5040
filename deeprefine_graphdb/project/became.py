"""What becomes of an action when the graph is derived anew."""

from __future__ import annotations

from deeprefine_graphdb.model.actions import Frozen


class Became(Frozen):
    """What became of one action: the outcome before and now, and why, in words."""

    action: str
    refinement: str
    number: int
    kind: str
    what: str
    before: str
    outcome: str
    note: str = ""
