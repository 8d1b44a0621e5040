"""The journals of other stores of the same knowledge base, which version control brings."""

from __future__ import annotations

from pathlib import Path

from deeprefine_graphdb import stores
from deeprefine_graphdb.graph.ancestor import State
from deeprefine_graphdb.model.errors import StoreDamaged
from deeprefine_graphdb.model.write import NewRecord
from deeprefine_graphdb.project.here import Stamp, read_here, stamp_of, write_here
from deeprefine_graphdb.project.knowledge_base import KnowledgeBase
from deeprefine_graphdb.provenance.log import Log
from deeprefine_graphdb.provenance.union import news
from deeprefine_graphdb.stores.journal import RESTORE, SUFFIX, Journal


def other_journals(base: KnowledgeBase) -> list[Path]:
    """Give the journals in the folder of journals that are not this store's."""
    own = stores.store_id(base.url)
    return [path for path in sorted(base.project.log.glob(f"*{SUFFIX}")) if path.stem != own]


def news_of_others(base: KnowledgeBase, log: Log) -> list[NewRecord]:
    """Give what the journals of other stores have and this store's log has not, ready to be appended to it.

    Journals that had nothing new when they were read last, and did not change since, are not read again. Raises
    :class:`StoreDamaged` for one that was edited.
    """
    if not unread(base):
        return []
    return news(log, [read_journal(path) for path in other_journals(base)])


def unread(base: KnowledgeBase) -> list[str]:
    """Name the journals of other stores that changed since all that they had was taken in."""
    read = read_here(base.project).read
    return [path.name for path in other_journals(base) if read.get(path.name) != stamp_of(path)]


def note_home(base: KnowledgeBase) -> None:
    """Note which store is at home here."""
    here = read_here(base.project)
    own = stores.store_id(base.url)
    write_here(base.project, here.model_copy(update={"store_id": own or here.store_id}))


def note_read(base: KnowledgeBase) -> None:
    """Note which store is at home here, and that everything in the journals of others has been taken in."""
    note_home(base)
    read: dict[str, Stamp] = {path.name: stamp_of(path) for path in other_journals(base)}
    write_here(base.project, read_here(base.project).model_copy(update={"read": read}))


def read_journal(path: Path) -> Log:
    """Read a journal and check that it is as it was written. Raises :class:`StoreDamaged`."""
    journal = Journal(path)
    bad = journal.verify()
    if bad is not None:
        raise StoreDamaged(f"Line {bad.line} of the journal {path} {bad.reason}.", RESTORE)
    return Log(journal.read())


def state_in_journals(base: KnowledgeBase, file_digest: str) -> State | None:
    """Give the state that a file of this digest has in the journal of another store, if one has read or written it."""
    for path in other_journals(base):
        try:
            if file_digest.encode("ascii") not in path.read_bytes():
                continue
        except OSError:
            continue
        for snapshot in reversed(Log(Journal(path).read()).snapshots()):
            if snapshot.file_digest == file_digest:
                return State(file_digest, snapshot.base_digest, snapshot.entries)
    return None
