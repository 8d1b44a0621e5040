"""Where a graph lives: the store protocol and its engines."""

from __future__ import annotations

from deeprefine_graphdb.stores.loading import fold, load_generation
from deeprefine_graphdb.stores.opening import (
    base_of,
    base_path,
    needs_healing,
    open_store,
    set_aside,
    store_exists,
    store_id,
    wal_bytes,
)
from deeprefine_graphdb.stores.urls import parse_url

__all__ = [
    "base_of",
    "base_path",
    "fold",
    "load_generation",
    "needs_healing",
    "open_store",
    "parse_url",
    "set_aside",
    "store_exists",
    "store_id",
    "wal_bytes",
]
