"""The work itself, in process: refinements, merges, expansion, resolving. Run by a child process a job."""

from __future__ import annotations

import hashlib
import json
import statistics
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Any

from benchmarks.graphs import Workload, choose
from benchmarks.measure import Clock, repeated
from deeprefine_graphdb import stores
from deeprefine_graphdb.grammar.actions import format_actions
from deeprefine_graphdb.graph.plan import plan_refinement
from deeprefine_graphdb.graph.resolve import candidates, resolve
from deeprefine_graphdb.graph.view import GraphView
from deeprefine_graphdb.model.actions import Action, DeleteEdge, InsertEdge, ReplaceNode
from deeprefine_graphdb.model.errors import ActionRefused, AmbiguousName
from deeprefine_graphdb.model.write import WritePlan
from deeprefine_graphdb.project.apply import prepare
from deeprefine_graphdb.project.folding import FOLD_FROM_BYTES, fold_if_long
from deeprefine_graphdb.project.knowledge_base import KnowledgeBase
from deeprefine_graphdb.project.paths import ProjectPaths
from deeprefine_graphdb.provenance.compile import record_statements
from deeprefine_graphdb.provenance.log import Log
from deeprefine_graphdb.provenance.records import ProposalBody, ProposedAction, RefinementFlags, to_record
from deeprefine_graphdb.stores.protocol import GraphStore

EXPANDED = 20
CAP = 50
FLAGS = RefinementFlags(allow_low_confidence=True)
WAIT_SECONDS = 30.0
FIRST_OF_GROWING = 300
FIRST_OF_EXPORTS = 1_300
FIRST_OF_TEXTS = 1_500
TEXTS = 4


class Refinements:
    """Makes refinements of ten actions without merges, no name or edge twice."""

    def __init__(self, workload: Workload, start: int = 0) -> None:
        self._names = workload.names
        self._edges = workload.edges
        self._number = start

    def next_actions(self) -> list[Action]:
        """Six new edges (two of them to an end that is new), two edges deleted, two entities renamed."""
        number, self._number = self._number, self._number + 1
        name = [self._names[(number * 12 + n) % len(self._names)] for n in range(12)]
        inserts = [
            InsertEdge(subject=name[n], relation=f"supports {number}", object=name[n + 4]) for n in range(4)
        ]
        new_ends = [
            InsertEdge(subject=name[8 + n], relation="explained by", object=f"Concept {number} {n}")
            for n in range(2)
        ]
        edges = [self._edges[(number * 2 + n) % len(self._edges)] for n in range(2)]
        deletes = [DeleteEdge(subject=s, relation=r, object=o) for s, r, o in edges]
        renames = [ReplaceNode(old=name[10 + n], new=f"{name[10 + n]} renamed {number}") for n in range(2)]
        return [*inserts, *new_ends, *deletes, *renames]


def knowledge_base(root: Path) -> KnowledgeBase:
    """Give the knowledge base in a folder, with its store where it is by default."""
    project = ProjectPaths(root)
    return KnowledgeBase(project, f"kuzu:{project.store}", WAIT_SECONDS)


def proposal_of(store: GraphStore, name: str, actions: Sequence[Action]) -> ProposalBody:
    """Make a proposal as ``refine`` would: with the footprint of its plan on the graph as it is."""
    text = format_actions(actions)
    plan = plan_refinement(GraphView(store), "footprint", list(enumerate(actions, start=1)), 0)
    return ProposalBody(
        id=name,
        query_id="",
        question="",
        source="file",
        text=text,
        digest=hashlib.sha256(text.encode("utf-8", "surrogatepass")).hexdigest(),
        actions=tuple(
            ProposedAction(number=n, action=each, label="HIGH") for n, each in enumerate(actions, 1)
        ),
        footprint=plan.footprint,
        revision=store.state().revision,
    )


def next_proposal(store: GraphStore, name: str, source: Refinements) -> ProposalBody:
    """Make the next proposal that can be carried out; on a small graph the names come round again."""
    while True:
        try:
            return proposal_of(store, name, source.next_actions())
        except ActionRefused:
            continue


def record(store: GraphStore, proposals: Iterable[ProposalBody]) -> None:
    """Put proposals into the log."""
    records = tuple(map(to_record, proposals))
    store.write(WritePlan(statements=tuple(record_statements(records)), records=records))


def apply_in_process(root: Path, workload: Workload, repeats: int, warm_ups: int) -> dict[str, Any]:
    """Time plan and write of refinements on an open store, the footprint's check and the journal in it.

    Opening is not in it, nor reading the log, which has the proposal already. The store is folded between two of
    them when its write-ahead log has reached the size at which the program folds it; the first one after opening
    does not count.
    """
    base, source = knowledge_base(root), Refinements(workload)
    clock, folds = Clock(), 0
    while len(clock.seconds) < warm_ups + repeats:
        folds += fold_if_long(base)
        with base.open("write") as store:
            warm(store, source)
            while stores.wal_bytes(base.url) < FOLD_FROM_BYTES and len(clock.seconds) < warm_ups + repeats:
                proposal = next_proposal(store, f"bench{len(clock.seconds)}", source)
                record(store, [proposal])
                log = base.log()
                with clock:
                    store.write(prepare(log, store, proposal, "benchmarks", FLAGS).write)
    return {**clock.after(warm_ups), "folds": folds}


def warm(store: GraphStore, source: Refinements) -> None:
    """Apply one refinement that does not count: the first of a store that was just opened prepares statements."""
    actions = next_proposal(store, f"warm{store.state().seq}", source)
    store.write(prepare(Log(()), store, actions, "benchmarks", FLAGS).write)


def grow_wal(root: Path, workload: Workload, at_least: int, proposals: int) -> dict[str, Any]:
    """Apply refinements until the write-ahead log has a size, and leave proposals in the log; names their ids."""
    base = knowledge_base(root)
    source = Refinements(workload, FIRST_OF_GROWING + at_least // 10_000)
    with base.open("write") as store:
        log, count = base.log(), 0
        while stores.wal_bytes(base.url) < at_least:
            proposal = next_proposal(store, f"grow{store.state().seq}", source)
            store.write(prepare(log, store, proposal, "benchmarks", FLAGS).write)
            count += 1
        made: list[ProposalBody] = []
        concerned: set[str] = set()
        while len(made) < proposals:
            proposal = next_proposal(store, f"do{store.state().seq}x{len(made):03}", source)
            if concerned.isdisjoint(proposal.footprint.ids):
                concerned.update(proposal.footprint.ids)
                made.append(proposal)
        record(store, made)
    return {"proposals": [each.id for each in made], "wal_bytes": stores.wal_bytes(base.url)}


def merge_chain(root: Path, workload: Workload, repeats: int, warm_ups: int) -> dict[str, Any]:
    """Time merges of a node of about 3,000 edges: each goes into the next name, which then has those edges."""
    base, clock = knowledge_base(root), Clock()
    for n in range(warm_ups + repeats):
        fold_if_long(base)
        with base.open("write") as store:
            actions = [ReplaceNode(old=workload.merge[n], new=workload.merge[n + 1])]
            proposal = proposal_of(store, f"merge{n}", actions)
            log = base.log()
            with clock:
                store.write(prepare(log, store, proposal, "benchmarks", FLAGS).write)
    return clock.after(warm_ups)


def expand(root: Path, workload: Workload, repeats: int, warm_ups: int, hubs: bool) -> dict[str, Any]:
    """Time one hop of twenty entities, at most 50 edges out and 50 in each."""
    ids = workload.hubs if hubs else workload.entities
    found: list[int] = []
    with knowledge_base(root).open("read") as store:

        def hop(number: int) -> None:
            view = GraphView(store)
            chosen = [ids[(number * EXPANDED + n) % len(ids)] for n in range(EXPANDED)]
            found.append(sum(map(len, view.neighbours_of(chosen, CAP))))

        times = repeated(hop, repeats, warm_ups)
    return {**times, "edges": statistics.median(found)}


def resolve_names(root: Path, workload: Workload, repeats: int, warm_ups: int) -> dict[str, Any]:
    """Time the resolving of names that stand for one entity, each on a fresh view."""
    with knowledge_base(root).open("read") as store:

        def one(number: int) -> None:
            resolve(GraphView(store), workload.names[number % len(workload.names)])

        return repeated(one, repeats, warm_ups)


def resolve_namesakes(root: Path, workload: Workload, repeats: int, warm_ups: int) -> dict[str, Any]:
    """Time the refusal, with candidates, of the label that most entities share."""
    named: list[int] = []
    with knowledge_base(root).open("read") as store:

        def one(_number: int) -> None:
            try:
                resolve(GraphView(store), workload.namesake)
            except AmbiguousName as refused:
                named.append(len(refused.candidates))

        times = repeated(one, repeats, warm_ups)
        assert len(named) == repeats + warm_ups, f"{workload.namesake} was not refused"
        assert min(named) > 1, "no candidates were named"
        known = len(candidates(GraphView(store), workload.namesake))
    return {**times, "namesakes": known}


def one_refinement(root: Path, workload: Workload, number: int) -> dict[str, Any]:
    """Apply one refinement, so that an export has something to write."""
    base = knowledge_base(root)
    with base.open("write") as store:
        proposal = next_proposal(store, f"one{number}", Refinements(workload, FIRST_OF_EXPORTS + 10 * number))
        store.write(prepare(base.log(), store, proposal, "benchmarks", FLAGS).write)
    return {"actions": proposal.text}


def chosen(root: Path) -> dict[str, Any]:
    """Draw the workload of the graph in a folder, with the texts of refinements, the first for the peer."""
    workload = choose(ProjectPaths(root).graph_json)
    source = Refinements(workload, FIRST_OF_TEXTS)
    texts = [format_actions(source.next_actions()) for _ in range(TEXTS)]
    return {"workload": workload.as_json(), "refinements": texts}


def read_workload(path: Path) -> Workload:
    """Read a workload that :func:`chosen` gave."""
    return Workload.from_json(json.loads(path.read_text(encoding="utf-8"))["workload"])
