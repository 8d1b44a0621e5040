"""Where a graph lives: the store protocol and its engines."""

from __future__ import annotations

from deeprefine_graphdb.stores.loading import fold, load_generation, rebuild_generation
from deeprefine_graphdb.stores.opening import (
    Kept,
    base_of,
    base_path,
    kept,
    lost_pointers,
    missing_part,
    needs_healing,
    open_store,
    store_exists,
    store_folders,
    store_id,
    wal_bytes,
)
from deeprefine_graphdb.stores.urls import parse_url

__all__ = [
    "Kept",
    "base_of",
    "base_path",
    "fold",
    "kept",
    "load_generation",
    "lost_pointers",
    "missing_part",
    "needs_healing",
    "open_store",
    "parse_url",
    "rebuild_generation",
    "store_exists",
    "store_folders",
    "store_id",
    "wal_bytes",
]
