"""The work of a long log, in process: making it, choosing what to undo, deriving it, what-if, and an update."""

from __future__ import annotations

import os
import time
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from benchmarks.graphs import QUESTION, Workload
from benchmarks.jobs import FLAGS, Refinements, knowledge_base, next_proposal, proposal_of, record
from benchmarks.measure import Clock, repeated
from deeprefine_graphdb.graph.base_view import ParsedBase
from deeprefine_graphdb.graph.derive import ActiveRefinement, derive
from deeprefine_graphdb.graph.incremental import Recorded, rederive
from deeprefine_graphdb.graph.plan import plan_refinement
from deeprefine_graphdb.graph.rewind import written
from deeprefine_graphdb.graph.view import GraphView
from deeprefine_graphdb.loop.budget import Budget
from deeprefine_graphdb.loop.llm import ChatModel, Message, ModelSettings, Reply
from deeprefine_graphdb.loop.prompts import Stage
from deeprefine_graphdb.loop.trace import CallRecord, Constants
from deeprefine_graphdb.loop.what_if import new_what_if
from deeprefine_graphdb.model.actions import Action, InsertEdge
from deeprefine_graphdb.model.errors import ActionRefused
from deeprefine_graphdb.project import graphify
from deeprefine_graphdb.project.apply import prepare
from deeprefine_graphdb.project.derivation import active_refinements, given_by
from deeprefine_graphdb.project.folding import FOLD_FROM_BYTES, fold_if_long
from deeprefine_graphdb.project.knowledge_base import KnowledgeBase
from deeprefine_graphdb.project.paths import ProjectPaths
from deeprefine_graphdb.project.search import make_retriever
from deeprefine_graphdb.project.update import update
from deeprefine_graphdb.project.what_if import Asking, what_if
from deeprefine_graphdb.provenance.records import ProposalBody, TraceBody
from deeprefine_graphdb.stores import wal_bytes
from deeprefine_graphdb.stores.protocol import GraphStore
from deeprefine_loaders.graphfile import read_graph

STAND_IN = Path(__file__).with_name("graphify_stand_in.py")
FIRST_OF_WHAT_IFS = 1_000


def make_log(root: Path, workload: Workload, refinements: int, followers: int) -> dict[str, Any]:
    """Apply refinements of ten actions; the last ``followers`` add one edge each beside one of the first ones."""
    base, source = knowledge_base(root), Refinements(workload)
    first: list[InsertEdge] = []
    made = 0
    while made < refinements:
        fold_if_long(base)
        with base.open("write") as store:
            while made < refinements and wal_bytes(base.url) < FOLD_FROM_BYTES:
                follows = made - (refinements - followers)
                proposal = (
                    _follower(store, f"log{made}", first, follows)
                    if follows >= 0
                    else next_proposal(store, f"log{made}", source)
                )
                record(store, [proposal])
                store.write(prepare(base.log(), store, proposal, "benchmarks", FLAGS).write)
                first += [each.action for each in proposal.actions[:1] if isinstance(each.action, InsertEdge)]
                made += 1
    return {"refinements": made}


def _follower(store: GraphStore, name: str, first: Sequence[InsertEdge], number: int) -> ProposalBody:
    """Make a proposal that asks what one of the first refinements changed; on a small graph the next that can be."""
    for before in first[number:]:
        try:
            return proposal_of(store, name, [before.model_copy(update={"relation": f"rests on {number}"})])
        except ActionRefused:
            continue
    raise ValueError("No refinement can be followed by another one.")


def choose_undos(root: Path, _workload: Workload, free: int, met: int) -> dict[str, Any]:
    """Name refinements that can be undone: such that nothing later meets, and such that something does.

    No two of them concern the same entity, so each can be undone as if it were the only one.
    """
    base = knowledge_base(root)
    log = base.log()
    recorded = [
        Recorded.of(each, log.effects_of(each.id), log.refinement_body(each.id).footprint)
        for each in active_refinements(log)
    ]
    chosen: dict[str, list[str]] = {"free": [], "met": []}
    wanted = {"free": free, "met": met}
    concerned: set[str] = set()
    with base.open("read") as store:
        for at, each in enumerate(recorded):
            dirty = set(written(each.effects))
            kind = "free" if all(dirty.isdisjoint(later.reads) for later in recorded[at + 1 :]) else "met"
            ids = log.refinement_body(each.refinement.id).footprint.ids
            if len(chosen[kind]) == wanted[kind] or not concerned.isdisjoint(ids):
                continue
            result = rederive(store, recorded, given_by(log), undone={each.refinement.id})
            if bool(result.effects) == (kind == "met") and not any(one.refuses for one in result.differences):
                chosen[kind].append(each.refinement.id)
                concerned.update(ids)
    for kind, names in chosen.items():
        assert len(names) == wanted[kind], f"only {len(names)} of {wanted[kind]} refinements are {kind}"
    return {**chosen, "active": len(recorded)}


def derive_many(root: Path, workload: Workload, repeats: int, refinements: int) -> dict[str, Any]:
    """Time the derivation of refinements of ten actions on the parsed base, which knows nothing yet each time."""
    graph = read_graph(ProjectPaths(root).graph_json)
    source, reader = Refinements(workload), ParsedBase(graph)
    active: list[ActiveRefinement] = []
    while len(active) < refinements:
        name = f"derive{len(active)}"
        actions = list(enumerate(source.next_actions(), start=1))
        try:
            plan = plan_refinement(GraphView(reader), name, actions, len(active) + 1)
        except ActionRefused:
            continue
        active.append(ActiveRefinement(id=name, record_seq=len(active) + 1, bound=plan.bound))
    del reader
    suspended: list[int] = []

    def one(_number: int) -> None:
        suspended.append(len(derive(ParsedBase(graph), active).suspended))

    return {**repeated(one, repeats, 0), "suspended": suspended[-1]}


class CannedModel(ChatModel):
    """Answers at once, always No, so that a question goes through every hop."""

    def __init__(self) -> None:
        super().__init__(ModelSettings())

    def complete(self, stage: Stage, messages: Sequence[Message]) -> Reply:  # noqa: ARG002
        """Give the answer, without asking anyone."""
        return Reply("<judge>No</judge>", CallRecord(stage=stage, model="canned", prompt_digest=""))


def what_ifs(root: Path, workload: Workload, repeats: int, warm_ups: int) -> dict[str, Any]:
    """Time a question judged again, retrieval by words, as the proposals of ten actions would leave the graph.

    The index is there, and the model takes no time.
    """
    base, clock = knowledge_base(root), Clock()
    retriever = make_retriever(base, None)
    retriever.refresh()
    hops = 0
    for number, actions in enumerate(_proposed(base, workload, warm_ups + repeats)):
        asking = Asking(retriever, CannedModel(), Budget())
        again = new_what_if(QUESTION, Constants())
        before = TraceBody(id=f"before{number}", query_id=again.query_id, question=QUESTION)
        with clock:
            found = what_if(before, actions, asking, again, lambda _: None, lambda _: None)
        assert not found.missing, found.missing
        hops = found.hops_after
    return {**clock.after(warm_ups), "hops": hops}


def _proposed(base: KnowledgeBase, workload: Workload, count: int) -> list[list[Action]]:
    source = Refinements(workload, FIRST_OF_WHAT_IFS)
    with base.open("read") as store:
        made = [next_proposal(store, f"what-if{n}", source) for n in range(count)]
    return [[each.action for each in proposal.actions] for proposal in made]


def update_once(root: Path, _workload: Workload, _first: int, _second: int) -> dict[str, Any]:
    """Update with the stand-in in graphify's place; give its wall and CPU seconds, which are not this program's.

    graphify's program is looked for beside Python before the PATH, so a stand-in on the PATH might not be taken.
    """
    graphify.program = lambda: str(STAND_IN)
    run, taken = graphify.run, {"graphify_seconds": 0.0, "graphify_cpu": 0.0}

    def timed(*arguments: Any, **options: Any) -> int:
        start, before = time.perf_counter(), os.times()
        code = run(*arguments, **options)
        after = os.times()
        taken["graphify_seconds"] = time.perf_counter() - start
        taken["graphify_cpu"] = (
            after.children_user - before.children_user + after.children_system - before.children_system
        )
        return code

    graphify.run = timed
    report = update(knowledge_base(root), (), say=lambda _text: None)
    return {**taken, "outcome": report.sync.outcome, "suspended": len(report.sync.suspended)}
