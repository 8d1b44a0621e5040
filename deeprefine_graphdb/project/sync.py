"""Bringing graph.json into the store."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Literal

from deeprefine_graphdb import stores
from deeprefine_graphdb.model.actions import Frozen
from deeprefine_graphdb.model.errors import GraphChanged, GraphFormatError, NeedsDecision
from deeprefine_graphdb.model.write import StoreState
from deeprefine_graphdb.project.folding import fold_if_long
from deeprefine_graphdb.project.knowledge_base import KnowledgeBase, known_digests
from deeprefine_graphdb.project.lost import exported_by
from deeprefine_graphdb.project.recovery import next_step
from deeprefine_graphdb.provenance.log import Log
from deeprefine_graphdb.provenance.project import project_all
from deeprefine_graphdb.provenance.records import ExportBody, SyncBody, new_id, to_record
from deeprefine_graphdb.provenance.remains import left_behind
from deeprefine_graphdb.stores.protocol import Generation, Touched
from deeprefine_loaders.errors import FormatError
from deeprefine_loaders.graphfile import GraphFile, read_graph

Say = Callable[[str], None]


class SyncReport(Frozen):
    """What a sync did. ``nodes`` and ``links`` count the file's; ``warnings`` name oddities of the file."""

    outcome: Literal["loaded", "replaced", "unchanged"]
    path: str
    file_digest: str
    base_digest: str
    revision: int
    nodes: int = 0
    links: int = 0
    warnings: tuple[str, ...] = ()


def _quiet(_text: str) -> None:
    """Say nothing."""


def sync(base: KnowledgeBase, say: Say = _quiet) -> SyncReport:
    """Load graph.json into the store when it has changed since it was last read or written.

    Raises :class:`GraphFormatError` for a file that is no graph, and :class:`GraphChanged` when the file changed
    while refinements are in the log; :class:`NeedsDecision` where a store is lost whose log lies there. Nothing
    has changed then.
    """
    path = base.project.graph_json
    digest = base.graph_digest()
    if digest is None:
        raise GraphFormatError(f"{path} does not exist.", "Run `graphify update .` first.")
    if (lost := base.lost()) is not None:
        raise NeedsDecision(lost.sentence(), next_step(base))
    log = base.log()
    known = known_digests(log).get(digest)
    if known is not None:
        if fold_if_long(base):
            say("Folded the store's write-ahead log.")
        return _report("unchanged", base, known)
    say(f"Reading {base.project.shown(path)} …")
    graph = read_source(path)
    if count := len(log.refinements()):
        refinements = "a refinement" if count == 1 else f"{count} refinements"
        store = stores.parse_url(base.url).directory
        raise GraphChanged(
            f"{path} has changed since it was last read or written, and the log has {refinements}, which cannot be "
            "carried over to another graph.json yet.",
            "`deeprefine-db export --force` puts the store's graph there and keeps this file as "
            f"{base.project.backup}. To start anew on this file without the refinements, move {store} and "
            f"{base.project.log} away and run `deeprefine-db sync`.",
        )
    say(f"Loading {len(graph.nodes.id):,} nodes and {len(graph.links.key):,} links …")
    return _load(base, graph, log)


def read_source(path: Path) -> GraphFile:
    """Parse a graph.json, its faults as :class:`GraphFormatError`."""
    try:
        return read_graph(path)
    except FormatError as error:
        raise GraphFormatError(error.message, error.hint) from error


def _load(base: KnowledgeBase, graph: GraphFile, log: Log) -> SyncReport:
    first = not base.has_store()
    if first:
        state = StoreState(store_id=new_id("s"), knowledge_base=base.project.root.name)
    else:
        with base.open("read") as store:
            state = store.state()
    revision = state.revision if first else state.revision + 1
    body = SyncBody(
        id=new_id("y"),
        file_digest=graph.digest,
        base_digest=graph.digest,
        revision=revision,
        nodes=len(graph.nodes.id),
        links=len(graph.links.key),
        path=base.project.shown(base.project.graph_json),
    )
    record = to_record(body)
    rows = project_all((*log.records, record))
    warnings = tuple(graph.warnings)
    if first and (exported := exported_by(base.project, graph.digest)):
        warnings += (
            f"{base.project.shown(base.project.graph_json)} is an export of the store {exported}, whose log is not "
            "here: its refinements are part of the base now, and cannot be undone.",
        )
    base.project.prepare()
    stores.load_generation(
        base.url,
        Generation(
            base=graph,
            state=state.model_copy(
                update={"base_digest": graph.digest, "file_digest": graph.digest, "revision": revision}
            ),
            touched=Touched(entities=left_behind(log.records, set(graph.nodes.id), revision)),
            nodes=rows.nodes,
            relations=rows.relations,
        ),
        (record,),
        log_dir=base.project.log,
        wait=base.wait,
    )
    report = _report("loaded" if first else "replaced", base, body)
    return report.model_copy(update={"warnings": warnings})


def _report(
    outcome: Literal["loaded", "replaced", "unchanged"], base: KnowledgeBase, body: SyncBody | ExportBody
) -> SyncReport:
    return SyncReport(
        outcome=outcome,
        path=base.project.shown(base.project.graph_json),
        file_digest=body.file_digest,
        base_digest=body.base_digest,
        revision=body.revision,
        nodes=body.nodes,
        links=body.links,
    )
