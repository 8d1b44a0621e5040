"""Making a store anew from its base and its journal."""

from __future__ import annotations

from dataclasses import replace

from deeprefine_graphdb import stores
from deeprefine_graphdb.graph.base_view import ParsedBase
from deeprefine_graphdb.graph.derive import derive
from deeprefine_graphdb.model.write import StoreState
from deeprefine_graphdb.project.derivation import active_refinements, given_by
from deeprefine_graphdb.project.doctor import DoctorReport, check
from deeprefine_graphdb.project.knowledge_base import KnowledgeBase
from deeprefine_graphdb.project.others import note_home
from deeprefine_graphdb.project.recovery import Material, gather
from deeprefine_graphdb.provenance.log import Log
from deeprefine_graphdb.provenance.project import project_all
from deeprefine_graphdb.provenance.records import (
    EventBody,
    RefinementBody,
    ResolutionBody,
    SnapshotBody,
    SyncBody,
    read_body,
)
from deeprefine_graphdb.provenance.remains import left_behind
from deeprefine_graphdb.stores.protocol import Generation


def rebuild(base: KnowledgeBase) -> DoctorReport:
    """Make the store anew beside the one in use, switch to it, and set the former generation aside.

    Works too where only a journal and its base are there. Killed at any moment, the store is the former or the new
    one. Raises what :func:`gather` raises when something that the store is made of is missing; nothing has changed
    then.
    """
    material = gather(base)
    aside = stores.rebuild_generation(
        base.url, _generation(base, material), log_dir=base.project.log, wait=base.wait
    )
    base.project.prepare()
    note_home(base)
    report = check(base)
    where = ", ".join(map(str, aside)) or None
    return report.model_copy(update={"done": "rebuilt", "set_aside": where})


def _generation(base: KnowledgeBase, material: Material) -> Generation:
    graph, log = material.graph, material.log
    derived = derive(ParsedBase(graph), active_refinements(log), given_by(log))
    rows = project_all(log.records)
    last = log.records[-1]
    touched = derived.touched()
    present = {*graph.nodes.id, *(entity.id for entity in touched.entities)}
    gone = left_behind(log.records, present, _last_sync(log))
    return Generation(
        base=graph,
        state=StoreState(
            store_id=material.store_id,
            knowledge_base=base.project.root.name,
            base_digest=graph.digest,
            file_digest=log.snapshots()[-1].file_digest,
            revision=_revision(log),
            seq=last.seq,
            head=last.hash,
        ),
        touched=replace(touched, entities=(*touched.entities, *gone)),
        aliases=tuple(derived.view.overlay.aliases.values()),
        nodes=rows.nodes,
        relations=rows.relations,
    )


def _last_sync(log: Log) -> int:
    return max((body.revision for body in log.snapshots() if isinstance(body, SyncBody)), default=0)


def _revision(log: Log) -> int:
    """Count the changes of the graph: one for each sync after the first, each apply, undo, redo and resolution."""
    revision = 0
    undos: set[str] = set()
    for record in log.records:
        if log.order.is_taken(record):
            continue
        body = read_body(record)
        if isinstance(body, SnapshotBody):
            revision = max(revision, body.revision)
        elif isinstance(body, RefinementBody | ResolutionBody):
            revision += 1
        elif isinstance(body, EventBody) and body.group:
            revision += body.event == "applied" or body.group not in undos
            undos.add(body.group)
    return revision
