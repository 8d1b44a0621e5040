"""Reviewing proposed actions: what the graph and the sources say about each, before anyone approves it."""

from __future__ import annotations

import itertools
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field

from deeprefine_graphdb.graph.bind import bind
from deeprefine_graphdb.graph.perform import perform
from deeprefine_graphdb.graph.resolve import find
from deeprefine_graphdb.graph.view import GraphView
from deeprefine_graphdb.model.actions import Action, BoundAction, DeleteEdge, Effect, InsertEdge, ReplaceNode
from deeprefine_graphdb.model.errors import ActionRefused, AmbiguousName
from deeprefine_graphdb.model.graph import Entity, Triple
from deeprefine_graphdb.retrieval.sources import SourceReader
from deeprefine_graphdb.review.evidence import Grounds
from deeprefine_graphdb.review.guards import contradictions, name_findings, names_of
from deeprefine_graphdb.review.models import ActionReview, Evidence, Finding, Label, Review
from deeprefine_graphdb.review.names import is_broad
from deeprefine_graphdb.review.suggest import (
    best_candidate,
    existing_edge,
    known,
    qualified,
    respelled,
    with_name,
)

DRAFT = "review"


def review_actions(
    view: GraphView,
    actions: Sequence[Action],
    sources: SourceReader | None = None,
    context: Sequence[Triple] = (),
) -> Review:
    """Label each action by the rules of the review, each on the graph as the ones before it leave it.

    ``view`` is laid over with what the actions would do and records all that is read: give one of its own.
    ``context`` is what the question's last step retrieved. Nothing is written.
    """
    grounds = Grounds(view, sources, context)
    seq = itertools.count(1)
    return Review(
        actions=tuple(_review(grounds, n, action, seq) for n, action in enumerate(actions, start=1))
    )


@dataclass
class _Verdict:
    """What has been found about an action so far; ``label`` is what the evidence alone would give."""

    label: Label
    evidence: list[Evidence] = field(default_factory=list)
    findings: list[Finding] = field(default_factory=list)
    suggestion: Action | None = None

    def against(self, guard: str, text: str, lowers: bool = True) -> None:
        """Add a finding."""
        self.findings.append(Finding(guard=guard, text=text, lowers=lowers))


def _review(grounds: Grounds, number: int, action: Action, seq: Iterator[int]) -> ActionReview:
    try:
        bound = bind(grounds.view, action, f"{DRAFT}.{number}")
    except ActionRefused as refused:
        return _refused(grounds.view, number, action, refused)
    if _adds_nothing(grounds.view, bound):
        return _no_op(grounds, number, bound)
    verdict = _judge(grounds, action, bound)
    verdict.findings[:0] = name_findings(action)
    verdict.suggestion = verdict.suggestion or _better_named(grounds.view, action)
    try:
        effect = perform(grounds.view, bound, lambda: next(seq))
    except ActionRefused as refused:
        return _refused(grounds.view, number, action, refused)
    return ActionReview(
        number=number,
        action=action,
        label="LOW" if any(each.lowers for each in verdict.findings) else verdict.label,
        no_op=effect.outcome == "already",
        bound=_bound_names(action, bound, effect),
        evidence=tuple(verdict.evidence),
        warnings=tuple(verdict.findings),
        suggestion=verdict.suggestion,
    )


def _judge(grounds: Grounds, action: Action, bound: BoundAction) -> _Verdict:
    if isinstance(action, InsertEdge):
        return _judge_insert(grounds, action, bound)
    if isinstance(action, DeleteEdge):
        return _judge_delete(grounds, bound)
    return _judge_replace(grounds, action, bound)


def _judge_insert(grounds: Grounds, action: InsertEdge, bound: BoundAction) -> _Verdict:
    source, target = grounds.view.entity(bound.subject.id), grounds.view.entity(bound.object.id)
    known_ends = [end for end in (source, target) if end is not None and not _drafted(end)]
    if source is None or target is None or len(known_ends) < 2:
        return _judge_new_end(grounds, action, known_ends)
    verdict = _Verdict("LOW", findings=list(contradictions(grounds.view, source, action.relation, target)))
    if source.id == target.id:
        verdict.against("ungrounded", f"Both ends are {source.label!r}, and nothing can bear that out.")
        return verdict
    verdict.evidence = [
        each
        for each in (grounds.between_sources(source, target), grounds.near(source, target))
        if each is not None
    ]
    if any(each.kind == "source" and not each.weak for each in verdict.evidence):
        verdict.label = "HIGH"
    elif verdict.evidence:
        verdict.label = "MEDIUM"
    elif source.community is not None and target.community is not None:
        verdict.against(
            "other-community",
            f"{source.label!r} is in community {source.community}, {target.label!r} in {target.community}, "
            "and nothing lies between them.",
        )
    else:
        verdict.against("ungrounded", f"Nothing links {source.label!r} and {target.label!r}, or names both.")
    return verdict


def _judge_new_end(grounds: Grounds, action: InsertEdge, known_ends: Sequence[Entity]) -> _Verdict:
    """Judge an insert that makes an end, or uses one that an earlier action makes."""
    verdict = _Verdict("LOW")
    ids = {end.id for end in known_ends}
    for part, name in names_of(action):
        entity = known(grounds.view, name)
        if entity is not None and entity.id in ids:
            continue
        found = [each for end in known_ends if (each := grounds.named_at(end, name)) is not None]
        verdict.evidence += found
        if found:
            verdict.label = "MEDIUM"
        elif known_ends:
            text = f"{name!r} is new, and the source of {known_ends[0].label!r} does not name it."
            verdict.against("ungrounded", text)
        else:
            verdict.against("ungrounded", f"{name!r} is new, and so is the other end.")
        near = respelled(grounds.view, name) if entity is None else None
        if near is not None:
            verdict.against("near-name", f"{name!r} would be made although {near.label!r} is there.", False)
            verdict.suggestion = with_name(verdict.suggestion or action, part, qualified(grounds.view, near))
    return verdict


def _judge_delete(grounds: Grounds, bound: BoundAction) -> _Verdict:
    view = grounds.view
    edge = next(
        edge
        for edge in view.edges_between(bound.subject.id, bound.object.id)
        if bound.edge_key in {edge.key, edge.origin_key}
    )
    verdict = _Verdict("HIGH", evidence=[grounds.edge(edge)])
    source, target = view.entity(bound.subject.id), view.entity(bound.object.id)
    if source is not None and target is not None:
        still = grounds.between_sources(source, target)
        if still is not None and not still.weak and edge.confidence == "EXTRACTED":
            text = f"The edge was extracted, and {still.where} still names its other end."
            verdict.against("still-in-source", text, lowers=False)
    return verdict


def _judge_replace(grounds: Grounds, action: ReplaceNode, bound: BoundAction) -> _Verdict:
    view = grounds.view
    old = view.entity(bound.subject.id)
    assert old is not None  # noqa: S101
    new = view.entity(bound.object.id) if bound.intent.kind == "merge" else None
    evidence = [grounds.alias(old, action.new)]
    if new is not None:
        evidence.append(grounds.alias(new, old.label))
    evidence.append(grounds.named_at(old, action.new, new))
    verdict = _Verdict("HIGH", evidence=[each for each in evidence if each is not None])
    if all(each.weak for each in verdict.evidence):
        into = f"{new.label!r} is another entity, and " if new is not None else ""
        text = f"{into}{action.new!r} is no other name of {old.label!r}, and its source does not name it."
        verdict.against("ungrounded", text)
    return verdict


def _refused(view: GraphView, number: int, action: Action, refused: ActionRefused) -> ActionReview:
    """Report an action that no flag can make apply, with the nearest one that could."""
    ambiguous = isinstance(refused, AmbiguousName)
    guard = "ambiguous" if ambiguous else "missing"
    findings = [Finding(guard=guard, text=str(refused)), *name_findings(action)]
    candidates = refused.candidates if isinstance(refused, AmbiguousName) else ()
    suggestion = _repaired(view, action)
    if suggestion is None and isinstance(action, DeleteEdge):
        suggestion = existing_edge(view, action)
    ends = {part: entity.id for part, name in names_of(action) if (entity := known(view, name)) is not None}
    return ActionReview(
        number=number,
        action=action,
        label="LOW",
        executable=False,
        bound=ends,
        warnings=tuple(findings),
        suggestion=suggestion,
        candidates=candidates,
    )


def _repaired(view: GraphView, action: Action) -> Action | None:
    """Give the action with every name that does not resolve replaced by one that does, where all can be."""
    repaired = action
    names = dict(names_of(action))
    for part, name in names.items():
        other = next((known(view, each) for at, each in names.items() if at != part), None)
        better: str | None = name
        try:
            if find(view, name) is None and part in _parts_to_find(action):
                near = respelled(view, name)
                better = qualified(view, near) if near is not None else None
        except AmbiguousName as ambiguous:
            better = best_candidate(view, ambiguous.candidates, other)
        if better is None:
            return None
        repaired = with_name(repaired, part, better)
    return repaired if repaired != action else None


def _parts_to_find(action: Action) -> tuple[str, ...]:
    """Give the parts of an action whose names must be in the graph already."""
    if isinstance(action, InsertEdge):
        return ()
    return ("old",) if isinstance(action, ReplaceNode) else ("subject", "object")


def _better_named(view: GraphView, action: Action) -> Action | None:
    """Give the action with its over-broad names qualified, where they resolve."""
    better = action
    for part, name in names_of(action):
        entity = known(view, name) if is_broad(name) else None
        if entity is not None:
            better = with_name(better, part, qualified(view, entity))
    return better if better != action else None


def _adds_nothing(view: GraphView, bound: BoundAction) -> bool:
    if bound.intent.kind == "insert":
        equal = view.edges_between(bound.subject.id, bound.object.id)
        return any(edge.relation == bound.intent.relation for edge in equal)
    if bound.intent.kind == "rename":
        return bound.subject.label == bound.intent.object
    return False


def _no_op(grounds: Grounds, number: int, bound: BoundAction) -> ActionReview:
    evidence = [
        grounds.edge(edge)
        for edge in grounds.view.edges_between(bound.subject.id, bound.object.id)
        if bound.intent.kind == "insert" and edge.relation == bound.intent.relation
    ]
    said = "This edge is in the graph already" if evidence else "The entity has this name already"
    return ActionReview(
        number=number,
        action=bound.action,
        label="MEDIUM",
        no_op=True,
        bound=_bound_names(bound.action, bound, None),
        evidence=tuple(evidence),
        warnings=(Finding(guard="no-op", text=f"{said}: nothing would change.", lowers=False),),
    )


def _bound_names(action: Action, bound: BoundAction, effect: Effect | None) -> dict[str, str]:
    ids = effect.bound if effect is not None and effect.bound else {}
    first, second = (part for part, _ in names_of(action))
    return {first: ids.get("subject", bound.subject.id), second: ids.get("object", bound.object.id)}


def _drafted(entity: Entity) -> bool:
    """Tell whether an entity is made by an earlier action of the same review."""
    return entity.added_by is not None and entity.added_by.rpartition(".")[0] == DRAFT
