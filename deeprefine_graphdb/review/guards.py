"""The rules that speak against an action. Each finding names its rule; most of them make the action LOW."""

from __future__ import annotations

from collections.abc import Iterator

from deeprefine_graphdb.graph.view import GraphView
from deeprefine_graphdb.model.actions import Action, DeleteEdge, InsertEdge
from deeprefine_graphdb.model.graph import Edge, Entity
from deeprefine_graphdb.review.models import Finding
from deeprefine_graphdb.review.names import is_broad, is_generic

ONE_WAY = frozenset({
    *(
        "contains",
        "method",
        "inherits",
        "extends",
        "implements",
        "subclass_of",
        "superclass_of",
        "is_a",
        "instance_of",
    ),
    *(
        "part_of",
        "member_of",
        "belongs_to",
        "parent_of",
        "child_of",
        "rationale_for",
        "derived_from",
        "precedes",
    ),
    *(
        "follows",
        "created_by",
        "written_by",
        "located_in",
        "replaces",
        "supersedes",
        "defined_in",
        "declares",
    ),
})
SINGLE_OWNER = frozenset({"contains", "method"})
OPPOSITES = (
    ("supports", "contradicts"),
    ("supports", "refutes"),
    ("confirms", "refutes"),
    ("agrees_with", "contradicts"),
    ("enables", "prevents"),
    ("enables", "disables"),
    ("allows", "forbids"),
    ("includes", "excludes"),
    ("increases", "decreases"),
    ("precedes", "follows"),
    ("before", "after"),
    ("requires", "forbids"),
)
NEGATIONS = ("not_", "no_", "non_", "never_", "is_not_", "does_not_", "cannot_")


def names_of(action: Action) -> tuple[tuple[str, str], ...]:
    """Give the names in an action with the part that each plays."""
    if isinstance(action, (InsertEdge, DeleteEdge)):
        return (("subject", action.subject), ("object", action.object))
    return (("old", action.old), ("new", action.new))


def name_findings(action: Action) -> Iterator[Finding]:
    """Find names that are too broad, and new ones that say nothing."""
    for part, name in names_of(action):
        if is_broad(name):
            yield Finding(guard="over-broad", text=f"{name!r} ({part}) bare stands for too much.")
        created = isinstance(action, InsertEdge) or part == "new"
        if created and is_generic(name):
            yield Finding(guard="generic", text=f"{name!r} ({part}) says nothing.")


def contradictions(view: GraphView, source: Entity, relation: str, target: Entity) -> Iterator[Finding]:
    """Find live edges that cannot be true together with a new one."""
    wanted = _simple(relation)
    for edge in view.edges_between(target.id, source.id):
        if wanted in ONE_WAY and _simple(edge.relation) == wanted and source.id != target.id:
            yield _contradicts(view, edge, f"{relation!r} cannot hold both ways")
    for edge in view.edges_between(source.id, target.id):
        if _opposite(wanted, _simple(edge.relation)):
            yield _contradicts(view, edge, f"{relation!r} says the opposite")
    if wanted in SINGLE_OWNER and target.origin == "ast":
        for edge in view.edges_of(target.id):
            owned = edge.tgt == target.id and edge.src not in {source.id, target.id}
            if owned and _simple(edge.relation) == wanted:
                yield _contradicts(view, edge, f"{target.label!r} can have one owner by {relation!r}")
                return


def _contradicts(view: GraphView, edge: Edge, why: str) -> Finding:
    ends = [view.entity(end) for end in (edge.src, edge.tgt)]
    source, target = (
        end.label if end is not None else i for end, i in zip(ends, (edge.src, edge.tgt), strict=True)
    )
    return Finding(
        guard="contradiction", text=f"The graph has {source} -{edge.relation}-> {target} ({edge.key}): {why}."
    )


def _simple(relation: str) -> str:
    return "_".join(relation.lower().replace("-", " ").replace("_", " ").split())


def _opposite(one: str, other: str) -> bool:
    if any({one, other} == set(pair) for pair in OPPOSITES):
        return True
    return any(a == negation + b for negation in NEGATIONS for a, b in ((one, other), (other, one)))
