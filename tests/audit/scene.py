"""A small knowledge base with a history in which every kind of record occurs, in a real store."""

from __future__ import annotations

import hashlib
import json
import os
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from deeprefine_graphdb import stores
from deeprefine_graphdb.grammar.actions import parse_answer
from deeprefine_graphdb.graph.compile import compile_overlay
from deeprefine_graphdb.graph.plan import plan_refinement
from deeprefine_graphdb.graph.view import GraphView
from deeprefine_graphdb.model.graph import Triple
from deeprefine_graphdb.model.write import NewRecord, Record, StoreState, WritePlan
from deeprefine_graphdb.provenance.compile import record_statements
from deeprefine_graphdb.provenance.project import project
from deeprefine_graphdb.provenance.records import (
    AnyBody,
    CallBody,
    ConflictBody,
    EventBody,
    ExportBody,
    Label,
    ProposalBody,
    ProposedAction,
    QueryBody,
    RefinementBody,
    RefinementFlags,
    ReviewBody,
    ReviewedAction,
    StepBody,
    SyncBody,
    TraceBody,
    to_record,
)
from deeprefine_graphdb.stores.embedded import EmbeddedStore
from deeprefine_graphdb.stores.journal import Journal
from deeprefine_graphdb.stores.protocol import Generation
from deeprefine_loaders.graphfile import parse_graph

ENGINE = os.environ.get("DEEPREFINE_TEST_ENGINE", "kuzu")
STORE_ID = "s1"
NAMES = ("dulce", "milk", "sugar", "caramel", "argentina", "toffee")


@dataclass
class Scene:
    """Where the store and its journal are, and a clock that ticks by the hour."""

    url: str
    log_dir: Path
    hour: int = 0

    @contextmanager
    def open(self, mode: str = "write") -> Iterator[EmbeddedStore]:
        with stores.open_store(
            self.url, log_dir=self.log_dir, mode="write" if mode == "write" else "read"
        ) as store:
            yield store

    def journal(self) -> list[Record]:
        return Journal.of(self.log_dir, STORE_ID).read()

    def ts(self) -> str:
        self.hour += 1
        return f"2026-03-{1 + self.hour // 24:02d}T{self.hour % 24:02d}:00:00.000000Z"

    def record(self, *bodies: AnyBody) -> None:
        """Write records that do not change the graph, in one transaction."""
        records = tuple(to_record(body, self.ts()) for body in bodies)
        with self.open() as store:
            store.write(WritePlan(statements=tuple(record_statements(records)), records=records))

    def apply(
        self,
        proposal: ProposalBody,
        refinement_id: str,
        by: str,
        only: Sequence[int] = (),
        undone: bool = False,
    ) -> None:
        """Apply (a part of) a recorded proposal; for one that is undone later the graph is left as it then is."""
        with self.open() as store:
            view = GraphView(store)
            state = store.state()
            actions = [(a.number, a.action) for a in proposal.actions if not only or a.number in only]
            plan = plan_refinement(view, refinement_id, actions, state.seq + 1)
            ts = self.ts()
            body = RefinementBody(
                id=refinement_id,
                proposal_id=proposal.id,
                query_id=proposal.query_id,
                by=by,
                flags=RefinementFlags(allow_low_confidence=True, only=tuple(only)),
                actions=plan.bound,
                numbers=plan.numbers,
                footprint=plan.footprint,
                revision=state.revision,
            )
            event = EventBody(
                id=f"{refinement_id}:applied", event="applied", of=refinement_id, of_kind="refinement", by=by
            )
            records: tuple[NewRecord, ...] = (to_record(body, ts, plan.effects), to_record(event, ts))
            store.write(
                WritePlan(
                    statements=(
                        *(() if undone else compile_overlay(view.overlay)),
                        *record_statements(records),
                    ),
                    records=records,
                    revision=None if undone else state.revision,
                )
            )


def proposal(
    proposal_id: str, text: str, labels: Sequence[Label], query_id: str = "", trace_id: str | None = None
) -> ProposalBody:
    actions = parse_answer(f"<refinement>{text}</refinement>")
    return ProposalBody(
        id=proposal_id,
        query_id=query_id,
        trace_id=trace_id,
        source="refine" if trace_id else "file",
        text=text,
        digest=hashlib.sha256(text.encode()).hexdigest(),
        actions=tuple(
            ProposedAction(number=n, action=action, label=label)
            for n, (action, label) in enumerate(zip(actions, labels, strict=True), start=1)
        ),
    )


def triple(source: str, relation: str, target: str) -> Triple:
    return Triple(subject=source, relation=relation, object=target, subject_id=source, object_id=target)


def trace(
    trace_id: str, query_id: str, question: str, verdicts: Sequence[bool], model: str, tokens: int
) -> TraceBody:
    """Give a trace that shows dulce and milk, then sugar, then toffee; one call a step, and one to refine."""
    shown = [
        triple("dulce", "made_of", "milk"),
        triple("dulce", "made_of", "sugar"),
        triple("toffee", "made_of", "sugar"),
    ]
    early = list(verdicts) == [True]
    stages = ["judgement"] * len(verdicts) + ([] if early else ["refinement"])
    return TraceBody(
        id=trace_id,
        query_id=query_id,
        question=question,
        driver=model,
        outcome="early_exit" if early else "refined",
        early_exit=early,
        answerable=verdicts[-1],
        abduction="" if early else "The link to caramel is missing.",
        steps=tuple(
            StepBody(
                number=n,
                hops=n - 1,
                method="k_hop_expansion" if n > 1 else "graphify_query",
                evidence="two edges",
                triples=tuple(shown[:n]),
                answerable=verdict,
                judgement_raw=f"<judge>{'Yes' if verdict else 'No'}</judge>",
            )
            for n, verdict in enumerate(verdicts, start=1)
        ),
        calls=tuple(
            CallBody(
                number=n,
                stage=stage,
                model=model,
                prompt_digest="d",
                tokens_in=tokens,
                tokens_out=10,
                seconds=0.5,
            )
            for n, stage in enumerate(stages, start=1)
        ),
    )


def graph_bytes() -> bytes:
    """Six sweets in two files, four links among them."""
    nodes = [
        {
            "id": n,
            "label": n,
            "source_file": f"{'food' if i % 2 else 'land'}.md",
            "community": 1,
            "_origin": "ast",
        }
        for i, n in enumerate(NAMES)
    ]
    triples = [
        ("dulce", "made_of", "milk"),
        ("dulce", "made_of", "sugar"),
        ("dulce", "from", "argentina"),
        ("toffee", "made_of", "sugar"),
    ]
    links = [
        {"source": s, "target": t, "relation": r, "confidence": "EXTRACTED", "weight": 1.0}
        for s, r, t in triples
    ]
    return json.dumps({"directed": False, "multigraph": False, "nodes": nodes, "links": links}).encode()


def empty_scene(directory: Path) -> Scene:
    """Give the knowledge base just synced."""
    scene = Scene(f"{ENGINE}:{directory / 'store'}", directory / "log")
    graph = parse_graph(graph_bytes())
    digest = graph.digest
    body = SyncBody(id="y1", file_digest=digest, base_digest=digest, revision=1, nodes=6, links=4)
    record = to_record(body, scene.ts())
    state = StoreState(store_id=STORE_ID, base_digest=digest, file_digest=digest, revision=1)
    rows = project(record)
    generation = Generation(base=graph, state=state, nodes=rows.nodes, relations=rows.relations)
    stores.load_generation(scene.url, generation, (record,), log_dir=scene.log_dir)
    return scene


def told_scene(directory: Path) -> Scene:
    """Give the knowledge base after three questions, three proposals, two refinements, one of them undone.

    * q1: not answered in three steps by ``model-a``; its proposal p1 was approved and applied as r1.
    * q2: answered at once by ``model-a``.
    * q3: answered at step 2 by ``model-b``; of its LOW proposal p3 action 2 was applied as r3, and undone.
    * q4: only asked. p4: from a file, rejected.
    """
    scene = empty_scene(directory)
    first = proposal(
        "p1",
        'insert_edge("dulce","similar_to","caramel")|delete_edge("dulce","from","argentina")'
        '|replace_node("toffee","english toffee")|insert_edge("dulce","sold_in","corner shop")',
        ["HIGH", "HIGH", "MEDIUM", "LOW"],
        "q1",
        "t1",
    )
    scene.record(trace("t1", "q1", "what is dulce?", [False, False, False], "model-a", 100), first)
    scene.record(
        ReviewBody(
            id="v1",
            proposal_id="p1",
            decision="mixed",
            actions=tuple(
                ReviewedAction(number=a.number, label=a.label or "LOW", reasons=("because",))
                for a in first.actions
            ),
        ),
        EventBody(id="e1", event="approved", of="p1", of_kind="proposal", by="ana"),
    )
    scene.apply(first, "r1", "ana")
    scene.record(trace("t2", "q2", "what is milk?", [True], "model-a", 40))
    third = proposal(
        "p3",
        'insert_edge("milk","comes_from","cow")|replace_node("caramel","sugar")',
        ["LOW", "LOW"],
        "q3",
        "t3",
    )
    scene.record(trace("t3", "q3", "what is caramel?", [False, True], "model-b", 70), third)
    scene.apply(third, "r3", "ben", only=[2], undone=True)
    scene.record(
        EventBody(
            id="e2", event="undone", of="r3", of_kind="refinement", by="ana", note="sugar is no caramel"
        ),
        ConflictBody(id="c1", action="r1.2", kind="target-missing", detail="argentina is gone"),
    )
    fourth = proposal("p4", 'insert_edge("milk","is","white")', ["LOW"])
    scene.record(
        QueryBody(id="q4", question="why?", source="memory"),
        fourth,
        EventBody(id="e3", event="rejected", of="p4", of_kind="proposal", by="ben"),
    )
    with scene.open("read") as store:
        state = store.state()
    scene.record(
        ExportBody(
            id="x1",
            file_digest="f",
            base_digest=state.base_digest,
            revision=state.revision,
            nodes=7,
            links=5,
            manifest={"entries": [{"kind": "added"}, {"kind": "added"}, {"kind": "removed"}]},
            active=("r1",),
        )
    )
    return scene
