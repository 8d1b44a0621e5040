"""Memory that was freed, but that allocators keep for themselves."""

from __future__ import annotations

import ctypes
import sys

import pyarrow as pa


def give_back() -> None:
    """Give memory that was freed back to the system, where that can be asked for.

    glibc keeps what the threads of an engine freed: hundreds of megabytes after a large COPY.
    """
    pa.default_memory_pool().release_unused()
    if sys.platform == "linux":
        trim = getattr(ctypes.CDLL(None), "malloc_trim", None)
        if trim is not None:
            trim(0)
