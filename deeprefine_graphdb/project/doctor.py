"""Checking a store against its own records, rebuilding it from them, and folding its write-ahead log."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

from deeprefine_graphdb import stores
from deeprefine_graphdb.graph.base_view import ParsedBase
from deeprefine_graphdb.graph.derive import derive
from deeprefine_graphdb.graph.render import edits_of, graph_digest
from deeprefine_graphdb.model.actions import Frozen
from deeprefine_graphdb.model.errors import DeepRefineError, StoreDamaged, StoreLocked, StoreMissing
from deeprefine_graphdb.model.write import StoreState
from deeprefine_graphdb.project.derivation import active_refinements, given_by
from deeprefine_graphdb.project.knowledge_base import KnowledgeBase, file_digest
from deeprefine_graphdb.project.sync import read_source
from deeprefine_graphdb.provenance.log import Log
from deeprefine_graphdb.provenance.project import project_all
from deeprefine_graphdb.provenance.records import SnapshotBody, SyncBody, read_body
from deeprefine_graphdb.provenance.remains import left_behind
from deeprefine_graphdb.provenance.verify import verify
from deeprefine_graphdb.stores.journal import Journal
from deeprefine_graphdb.stores.protocol import Generation
from deeprefine_loaders.basefile import BASE_NAME
from deeprefine_loaders.graphfile import GraphFile
from deeprefine_loaders.render import render_digest


class Finding(Frozen):
    """One thing that was looked at; ``ok`` says whether it is as it should be."""

    what: str
    ok: bool
    detail: str = ""


class DoctorReport(Frozen):
    """What a check, a rebuild or a fold found or did. ``set_aside`` is where a damaged generation was put."""

    findings: tuple[Finding, ...]
    done: str = "checked"
    set_aside: str | None = None

    @property
    def healthy(self) -> bool:
        """Whether everything is as it should be."""
        return all(finding.ok for finding in self.findings)


def check(base: KnowledgeBase) -> DoctorReport:
    """Look at the store, its base, its log and the graph that they make; nothing is changed.

    The graph in the store has to be what its base and its log derive to, byte for byte. Where nothing was synced yet,
    or the first sync was cut short, nothing is wrong. Raises :class:`StoreLocked`.
    """
    if not base.has_store():
        detail = f"there is none yet at {base.url}; `deeprefine-db sync` makes it"
        return DoctorReport(findings=(Finding(what="store", ok=True, detail=detail),))
    findings: list[Finding] = []
    try:
        with base.open("read") as store:
            records = base.records()
            findings.append(
                Finding(what="store", ok=True, detail=f"opens, revision {store.state().revision}")
            )
            faults = verify(records, store)
            findings.append(
                Finding(
                    what="log",
                    ok=not faults,
                    detail="; ".join(fault.line() for fault in faults) or f"{len(records)} records",
                )
            )
            held = graph_digest(store)
        graph = _own_base(base)
        findings.append(
            Finding(what="base", ok=True, detail=f"{graph.digest[:12]}, {len(graph.nodes.id):,} nodes")
        )
        wanted = _derived_digest(graph, Log(records))
        same = held == wanted
        detail = held[:12] if same else f"the store has {held[:12]}, its base and log give {wanted[:12]}"
        findings.append(Finding(what="graph", ok=same, detail=detail))
    except StoreLocked:
        raise
    except DeepRefineError as error:
        findings.append(Finding(what="store", ok=False, detail=error.message))
    return DoctorReport(findings=tuple(findings))


def rebuild(base: KnowledgeBase) -> DoctorReport:
    """Set the generation in use aside and make it anew from its base and the journal.

    Where the base is lost, graph.json serves if it is the very file. Raises :class:`StoreDamaged` when neither is
    there, or the journal is broken.
    """
    store_id = stores.store_id(base.url) or _only_journal(base.project.log)
    journal = Journal.of(base.project.log, store_id)
    bad = journal.verify()
    if bad is not None:
        raise StoreDamaged(
            f"{journal.path}: line {bad.line}: {bad.reason}.", "Restore the file from a copy or git."
        )
    log = Log(journal.read())
    snapshots = log.snapshots()
    if not snapshots:
        raise StoreDamaged(
            f"{journal.path} has no record of a sync.", "Run `deeprefine-db sync` for a new store."
        )
    graph = _base_or_file(base, snapshots[-1].base_digest)
    aside = stores.set_aside(base.url, wait=base.wait) if base.has_store() else None
    derived = derive(ParsedBase(graph), active_refinements(log), given_by(log))
    rows = project_all(log.records)
    last = log.records[-1]
    touched = derived.touched()
    present = {*graph.nodes.id, *(entity.id for entity in touched.entities)}
    gone = left_behind(log.records, present, _last_sync(log))
    stores.load_generation(
        base.url,
        Generation(
            base=graph,
            state=StoreState(
                store_id=store_id,
                knowledge_base=base.project.root.name,
                base_digest=graph.digest,
                file_digest=snapshots[-1].file_digest,
                revision=_revision(log),
                seq=last.seq,
                head=last.hash,
            ),
            touched=replace(touched, entities=(*touched.entities, *gone)),
            aliases=tuple(derived.view.overlay.aliases.values()),
            nodes=rows.nodes,
            relations=rows.relations,
        ),
        (),
        log_dir=base.project.log,
        wait=base.wait,
    )
    report = check(base)
    return report.model_copy(update={"done": "rebuilt", "set_aside": str(aside) if aside else None})


def compact(base: KnowledgeBase) -> DoctorReport:
    """Fold the write-ahead log into a new generation with the same content."""
    before = stores.wal_bytes(base.url)
    stores.fold(base.url, log_dir=base.project.log, wait=base.wait)
    after = stores.wal_bytes(base.url)
    detail = f"write-ahead log {before:,} → {after:,} bytes"
    return DoctorReport(findings=(Finding(what="store", ok=True, detail=detail),), done="compacted")


def _derived_digest(graph: GraphFile, log: Log) -> str:
    reader = ParsedBase(graph)
    return render_digest(
        reader.base, edits_of(reader.base, derive(reader, active_refinements(log), given_by(log)).touched())
    )


def _own_base(base: KnowledgeBase) -> GraphFile:
    kept = stores.base_path(base.url)
    if kept is None:
        raise StoreMissing(f"There is no store at {base.url}.", "Run `deeprefine-db sync` first.")
    return read_source(kept / BASE_NAME)


def _base_or_file(base: KnowledgeBase, digest: str) -> GraphFile:
    """Give the base that the log is about: the store's own copy, else graph.json if it is the very file."""
    kept = stores.base_path(base.url)
    for path in (base.project.graph_json, *(() if kept is None else (kept / BASE_NAME,))):
        if file_digest(path) == digest:
            return read_source(path)
    raise StoreDamaged(
        f"Neither the store nor {base.project.graph_json} has the base {digest[:12]} that the log is about.",
        "Put that graph.json back, from git or graph.json.bak, and run this again.",
    )


def _only_journal(folder: Path) -> str:
    found = sorted(folder.glob("*.jsonl"))
    if len(found) != 1:
        raise StoreMissing(
            f"{folder} has {len(found)} logs, so it is not known which one to rebuild from.",
            "Run `deeprefine-db sync` for a new store.",
        )
    return found[0].stem


def _last_sync(log: Log) -> int:
    return max((body.revision for body in log.snapshots() if isinstance(body, SyncBody)), default=0)


def _revision(log: Log) -> int:
    """Count the changes of the graph: one for each sync after the first, and one for each apply or undo."""
    revision = 0
    for record in log.records:
        body = read_body(record)
        if isinstance(body, SnapshotBody):
            revision = max(revision, body.revision)
        elif record.kind == "refinement":
            revision += 1
    return revision
