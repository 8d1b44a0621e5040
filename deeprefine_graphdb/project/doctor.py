"""Checking a store against its own records, and folding its write-ahead log."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from deeprefine_graphdb import stores
from deeprefine_graphdb.graph.base_view import ParsedBase
from deeprefine_graphdb.graph.derive import derive
from deeprefine_graphdb.graph.render import edits_of, graph_digest
from deeprefine_graphdb.model.actions import Frozen
from deeprefine_graphdb.model.errors import DeepRefineError, StoreDamaged, StoreLocked, StoreMissing
from deeprefine_graphdb.project.derivation import active_refinements, given_by
from deeprefine_graphdb.project.knowledge_base import KnowledgeBase
from deeprefine_graphdb.project.recovery import next_step
from deeprefine_graphdb.project.source import read_source
from deeprefine_graphdb.provenance.log import Log
from deeprefine_graphdb.provenance.verify import BASE, Fault, verify, verify_base
from deeprefine_loaders.basefile import BASE_NAME, INDEX_NAME
from deeprefine_loaders.graphfile import GraphFile
from deeprefine_loaders.render import render_digest


class Finding(Frozen):
    """One thing that was looked at; ``ok`` says whether it is as it should be."""

    what: str
    ok: bool
    detail: str = ""


class DoctorReport(Frozen):
    """What a check, a rebuild or a fold found or did.

    ``set_aside`` is where a damaged generation was put; ``next`` says how to bring back what is damaged.
    """

    findings: tuple[Finding, ...]
    done: str = "checked"
    set_aside: str | None = None
    next: str = ""

    @property
    def healthy(self) -> bool:
        """Whether everything is as it should be."""
        return all(finding.ok for finding in self.findings)


def check(base: KnowledgeBase) -> DoctorReport:
    """Look at the store, its base, its log and the graph that they make; nothing is changed but what a crash left.

    The graph in the store has to be what its base and its log derive to, byte for byte. Where nothing was synced yet,
    or the first sync was cut short, nothing is wrong. Raises :class:`StoreLocked`.
    """
    findings: list[Finding] = []
    try:
        findings.extend(_findings(base))
    except StoreLocked:
        raise
    except DeepRefineError as error:
        findings.append(Finding(what="store", ok=False, detail=error.message))
    report = DoctorReport(findings=tuple(findings))
    return report if report.healthy else report.model_copy(update={"next": next_step(base)})


def compact(base: KnowledgeBase) -> DoctorReport:
    """Fold the write-ahead log into a new generation with the same content."""
    base.require_store()
    before = stores.wal_bytes(base.url)
    stores.fold(base.url, log_dir=base.project.log, wait=base.wait)
    after = stores.wal_bytes(base.url)
    detail = f"write-ahead log {before:,} → {after:,} bytes"
    return DoctorReport(findings=(Finding(what="store", ok=True, detail=detail),), done="compacted")


def _findings(base: KnowledgeBase) -> Iterator[Finding]:
    if not base.has_store():
        lost = base.lost()
        if lost is not None:
            raise StoreDamaged(lost.sentence())
        detail = f"there is none yet at {base.url}; `deeprefine-db sync` makes it"
        yield Finding(what="store", ok=True, detail=detail)
        return
    with base.open("read") as store:
        log, state = Log(base.records()), store.state()
        yield Finding(what="store", ok=True, detail=f"opens, revision {state.revision}")
        faults = [fault for fault in verify(log.records, store) if fault.what != BASE]
        yield Finding(what="log", ok=not faults, detail=_lines(faults) or f"{len(log.records)} records")
        if altered := verify_base(store):
            yield Finding(what="base", ok=False, detail=_lines(altered))
            return
        graph = _base(base)
        fault = _fault_of_base(base, graph, log)
        fine = f"{graph.digest[:12]}, {len(graph.nodes.id):,} nodes"
        yield Finding(what="base", ok=not fault, detail=fault or fine)
        if fault:
            return
        held = graph_digest(store)
    wanted = _derived_digest(graph, log)
    same = held == wanted
    detail = held[:12] if same else f"the store has {held[:12]}, its base and log give {wanted[:12]}"
    yield Finding(what="graph", ok=same, detail=detail)


def _base(base: KnowledgeBase) -> GraphFile:
    folder = stores.base_path(base.url)
    if folder is None:
        raise StoreMissing(f"There is no store at {base.url} any more.", "Run this again.")
    return read_source(folder / BASE_NAME)


def _fault_of_base(base: KnowledgeBase, graph: GraphFile, log: Log) -> str:
    """Say what is wrong about a base whose bytes are those that the store was made of, or give ``""``."""
    snapshots = log.snapshots()
    about = snapshots[-1].base_digest if snapshots else ""
    if about != graph.digest:
        return f"the store is about {graph.digest[:12]}, its log about {about[:12]}"
    folder = stores.base_path(base.url)
    if folder is not None and (folder / INDEX_NAME).read_bytes() != graph.index_bytes:
        return f"{folder / INDEX_NAME} is not the index of {BASE_NAME}"
    return ""


def _lines(faults: Iterable[Fault]) -> str:
    return "; ".join(fault.line() for fault in faults)


def _derived_digest(graph: GraphFile, log: Log) -> str:
    reader = ParsedBase(graph)
    return render_digest(
        reader.base, edits_of(reader.base, derive(reader, active_refinements(log), given_by(log)).touched())
    )
