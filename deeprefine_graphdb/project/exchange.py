"""Refinements carried to another copy of the knowledge base: the log out, and another one's in."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path

from deeprefine_graphdb.graph.unecho_foreign import has_echo
from deeprefine_graphdb.graph.unecho_model import EchoNote
from deeprefine_graphdb.model.actions import Frozen
from deeprefine_graphdb.model.errors import DeepRefineError, NothingToDo, UsageError
from deeprefine_graphdb.model.write import NewRecord, Record
from deeprefine_graphdb.project.became import Became
from deeprefine_graphdb.project.knowledge_base import KnowledgeBase
from deeprefine_graphdb.project.rebase import plan_rebase, write_rebase
from deeprefine_graphdb.project.source import read_source
from deeprefine_graphdb.project.sync import Say, sync
from deeprefine_graphdb.project.writing import naming_the_file
from deeprefine_graphdb.provenance.log import Log
from deeprefine_graphdb.provenance.records import (
    ConflictBody,
    EventBody,
    ExportBody,
    ProposalBody,
    QueryBody,
    RefinementBody,
    ResolutionBody,
    ReviewBody,
    TraceBody,
    new_id,
    read_body,
    to_record,
)
from deeprefine_graphdb.stores.journal import from_line, record_hash, to_line
from deeprefine_loaders.atomic import write_durable

CARRIED = (QueryBody, TraceBody, ProposalBody, ReviewBody, RefinementBody, ResolutionBody)
_AGAIN = "Export the log again where it comes from."


class LogReport(Frozen):
    """What was written to a log file: how many records, and the active refinements among them."""

    path: str
    records: int
    refinements: tuple[str, ...]


class ApplyLogReport(Frozen):
    """What another log brought. ``suspended`` are all refinements in conflict, ``opened`` the new conflicts.

    ``taken_out`` counts the objects of the base that are otherwise now, since that log's refinements had been in it;
    ``notes`` and ``unconfirmed`` (how many) tell of that what a person should look at.
    """

    refinements: tuple[str, ...]
    skipped: tuple[str, ...] = ()
    became: tuple[Became, ...] = ()
    opened: tuple[ConflictBody, ...] = ()
    suspended: tuple[str, ...] = ()
    taken_out: int = 0
    unconfirmed: int = 0
    notes: tuple[EchoNote, ...] = ()
    revision: int = 0
    dry_run: bool = False


def export_log(base: KnowledgeBase, target: Path) -> LogReport:
    """Write the log to a file, every record whole and with its hash."""
    log = base.log()
    if not log.records:
        raise NothingToDo("The log is empty.")
    with naming_the_file(target):
        write_durable(target, ((to_line(record) + "\n").encode("ascii") for record in log.records))
    return LogReport(path=str(target), records=len(log.records), refinements=log.active())


def apply_log(
    base: KnowledgeBase, source: Path, *, by: str, say: Say, dry_run: bool = False
) -> ApplyLogReport:
    """Take the active refinements of another log in, behind our own, with their questions, traces and reviews.

    What refinements of that log left in our base, as in a file that they were exported to or in what graphify made of
    one, is taken out of it first. Those that do not apply here are suspended and named. Raises :class:`NothingToDo`
    when there is none that is new and nothing to take out, and :class:`DeepRefineError` for a file that is no log or
    was edited.
    """
    if not dry_run:
        sync(base, say)
    log, other = base.log(), read_log(source)
    ours = {body.id for body in log.refinement_bodies()}
    wanted = [one for one in other.active() if one not in ours]
    skipped = tuple(one for one in other.active() if one in ours)
    if not wanted and not _left_something(base, log, other):
        raise NothingToDo(f"{source} has no refinement that is not in the log here already.")
    records = [*_carried(log, other, wanted), *_events(wanted, other, by)]
    found = read_source(base.project.graph_json)
    rebased = plan_rebase(base, found, records, other)
    if not wanted and not rebased.taken_out:
        raise NothingToDo(f"{source} has no refinement that is not in the log here already.")
    derivation = rebased.derivation
    state = rebased.state if dry_run else write_rebase(base, rebased)
    return ApplyLogReport(
        refinements=tuple(wanted),
        skipped=skipped,
        became=tuple(each for each in derivation.became if each.outcome != "reapplied" or each.note),
        opened=derivation.opened,
        suspended=tuple(sorted(derivation.suspended)),
        taken_out=rebased.taken_out,
        unconfirmed=len(rebased.body.unconfirmed),
        notes=rebased.body.notes,
        revision=state.revision,
        dry_run=dry_run,
    )


def _left_something(base: KnowledgeBase, log: Log, other: Log) -> bool:
    """Tell whether the base has stamps of refinements that only the other log knows, such as undone ones."""
    ours = {body.id for body in log.refinement_bodies()}
    unknown = {body.id for body in other.refinement_bodies()} - ours
    if not unknown:
        return False
    with base.open("read") as store:
        return has_echo(store.base, unknown)


def read_log(source: Path) -> Log:
    """Read a log file and check every record's hash. Raises :class:`DeepRefineError` or :class:`UsageError`."""
    try:
        lines = source.read_bytes().splitlines()
    except OSError as error:
        raise UsageError(f"{source} cannot be read: {error.strerror or error}.") from error
    records: list[Record] = []
    for number, line in enumerate(lines, 1):
        try:
            record = from_line(line)
        except (ValueError, RecursionError) as error:
            raise DeepRefineError(f"Line {number} of {source} is no record of a log.") from error
        if record_hash(record.seq, record.prev, record) != record.hash:
            raise DeepRefineError(
                f"Line {number} of {source} was edited: its hash is not that of its content.",
                _AGAIN,
            )
        before = records[-1] if records else None
        if (record.seq, record.prev) != ((before.seq + 1, before.hash) if before else (1, "")):
            raise DeepRefineError(
                f"Line {number} of {source} does not follow the line before it: the log is not whole.", _AGAIN
            )
        records.append(record)
    return Log(records)


def _carried(log: Log, other: Log, wanted: Sequence[str]) -> Iterator[NewRecord]:
    """Give the records that the wanted refinements rest on and that the log here does not have, in their order."""
    have = {(record.kind, record.body.get("id")) for record in log.records}
    proposals = {other.refinement_body(one).proposal_id for one in wanted}
    bodies = [body for _, body in other.bodies(ProposalBody) if body.id in proposals]
    traces = {body.trace_id for body in bodies}
    queries = {body.query_id for body in bodies}
    for record in other.records:
        body = read_body(record)
        if not isinstance(body, CARRIED) or (record.kind, body.id) in have:
            continue
        if (
            (isinstance(body, QueryBody) and body.id in queries)
            or (isinstance(body, TraceBody) and body.id in traces)
            or (isinstance(body, ProposalBody) and body.id in proposals)
            or (isinstance(body, ReviewBody) and body.proposal_id in proposals)
            or (isinstance(body, RefinementBody) and body.id in wanted)
            or (isinstance(body, ResolutionBody) and body.resolution.action.rpartition(".")[0] in wanted)
        ):
            yield NewRecord(kind=record.kind, ts=record.ts, body=record.body, effects=record.effects)


def _events(wanted: Iterable[str], other: Log, by: str) -> Iterator[NewRecord]:
    exports = other.bodies(ExportBody)
    note = f"from a log of {exports[-1][1].path}" if exports else "from another log"
    for refinement in wanted:
        yield to_record(
            EventBody(id=new_id("e"), event="applied", of=refinement, of_kind="refinement", by=by, note=note)
        )
