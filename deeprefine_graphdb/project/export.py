"""Writing the graph back to graph.json."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path
from typing import Literal

from deeprefine_graphdb.graph.manifest import ManifestEntry, manifest_of
from deeprefine_graphdb.graph.render import edits_of, graph_bytes
from deeprefine_graphdb.model.actions import Frozen
from deeprefine_graphdb.model.errors import DeepRefineError, GraphChanged, NeedsDecision, StoreDamaged
from deeprefine_graphdb.model.write import WritePlan
from deeprefine_graphdb.project.digests import file_digest
from deeprefine_graphdb.project.interrupted import recover
from deeprefine_graphdb.project.knowledge_base import KnowledgeBase, known_digests
from deeprefine_graphdb.project.sidecar import says_the_same, sidecar_bytes
from deeprefine_graphdb.project.writing import naming_the_file
from deeprefine_graphdb.provenance.compile import record_statements
from deeprefine_graphdb.provenance.log import Log
from deeprefine_graphdb.provenance.records import ExportBody, new_id, to_record
from deeprefine_graphdb.provenance.verify import Fault, verify_base
from deeprefine_graphdb.stores.beside import beside
from deeprefine_graphdb.stores.protocol import GraphStore, Touched
from deeprefine_loaders.atomic import replace_file, write_durable, write_out
from deeprefine_loaders.render import render_digest


class ExportReport(Frozen):
    """What an export wrote: the file, its digest, and how many objects differ from the base."""

    outcome: Literal["written", "unchanged", "checked"]
    path: str
    file_digest: str
    base_digest: str
    revision: int
    touched: int = 0


def export(base: KnowledgeBase, *, force: bool = False) -> ExportReport:
    """Write graph.json so that it is what the store says, and record its manifest.

    The file that is replaced stays as ``graph.json.bak``. Raises :class:`GraphChanged` when the file on disk is not a
    known state of the current base, unless ``force``.
    """
    recover(base)
    path = base.project.graph_json
    with base.open("write") as store:
        log, state = base.log(), store.state()
        known = known_digests(log)
        with beside(lambda: (file_digest(path), verify_base(store))) as read:
            touched = store.touched()
        on_disk, faults = read()
        if on_disk is not None and on_disk not in known and not force:
            raise GraphChanged(
                f"{path} is not a file that this store has read or written, so it is not overwritten.",
                "`deeprefine-db sync` takes it in, or says why it cannot; `deeprefine-db export --force` replaces it "
                f"and keeps it as {base.project.backup}.",
            )
        _refuse(faults)
        manifest = manifest_of(store.base, touched)
        wanted = on_disk or ""
        outcome: Literal["written", "unchanged"] = "unchanged"
        if on_disk not in known or _images(known[on_disk].entries()) != _images(manifest):
            outcome = "written"
            with naming_the_file(path):
                wanted = replace_file(
                    path,
                    graph_bytes(store.base, touched),
                    backup=base.project.backup,
                    ready=lambda digest: _record(base, store, log, manifest, digest, on_disk, force),
                )
        _write_sidecar(base, state.store_id, wanted, state.base_digest, manifest)
        return ExportReport(
            outcome=outcome,
            path=base.project.shown(path),
            file_digest=wanted,
            base_digest=state.base_digest,
            revision=state.revision,
            touched=len(manifest),
        )


def _images(manifest: Iterable[ManifestEntry]) -> set[tuple[str, str, str | None]]:
    """Give what a manifest says of the file alone: which objects differ, and their texts there."""
    return {(entry.object, entry.key, entry.disk) for entry in manifest}


def export_to(base: KnowledgeBase, target: Path) -> ExportReport:
    """Write the graph to another place; graph.json, the manifest and the log stay as they are.

    What is no file (a device, a pipe) is written to and not replaced.
    """
    with base.open("read") as store:
        touched = _touched(store)
        with naming_the_file(target):
            digest = write_out(target, graph_bytes(store.base, touched))
        state = store.state()
        return ExportReport(
            outcome="written",
            path=str(target),
            file_digest=digest,
            base_digest=state.base_digest,
            revision=state.revision,
            touched=len(manifest_of(store.base, touched)),
        )


def check_export(base: KnowledgeBase) -> ExportReport:
    """Tell whether graph.json is what the store says. Raises :class:`NeedsDecision` when it is not."""
    with base.open("read") as store:
        touched = _touched(store)
        wanted = render_digest(store.base, edits_of(store.base, touched))
        differing = len(manifest_of(store.base, touched))
        state = store.state()
    on_disk = file_digest(base.project.graph_json)
    if on_disk != wanted:
        known = on_disk is None or on_disk in known_digests(base.log())
        raise NeedsDecision(
            f"{base.project.graph_json} is not what the store says.",
            "Run `deeprefine-db export` to write it."
            if known
            else "The store has neither read nor written it: run `deeprefine-db sync` to take it in, or "
            "`deeprefine-db export --force` to lose what is in it (it stays as graph.json.bak).",
        )
    return ExportReport(
        outcome="checked",
        path=base.project.shown(base.project.graph_json),
        file_digest=wanted,
        base_digest=state.base_digest,
        revision=state.revision,
        touched=differing,
    )


def _touched(store: GraphStore) -> Touched:
    """Give what differs from the base, which must be as it was read. Raises :class:`StoreDamaged` where it is not."""
    with beside(lambda: verify_base(store)) as faults:
        touched = store.touched()
    _refuse(faults())
    return touched


def _refuse(faults: Iterable[Fault]) -> None:
    """See that what is exported comes from the base as it was read. Raises :class:`StoreDamaged`."""
    for fault in faults:
        raise StoreDamaged(f"The store's {fault.what} {fault.says}.", "Run `deeprefine-db doctor --rebuild`.")


def _record(
    base: KnowledgeBase,
    store: GraphStore,
    log: Log,
    manifest: list[ManifestEntry],
    digest: str,
    replaced: str | None,
    forced: bool,
) -> None:
    """Journal the manifest and the digest, before the file with that digest is put in place."""
    state = store.state()
    body = ExportBody(
        id=new_id("x"),
        file_digest=digest,
        base_digest=state.base_digest,
        revision=state.revision,
        nodes=store.base.count("nodes"),
        links=store.base.count("links") + store.base.count("edges"),
        manifest={"entries": [entry.model_dump(mode="json", exclude_none=True) for entry in manifest]},
        active=log.active(),
        path=base.project.shown(base.project.graph_json),
        replaced=replaced,
        forced=forced,
    )
    record = to_record(body)
    store.write(
        WritePlan(
            statements=tuple(record_statements([record])), records=(record,), store={"file_digest": digest}
        )
    )


def _write_sidecar(
    base: KnowledgeBase, store_id: str, digest: str, base_digest: str, manifest: list[ManifestEntry]
) -> None:
    """Put the manifest beside graph.json, so that a copy of both tells what in the file is ours."""
    data = sidecar_bytes(store_id, digest, base_digest, manifest)
    path = base.project.sidecar
    try:
        if not says_the_same(path, data):
            write_durable(path, data)
    except OSError as error:
        reason = error.strerror or str(error)
        raise DeepRefineError(
            f"{base.project.graph_json} is written, and {path} beside it cannot be: {reason}.",
            "Run `deeprefine-db export` again when it can be written.",
        ) from error
