"""Folding a write-ahead log that has grown long: every command that opens the store waits for it."""

from __future__ import annotations

from deeprefine_graphdb import stores
from deeprefine_graphdb.model.errors import WriteFailed
from deeprefine_graphdb.project.knowledge_base import KnowledgeBase

FOLD_FROM_BYTES = 4 << 20
FOLD_AT_ONCE_BYTES = 8 << 20


def fold_if_long(base: KnowledgeBase, at_least: int = FOLD_FROM_BYTES) -> bool:
    """Fold the write-ahead log when it has grown to a size, in bytes, that slows opening; tell whether it was.

    Where it cannot be written, as on a full disk, it stays as it is: what the command was for has been done.
    """
    if stores.wal_bytes(base.url) < at_least:
        return False
    try:
        stores.fold(base.url, log_dir=base.project.log, wait=base.wait)
    except WriteFailed:
        return False
    return True
