"""A small knowledge base, and the product's jobs on it as functions of its root."""

from __future__ import annotations

import hashlib
import json
import os
from collections.abc import Callable
from pathlib import Path
from typing import Any

from deeprefine_graphdb.grammar.actions import parse_answer
from deeprefine_graphdb.project import graphify
from deeprefine_graphdb.project.apply import ApplyReport, apply_proposal
from deeprefine_graphdb.project.conflicts import ResolveReport, conflicts, resolve_conflict
from deeprefine_graphdb.project.doctor import compact
from deeprefine_graphdb.project.export import export
from deeprefine_graphdb.project.knowledge_base import KnowledgeBase
from deeprefine_graphdb.project.paths import ProjectPaths
from deeprefine_graphdb.project.rebuild import rebuild
from deeprefine_graphdb.project.sync import sync
from deeprefine_graphdb.project.undo import UndoReport, undo
from deeprefine_graphdb.project.update import UpdateReport, update
from deeprefine_graphdb.provenance.records import ProposalBody, ProposedAction, RefinementFlags

STAND_IN = Path(__file__).with_name("graphify_stand_in.py")
ANSWER = (
    'insert_edge("Cache", "speeds_up", "Server")|insert_edge("Server", "documented_in", "Operations guide")'
    '|delete_edge("Server", "uses", "Disk")|replace_node("Disk", "Solid state disk")|replace_node("Srv", "Server")'
)


def small_graph() -> dict[str, Any]:
    """Give a graph of six nodes in graphify's form, with a dangling link and a hyperedge."""
    names = ("Server", "Srv", "Cache", "Disk", "Client", "Queue")
    nodes = [
        {
            "id": name.lower(),
            "label": name,
            "community": at % 2,
            "norm_label": name.lower(),
            "source_file": f"src/{name}.py",
        }
        for at, name in enumerate(names)
    ]
    triples = (
        ("server", "uses", "disk"),
        ("srv", "calls", "cache"),
        ("client", "calls", "server"),
        ("client", "calls", "srv"),
        ("queue", "feeds", "srv"),
        ("queue", "feeds", "nowhere"),
    )
    links = [
        {"source": s, "target": t, "relation": r, "confidence": "EXTRACTED", "weight": 1.0}
        for s, r, t in triples
    ]
    hyperedges = [{"id": "h1", "label": "serving", "nodes": ["server", "srv", "client"]}]
    return {
        "directed": False,
        "multigraph": False,
        "graph": {},
        "nodes": nodes,
        "links": links,
        "hyperedges": hyperedges,
    }


def make_root(root: Path, graph: dict[str, Any] | bytes | None = None) -> KnowledgeBase:
    """Make a knowledge base folder with a graph.json (by default the small one)."""
    out = root / "graphify-out"
    out.mkdir(parents=True)
    data = (
        graph
        if isinstance(graph, bytes)
        else json.dumps(graph or small_graph(), separators=(",", ":")).encode()
    )
    (out / "graph.json").write_bytes(data)
    return knowledge_base(root)


def knowledge_base(root: Path) -> KnowledgeBase:
    """Give the knowledge base in a folder, on the engine that the tests run on."""
    project = ProjectPaths(root)
    engine = os.environ.get("DEEPREFINE_TEST_ENGINE", "kuzu")
    return KnowledgeBase(project, f"{engine}:{project.store}", 5.0)


def proposal(
    answer: str = ANSWER, name: str = "p1", question: str = "How is the server made fast?"
) -> ProposalBody:
    """Make a proposal of an answer as a file would give it, every action of high confidence."""
    text = f"<refinement>{answer}</refinement>"
    actions = parse_answer(text)
    return ProposalBody(
        id=name,
        query_id=hashlib.sha256(question.encode()).hexdigest()[:16],
        question=question,
        source="file",
        text=text,
        digest=hashlib.sha256(text.encode()).hexdigest(),
        actions=tuple(
            ProposedAction(number=n, action=each, label="HIGH") for n, each in enumerate(actions, start=1)
        ),
    )


def apply(base: KnowledgeBase, answer: str = ANSWER, name: str = "p1") -> ApplyReport:
    """Apply an answer as a refinement."""
    return apply_proposal(
        base, proposal(answer, name), by="tester", flags=RefinementFlags(allow_low_confidence=True)
    )


def undo_first(base: KnowledgeBase) -> UndoReport:
    """Undo the first refinement."""
    return undo(base, [base.log().refinements()[0].id], by="tester")


def resolve_first(base: KnowledgeBase) -> ResolveReport:
    """Say of the first conflict that we are right."""
    return resolve_conflict(base, conflicts(base)[0].id, "ours", by="tester")


def update_quickly(base: KnowledgeBase) -> UpdateReport:
    """Update with a program in graphify's place that is quick and always does the same."""
    real = graphify.program
    graphify.program = lambda: str(STAND_IN)
    try:
        return update(base, (), say=lambda _text: None)
    finally:
        graphify.program = real


JOBS: dict[str, Callable[[Path], object]] = {
    "sync": lambda root: sync(knowledge_base(root)),
    "apply": lambda root: apply(knowledge_base(root)),
    "export": lambda root: export(knowledge_base(root)),
    "rebuild": lambda root: rebuild(knowledge_base(root)),
    "compact": lambda root: compact(knowledge_base(root)),
    "rebase": lambda root: sync(knowledge_base(root)),
    "undo": lambda root: undo_first(knowledge_base(root)),
    "resolve": lambda root: resolve_first(knowledge_base(root)),
    "update": lambda root: update_quickly(knowledge_base(root)),
    "real-update": lambda root: update(knowledge_base(root), (), say=lambda _text: None),
}
