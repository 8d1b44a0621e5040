"""What a review says: a label for each action, what speaks for it and what against it."""

from __future__ import annotations

from typing import Literal

from pydantic import Field

from deeprefine_graphdb.model.actions import Action, Frozen
from deeprefine_graphdb.model.graph import Triple

Label = Literal["HIGH", "MEDIUM", "LOW"]
LABELS: tuple[Label, ...] = ("HIGH", "MEDIUM", "LOW")


class Evidence(Frozen):
    """Something that speaks for an action.

    ``weak`` evidence speaks for the action without bearing it out. ``where`` is ``file:line`` for source
    text, and for an edge when the file says where it comes from; ``edges`` holds the keys of the edges
    meant. The kind ``nearby`` means the same community.
    """

    kind: Literal["source", "edge", "path", "context", "alias", "nearby"]
    text: str
    where: str = ""
    edges: tuple[str, ...] = ()
    weak: bool = False


class Finding(Frozen):
    """Something that speaks against an action. ``guard`` names the rule; one that ``lowers`` makes the label LOW."""

    guard: str
    text: str
    lowers: bool = True


class ActionReview(Frozen):
    """The review of one action, numbered from 1.

    ``executable`` is false when no flag can make the action apply; ``no_op`` when it would change nothing.
    ``bound`` maps the names of the action (``subject``, ``object``, or ``old``, ``new``) to the entity ids
    that they stand for. ``suggestion`` is the action as it could be written instead, with names that
    resolve; ``candidates`` holds all names that an ambiguous one could mean.
    """

    number: int = Field(ge=1)
    action: Action
    label: Label
    executable: bool = True
    no_op: bool = False
    bound: dict[str, str] = Field(default_factory=dict)
    evidence: tuple[Evidence, ...] = ()
    warnings: tuple[Finding, ...] = ()
    suggestion: Action | None = None
    candidates: tuple[str, ...] = ()


class WhatIf(Frozen):
    """The question judged once more, on the graph as the proposal would make it.

    ``actions`` are the numbers of the actions that were laid over the graph: those that can be carried out. ``before``
    and ``after`` are the hops (from 1) at which the question could be answered, ``None`` when at none of the
    ``hops_before`` and ``hops_after`` that were judged. ``first`` is what the first hop retrieves then, ``new`` has the
    keys of those of its edges that it did not retrieve before, and ``gone`` what it retrieved before and then not.
    It ``helped`` when the question can be answered and could not before, or at an earlier hop. ``calls``, tokens and
    ``seconds`` are what the model took. ``missing`` says why there is no result, if there is none.
    """

    actions: tuple[int, ...] = ()
    before: int | None = None
    after: int | None = None
    hops_before: int = 0
    hops_after: int = 0
    first: tuple[Triple, ...] = ()
    new: tuple[str, ...] = ()
    gone: tuple[Triple, ...] = ()
    evidence: str = ""
    helped: bool = False
    calls: int = 0
    tokens_in: int = 0
    tokens_out: int = 0
    seconds: float = 0.0
    ts: str = ""
    missing: str = ""


class Review(Frozen):
    """The review of a proposal's actions, in their order, and its what-if where there was one."""

    actions: tuple[ActionReview, ...] = ()
    what_if: WhatIf | None = None

    def numbers(self, label: Label) -> tuple[int, ...]:
        """Give the numbers of the actions that have a label."""
        return tuple(each.number for each in self.actions if each.label == label)

    @property
    def blocked(self) -> tuple[int, ...]:
        """The numbers of the actions that cannot be executed, whatever is allowed."""
        return tuple(each.number for each in self.actions if not each.executable)
