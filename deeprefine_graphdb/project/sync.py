"""Bringing graph.json into the store."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Literal

from deeprefine_graphdb import stores
from deeprefine_graphdb.graph.texts import STAMP
from deeprefine_graphdb.graph.unecho_model import EchoNote
from deeprefine_graphdb.model.actions import Frozen
from deeprefine_graphdb.model.errors import GraphFormatError, NeedsDecision
from deeprefine_graphdb.model.write import NewRecord, StoreState
from deeprefine_graphdb.project.became import Became
from deeprefine_graphdb.project.digests import DigestAhead
from deeprefine_graphdb.project.folding import fold_if_long
from deeprefine_graphdb.project.interrupted import finish_update, recover
from deeprefine_graphdb.project.knowledge_base import KnowledgeBase, known_digests
from deeprefine_graphdb.project.lost import exported_by
from deeprefine_graphdb.project.others import news_of_others, note_read
from deeprefine_graphdb.project.recovery import next_step
from deeprefine_graphdb.provenance.log import Log
from deeprefine_graphdb.provenance.records import (
    ConflictBody,
    ExportBody,
    RefinementBody,
    SyncBody,
    new_id,
    to_record,
)
from deeprefine_graphdb.stores.protocol import Generation, Touched

if TYPE_CHECKING:
    from deeprefine_graphdb.project.rebase import Rebased
    from deeprefine_loaders.graphfile import GraphFile

Say = Callable[[str], None]


class SyncReport(Frozen):
    """What a sync did, or with ``dry_run`` would do. ``nodes`` and ``links`` count the file's.

    ``warnings`` name oddities of the file. After a rebase ``became`` tells what came out otherwise than before, by
    action, ``opened`` and ``settled`` are the conflicts that are new and that are over, ``suspended`` all refinements
    that are in conflict now, ``taken_in`` those that came with the logs of other stores, and ``notes`` what un-echoing
    the file met with.
    """

    outcome: Literal["loaded", "replaced", "rebased", "unchanged"]
    path: str
    file_digest: str
    base_digest: str
    revision: int
    nodes: int = 0
    links: int = 0
    warnings: tuple[str, ...] = ()
    dry_run: bool = False
    active: int = 0
    became: tuple[Became, ...] = ()
    opened: tuple[ConflictBody, ...] = ()
    settled: tuple[ConflictBody, ...] = ()
    suspended: tuple[str, ...] = ()
    taken_in: tuple[str, ...] = ()
    unconfirmed: int = 0
    notes: tuple[EchoNote, ...] = ()


def _quiet(_text: str) -> None:
    """Say nothing."""


def sync(
    base: KnowledgeBase, say: Say = _quiet, *, dry_run: bool = False, ahead: DigestAhead | None = None
) -> SyncReport:
    """Bring graph.json into the store when it has changed since it was last read or written.

    Refinements are derived again on what the file is without our echo; those that do not apply any more are suspended
    and reported, never dropped. With ``dry_run`` nothing is written or recorded. ``ahead`` is the digest of graph.json
    where it was begun already. Raises :class:`GraphFormatError` for a
    file that is no graph, and :class:`NeedsDecision` where a store is lost whose log lies there. Nothing has changed
    then.
    """
    if not dry_run:
        recover(base)
    report = take_in(base, say, dry_run=dry_run, ahead=ahead)
    if not dry_run and base.log().updating() is not None:
        finish_update(base)
    if not dry_run:
        note_read(base)
    return report


def take_in(
    base: KnowledgeBase, say: Say = _quiet, *, dry_run: bool = False, ahead: DigestAhead | None = None
) -> SyncReport:
    """Do the work of :func:`sync`, whatever an update is about."""
    path = base.project.graph_json
    digest = base.graph_digest() if ahead is None else ahead.result()
    if digest is None:
        raise GraphFormatError(f"{path} does not exist.", "Run `graphify update .` first.")
    if (lost := base.lost()) is not None:
        raise NeedsDecision(lost.sentence(), next_step(base))
    log = base.log()
    more = news_of_others(base, log)
    known = known_digests(log).get(digest)
    if known is not None and not more:
        if not dry_run and fold_if_long(base):
            say("Folded the store's write-ahead log.")
        return _report("unchanged", base, known)
    say(f"Reading {base.project.shown(path)} …")
    if log.refinements() or more:
        return _rebase(base, say, dry_run, more)
    from deeprefine_graphdb.project.source import read_source

    graph = read_source(path)
    say(f"Loading {len(graph.nodes.id):,} nodes and {len(graph.links.key):,} links …")
    return _load(base, graph, log, dry_run)


def _rebase(base: KnowledgeBase, say: Say, dry_run: bool, more: Sequence[NewRecord]) -> SyncReport:
    from deeprefine_graphdb.project.rebase import plan_rebase, write_rebase
    from deeprefine_graphdb.project.source import read_source

    found = read_source(base.project.graph_json)
    say("Deriving the refinements again …")
    warnings, nodes, links = tuple(found.warnings), len(found.nodes.id), len(found.links.key)
    rebased = plan_rebase(base, found, more)
    _refuse_unknown(base, found, rebased)
    del found
    derivation = rebased.derivation
    report = _report("rebased", base, rebased.body).model_copy(
        update={
            "warnings": warnings,
            "nodes": nodes,
            "links": links,
            "dry_run": dry_run,
            "active": derivation.refinements,
            "became": derivation.became,
            "opened": derivation.opened,
            "settled": derivation.settled,
            "suspended": tuple(sorted(derivation.suspended)),
            "taken_in": tuple(str(one.body["id"]) for one in more if one.kind == RefinementBody.KIND),
            "unconfirmed": len(rebased.body.unconfirmed),
            "notes": rebased.body.notes,
        }
    )
    if not dry_run:
        say(f"Loading {nodes:,} nodes and {links:,} links …")
        base.project.prepare()
        write_rebase(base, rebased)
    return report


def _refuse_unknown(base: KnowledgeBase, found: GraphFile, rebased: Rebased) -> None:
    """Refuse to make a store of a file with refinements in it that no log here tells of: they would be there twice."""
    if not base.has_store() and rebased.body.base_digest == found.digest and f'"{STAMP}"' in found.text:
        raise NeedsDecision(
            f"{base.project.graph_json} is not as any log in {base.project.log} says it was written, so its "
            "refinements cannot be told from graphify's own work.",
            "Run `deeprefine-db sync` and `deeprefine-db export` where it comes from, and commit what they write.",
        )


def _load(base: KnowledgeBase, graph: GraphFile, log: Log, dry_run: bool) -> SyncReport:
    from deeprefine_graphdb.provenance.project import project_all
    from deeprefine_graphdb.provenance.remains import left_behind

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
    warnings = tuple(graph.warnings)
    if first and (exported := exported_by(base.project, graph.digest)):
        warnings += (
            f"{base.project.shown(base.project.graph_json)} is an export of the store {exported}, whose log is not "
            "here: its refinements are part of the base now, and cannot be undone.",
        )
    report = _report("loaded" if first else "replaced", base, body).model_copy(
        update={"warnings": warnings, "dry_run": dry_run}
    )
    if dry_run:
        return report
    record = to_record(body)
    rows = project_all((*log.records, record))
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
    return report


def _report(
    outcome: Literal["loaded", "replaced", "rebased", "unchanged"],
    base: KnowledgeBase,
    body: SyncBody | ExportBody,
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
