"""Laws of planning, on random small graphs, against a model that keeps nothing but labels and triples."""

from __future__ import annotations

import json
from dataclasses import dataclass, field
from typing import Any

from hypothesis import given, settings
from hypothesis import strategies as st

from deeprefine_graphdb.graph.base_view import ParsedBase
from deeprefine_graphdb.graph.compile import compile_overlay
from deeprefine_graphdb.graph.derive import ActiveRefinement, derive
from deeprefine_graphdb.graph.manifest import manifest_of
from deeprefine_graphdb.graph.plan import plan_refinement
from deeprefine_graphdb.graph.render import graph_bytes
from deeprefine_graphdb.graph.view import GraphView
from deeprefine_graphdb.model.actions import Action, DeleteEdge, InsertEdge, ReplaceNode
from deeprefine_graphdb.model.errors import ActionRefused
from deeprefine_graphdb.stores.protocol import Touched
from tests.unit.graph.small import graph, link, node, rendered, triples

LABELS = ("A", "B", "C", "D", "E")
RELATIONS = ("r", "s")
label = st.sampled_from(LABELS)
relation = st.sampled_from(RELATIONS)
bases = st.builds(
    lambda known, edges: graph(
        [node(each.lower(), each) for each in sorted(known)],
        [link(s.lower(), r, t.lower()) for s, r, t in edges if s in known and t in known],
    ),
    st.sets(label, min_size=1),
    st.lists(st.tuples(label, relation, label), max_size=8),
)
actions = st.one_of(
    st.builds(InsertEdge, subject=label, relation=relation, object=label),
    st.builds(DeleteEdge, subject=label, relation=relation, object=label),
    st.builds(ReplaceNode, old=label, new=label),
)


@dataclass
class Naive:
    """Names and triples as plain lists; an action that the rules refuse raises ``KeyError``."""

    alias: dict[str, set[str]] = field(default_factory=dict)
    nodes: dict[str, str] = field(default_factory=dict)
    edges: list[tuple[str, str, str]] = field(default_factory=list)

    def find(self, name: str) -> str | None:
        if name.lower() in self.nodes and name in self.nodes:
            return name
        found = self.present(name)
        if found is not None:
            return found
        former = self.alias.get(name, set())
        if len(former) > 1:
            raise KeyError(name)
        return next(iter(former), None)

    def present(self, name: str) -> str | None:
        return next((key for key, shown in self.nodes.items() if shown == name), None)

    def run(self, action: Action) -> None:
        if isinstance(action, InsertEdge):
            s, t = self.find(action.subject), self.find(action.object)
            if s is None:
                s = self.create(action.subject)
                t = s if action.object == action.subject else t
            t = self.create(action.object) if t is None else t
            if (s, action.relation, t) not in self.edges:
                self.edges.append((s, action.relation, t))
        elif isinstance(action, DeleteEdge):
            triple = (self.must(action.subject), action.relation, self.must(action.object))
            if self.edges.count(triple) != 1:
                raise KeyError(triple)
            self.edges.remove(triple)
        else:
            old, new = self.must(action.old), self.present(action.new)
            if new is None or new == old:
                if self.nodes[old] != action.new:
                    self.alias.setdefault(self.nodes[old], set()).add(old)
                    self.nodes[old] = action.new
            else:
                self.merge(old, new)

    def must(self, name: str) -> str:
        found = self.find(name)
        if found is None:
            raise KeyError(name)
        return found

    def create(self, name: str) -> str:
        key = name.lower()
        n = 1
        while key in self.nodes or key in self.taken:
            n += 1
            key = f"{name.lower()}_{n}"
        self.nodes[key] = name
        return key

    taken: set[str] = field(default_factory=set)

    def merge(self, old: str, new: str) -> None:
        kept: list[tuple[str, str, str]] = [edge for edge in self.edges if old not in {edge[0], edge[2]}]
        for s, r, t in (edge for edge in self.edges if old in {edge[0], edge[2]}):
            moved = (new if s == old else s, r, new if t == old else t)
            if (moved[0] == moved[2] and s != t) or moved in kept:
                continue
            kept.append(moved)
        self.edges = kept
        self.alias = {name: {new if key == old else key for key in keys} for name, keys in self.alias.items()}
        self.alias.setdefault(self.nodes.pop(old), set()).add(new)
        self.taken.add(old)


def naive_of(base: ParsedBase) -> Naive:
    data = json.loads(base.base.bytes())
    return Naive(nodes={each["id"]: each["label"] for each in data["nodes"]}, edges=triples(data))


def bytes_of(base: ParsedBase, active: list[ActiveRefinement]) -> bytes:
    return b"".join(graph_bytes(base.base, derive(base, active).touched()))


def run_all(base: ParsedBase, wanted: list[Action]) -> tuple[GraphView, list[ActiveRefinement], Naive]:
    """Plan each action as a refinement of its own, leaving out what is refused, on one view and on the model."""
    view, active, naive = GraphView(base), [], naive_of(base)
    for number, action in enumerate(wanted, start=1):
        try:
            plan = plan_refinement(view, f"r{number}", [(1, action)], number)
        except ActionRefused:
            refused = False
            try:
                naive.run(action)
            except KeyError:
                refused = True
            assert refused, action
            continue
        naive.run(action)
        active.append(ActiveRefinement(plan.id, number, plan.bound))
    return view, active, naive


@settings(max_examples=300, deadline=None)
@given(bases, st.lists(actions, max_size=8))
def test_planning_agrees_with_the_naive_model(base: ParsedBase, wanted: list[Action]) -> None:
    view, _, naive = run_all(base, wanted)
    data = rendered(view)
    assert {each["id"]: each["label"] for each in data["nodes"]} == naive.nodes
    assert sorted(triples(data)) == sorted(naive.edges)


@settings(max_examples=200, deadline=None)
@given(bases, st.lists(actions, max_size=8))
def test_replaying_what_was_planned_gives_the_same_rows_and_bytes(
    base: ParsedBase, wanted: list[Action]
) -> None:
    view, active, _ = run_all(base, wanted)
    laid = view.overlay
    planned = Touched(tuple(laid.entities.values()), tuple(laid.edges.values()), tuple(laid.loose.values()))
    derived = derive(base, active)
    assert bytes_of(base, active) == b"".join(graph_bytes(base.base, planned))
    again = derived.view.overlay
    assert (again.entities, again.edges, again.loose) == (laid.entities, laid.edges, laid.loose)
    assert (again.names, again.aliases) == (laid.names, laid.aliases)
    assert {effect.outcome for effect in derived.effects} <= {"reapplied", "already"}
    assert not any(effect.note.startswith("What was") for effect in derived.effects)


@settings(max_examples=200, deadline=None)
@given(bases, st.lists(actions, max_size=8))
def test_no_refinement_gives_the_base_and_stamps_stand_on_what_differs_only(
    base: ParsedBase, wanted: list[Action]
) -> None:
    _, active, _ = run_all(base, wanted)
    assert bytes_of(base, []) == base.base.bytes()
    before: dict[str, Any] = json.loads(base.base.bytes())
    after: dict[str, Any] = json.loads(bytes_of(base, active))
    for section in ("nodes", "links"):
        unstamped = [each for each in after[section] if "_deeprefine" not in each]
        assert all(each in before[section] for each in unstamped)


@settings(max_examples=200, deadline=None)
@given(bases, st.lists(actions, max_size=8))
def test_the_manifest_names_every_object_that_differs(base: ParsedBase, wanted: list[Action]) -> None:
    _, active, _ = run_all(base, wanted)
    entries = manifest_of(base.base, derive(base, active).touched())
    before = base.base.bytes().decode()
    after = bytes_of(base, active).decode()
    for entry in entries:
        assert entry.base is None or entry.base in before
        assert entry.disk is None or entry.disk in after
        assert (entry.base is None) == (entry.kind == "added")
    removed = sum(entry.disk is None for entry in entries)
    added = sum(entry.base is None for entry in entries)
    objects = [len(json.loads(text)["nodes"]) + len(json.loads(text)["links"]) for text in (before, after)]
    assert objects[0] - removed + added == objects[1]


@settings(max_examples=200, deadline=None)
@given(bases, st.lists(actions, min_size=1, max_size=8))
def test_a_compiled_plan_writes_each_row_once_and_creates_last(
    base: ParsedBase, wanted: list[Action]
) -> None:
    view = GraphView(base)
    try:
        plan_refinement(view, "r1", list(enumerate(wanted, start=1)), 1)
    except ActionRefused:
        return
    written = [
        (
            statement.name.rpartition("_")[0],
            statement.params.get("key") or statement.params.get("id") or statement.params["norm"],
        )
        for statement in compile_overlay(view.overlay)
    ]
    assert len(written) == len(set(written))
    names = [statement.name for statement in compile_overlay(view.overlay) if "edge" in statement.name]
    assert names == sorted(names, key=lambda name: name == "graph/edge_add")
