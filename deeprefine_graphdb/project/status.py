"""Where a knowledge base stands, and which command comes next; read from the journal, without the engine."""

from __future__ import annotations

from collections import Counter
from typing import Literal

from deeprefine_graphdb import stores
from deeprefine_graphdb.model.actions import Frozen
from deeprefine_graphdb.model.errors import DeepRefineError
from deeprefine_graphdb.project.history import read_history
from deeprefine_graphdb.project.knowledge_base import KnowledgeBase, known_digests
from deeprefine_graphdb.project.others import unread
from deeprefine_graphdb.project.recovery import gather
from deeprefine_graphdb.project.settings import Settings, Value
from deeprefine_graphdb.provenance.entries import ProposalEntry, TokenUse
from deeprefine_graphdb.provenance.log import Log

FileState = Literal["missing", "not synced", "current", "earlier", "changed"]
_KINDS = {"Entity": "node", "RELATES": "link"}
WAITING = frozenset({"open", "approved", "stale"})


class SettingRow(Frozen):
    """A setting as it may be shown, and where it comes from."""

    name: str
    value: Value
    origin: str


class StatusReport(Frozen):
    """The state of a knowledge base; ``nodes`` and ``links`` count the graph as it is with its active refinements.

    ``file`` compares graph.json with the log: ``current`` is the last state that was read or written, ``earlier`` one
    before it, ``changed`` none that the log knows. ``behind`` counts the refinements by which graph.json differs from
    the store; ``conflicts`` wait for a person and suspend the refinements ``suspended``; ``unconfirmed`` objects are
    kept in the base although graph.json lacks them; ``updating`` says that an update is under way or was cut short;
    ``waiting`` are the proposals that wait for a decision; ``wal_bytes`` is the size of the store's
    write-ahead log. ``damage`` names what is missing of the store, and is among the ``problems`` too. ``unread``
    are the logs of other stores that changed since they were taken in. ``next`` is the command that comes next.
    """

    root: str
    store: str
    has_store: bool
    file: FileState
    nodes: int = 0
    links: int = 0
    base_digest: str = ""
    file_digest: str = ""
    records: int = 0
    refinements: int = 0
    active: int = 0
    behind: int = 0
    conflicts: int = 0
    suspended: tuple[str, ...] = ()
    unconfirmed: int = 0
    updating: bool = False
    pending: int = 0
    waiting: tuple[ProposalEntry, ...] = ()
    tokens: tuple[TokenUse, ...] = ()
    wal_bytes: int = 0
    settings: tuple[SettingRow, ...] = ()
    problems: tuple[str, ...] = ()
    damage: str = ""
    unread: tuple[str, ...] = ()
    next: str = ""


def status(base: KnowledgeBase, settings: Settings) -> StatusReport:
    """Gather the state of a knowledge base; a store whose writer died is healed first."""
    log = base.log()
    queue = read_history(base.project.history)
    snapshots = log.snapshots()
    last = snapshots[-1] if snapshots else None
    more = _added(log)
    digest = base.graph_digest()
    damage = _damage(base)
    report = StatusReport(
        root=str(base.project.root),
        store=base.url,
        has_store=base.has_store(),
        file=_file_state(log, digest),
        nodes=last.nodes + more["node"] if last else 0,
        links=last.links + more["link"] if last else 0,
        base_digest=last.base_digest if last else "",
        file_digest=digest or "",
        records=len(log.records),
        refinements=len(log.refinements()),
        active=len(log.active()),
        behind=log.not_exported(),
        conflicts=len(log.open_conflicts()),
        suspended=tuple(dict.fromkeys(each.action.rpartition(".")[0] for each in log.open_conflicts())),
        unconfirmed=len(synced.unconfirmed) if (synced := log.last_sync()) is not None else 0,
        updating=log.updating() is not None,
        pending=len(queue.pending()),
        waiting=tuple(entry for entry in log.proposals() if entry.state in WAITING),
        tokens=tuple(log.tokens()),
        wal_bytes=stores.wal_bytes(base.url) if base.has_store() else 0,
        settings=tuple(SettingRow.model_validate(row) for row in settings.shown()),
        problems=(*([damage] if damage else []), *queue.problems),
        damage=damage,
        unread=tuple(unread(base)),
    )
    return report.model_copy(update={"next": _cure(base) if damage else _next(report)})


def _added(log: Log) -> Counter[str]:
    """Count the nodes and links that the graph has more than its base, by what the active refinements changed."""
    before: dict[tuple[str, str], bool] = {}
    after: dict[tuple[str, str], bool] = {}
    for refinement in log.active():
        for change in (change for effect in log.effects_of(refinement) for change in effect.changes):
            image = change.after or change.before or {}
            kind = image.get("kind") if change.table == "Loose" else _KINDS.get(change.table)
            place = (str(kind), f"{change.table} {change.key}")
            before.setdefault(place, _is_live(change.before))
            after[place] = _is_live(change.after)
    added: Counter[str] = Counter()
    for place, live in after.items():
        added[place[0]] += live - before[place]
    return added


def _is_live(image: dict[str, object] | None) -> bool:
    return image is not None and image.get("retired_by") is None


def _damage(base: KnowledgeBase) -> str:
    """Name what is missing of a store, as far as it shows without opening it."""
    lost = base.lost()
    if lost is not None:
        return lost.sentence()
    path = stores.missing_part(base.url)
    return "" if path is None else f"The store is damaged: {path} is not there."


def _cure(base: KnowledgeBase) -> str:
    """Give the command that helps; where it cannot be a rebuild, ``doctor`` says what is missing."""
    try:
        gather(base)
    except DeepRefineError:
        return "deeprefine-db doctor"
    return "deeprefine-db doctor --rebuild"


def _file_state(log: Log, digest: str | None) -> FileState:
    if digest is None:
        return "missing"
    if not log.snapshots():
        return "not synced"
    if digest not in known_digests(log):
        return "changed"
    return "current" if log.snapshots()[-1].file_digest == digest else "earlier"


def _next(report: StatusReport) -> str:
    if report.file == "missing":
        return "deeprefine-db export" if report.has_store else "graphify update ."
    if report.updating or report.file in {"not synced", "changed"} or report.unread:
        return "deeprefine-db sync"
    if report.conflicts:
        return "deeprefine-db conflicts"
    if report.waiting:
        entry = report.waiting[-1]
        if entry.state == "stale":
            return "deeprefine-db refine --again"
        return f"deeprefine-db apply {entry.id}"
    if report.behind or report.file == "earlier":
        return "deeprefine-db export"
    if report.pending:
        return "deeprefine-db refine"
    return 'deeprefine-db refine --query "…"'
