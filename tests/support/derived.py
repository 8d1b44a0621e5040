"""What a store has to be: the graph derived from its base and its log, without looking at its rows."""

from __future__ import annotations

from deeprefine_graphdb.graph import outcomes
from deeprefine_graphdb.graph.base_view import ParsedBase
from deeprefine_graphdb.graph.derive import derive
from deeprefine_graphdb.graph.render import edits_of, graph_digest
from deeprefine_graphdb.project.derivation import active_refinements, given_by
from deeprefine_graphdb.project.knowledge_base import KnowledgeBase
from deeprefine_loaders.graphfile import parse_graph
from deeprefine_loaders.render import render_digest


def assert_derived(base: KnowledgeBase, where: str = "") -> str:
    """Hold that the store's graph, outcomes and conflicts are those of derive(base, active); give its digest."""
    log = base.log()
    with base.open("read") as store:
        stored = graph_digest(store)
        parsed = ParsedBase(parse_graph(b"".join(store.base.chunks())))
    derived = derive(parsed, active_refinements(log), given_by(log))
    for refinement, effects in derived.by_refinement.items():
        told = [(outcomes.plainly(each.outcome), each.bound) for each in log.effects_of(refinement)]
        assert told == [(each.outcome, each.bound) for each in effects], (where, refinement)
    stuck = {effect.action for effect in derived.effects if outcomes.is_conflict(effect.outcome)}
    assert {each.action for each in log.open_conflicts()} == stuck, where
    assert stored == render_digest(parsed.base, edits_of(parsed.base, derived.touched())), where
    return stored
