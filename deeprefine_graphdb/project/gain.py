"""What the last what-if of a proposal found, and holding an apply to it."""

from __future__ import annotations

from collections.abc import Sequence

from deeprefine_graphdb.model.errors import NeedsDecision
from deeprefine_graphdb.provenance.log import Log
from deeprefine_graphdb.review.models import WhatIf
from deeprefine_graphdb.review.render import what_if_summary


def last_what_if(log: Log, proposal_id: str) -> WhatIf | None:
    """Give the last what-if that the log has of a proposal."""
    found = [body.what_if for body in log.reviews(proposal_id) if body.what_if is not None]
    return found[-1] if found else None


def refuse_without_gain(log: Log, proposal_id: str, numbers: Sequence[int]) -> None:
    """Raise :class:`NeedsDecision` unless the last what-if was about just these actions, and found that they help."""
    found = last_what_if(log, proposal_id)
    again = f"Ask what it would bring with `deeprefine-db review {proposal_id} --what-if`."
    if found is None or found.missing:
        why = f": {found.missing}" if found is not None else "."
        raise NeedsDecision(f"It is not known whether proposal {proposal_id} helps{why}", again)
    if set(found.actions) != set(numbers):
        about = ", ".join(map(str, found.actions))
        raise NeedsDecision(
            f"The what-if of proposal {proposal_id} is about its actions {about}, and others are to be applied.",
            "Apply just these (--only, --reject), or leave --require-gain out.",
        )
    if not found.helped:
        raise NeedsDecision(
            f"Proposal {proposal_id} does not help: {what_if_summary(found)}",
            "Apply it all the same without --require-gain.",
        )
