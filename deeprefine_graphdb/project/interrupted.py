"""An update that was cut short: what it left behind, and how the next command goes on."""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Literal

from deeprefine_graphdb.model.errors import StoreLocked
from deeprefine_graphdb.model.write import WritePlan
from deeprefine_graphdb.project.digests import file_digest
from deeprefine_graphdb.project.knowledge_base import KnowledgeBase
from deeprefine_graphdb.provenance.records import UpdateBody, new_id, to_record
from deeprefine_graphdb.stores.flock import try_lock
from deeprefine_loaders.atomic import replace_file

CHUNK = 1 << 22
TAIL = 1 << 10


def start_update(base: KnowledgeBase) -> None:
    """Record that graphify is given the base."""
    base.project.before_update.unlink(missing_ok=True)
    _note(base, "started")


def finish_update(base: KnowledgeBase) -> None:
    """Record that graph.json is not graphify's to work on any more; the file before the update is not needed then."""
    base.project.before_update.unlink(missing_ok=True)
    _note(base, "finished")


def _note(base: KnowledgeBase, phase: Literal["started", "finished"]) -> None:
    with base.open("write") as store:
        body = UpdateBody(id=new_id("g"), phase=phase, base_digest=store.state().base_digest)
        store.write(WritePlan(records=(to_record(body),)))


@contextmanager
def update_lock(base: KnowledgeBase) -> Iterator[int]:
    """Hold the lock of an update and give its file's handle. Raises :class:`StoreLocked` while another one runs."""
    base.project.prepare()
    with base.project.update_lock.open("ab+") as stream:
        if not try_lock(stream, exclusive=True):
            raise StoreLocked("An update is running: graphify is at work on graph.json.", "Wait for it.")
        yield stream.fileno()


def recover(base: KnowledgeBase, *, running: bool = False, put_back: bool = False) -> None:
    """Go on after an update that was cut short; does nothing when there was none.

    Where graph.json is still the base that graphify was given, or was cut off while it was written, the file before it
    is put back; what graphify made of it is left for a sync. A file that the log knows otherwise shows that the base
    was never put in place, or was taken out again. ``running`` says that the caller is the update, ``put_back`` that
    the file before it is wanted whatever graph.json is now. Raises :class:`StoreLocked` while an update runs.
    """
    log = base.log()
    started = log.updating()
    if started is None:
        return
    if not running:
        with update_lock(base):
            recover(base, running=True, put_back=put_back)
        return
    saved, path = base.project.before_update, base.project.graph_json
    digest = file_digest(path)
    if put_back or digest in {started, None} or not _is_whole(path):
        if saved.exists():
            replace_file(path, _chunks(saved))
        finish_update(base)
    elif any(snapshot.file_digest == digest for snapshot in log.snapshots()):
        finish_update(base)


def _is_whole(path: Path) -> bool:
    """Tell whether a file ends as a graph.json does; one that a program was killed over does not."""
    with path.open("rb") as stream:
        stream.seek(max(0, stream.seek(0, os.SEEK_END) - TAIL))
        return stream.read().rstrip().endswith(b"}")


def _chunks(path: Path) -> Iterator[bytes]:
    with path.open("rb") as stream:
        while chunk := stream.read(CHUNK):
            yield chunk
