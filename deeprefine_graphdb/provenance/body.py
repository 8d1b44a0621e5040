"""What every record of the journal says."""

from __future__ import annotations

from typing import ClassVar

from deeprefine_graphdb.model.actions import Frozen


class Body(Frozen):
    """What one record says. ``id`` is unique among all stores that ever share their logs."""

    KIND: ClassVar[str] = ""
    id: str
