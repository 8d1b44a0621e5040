"""What files looked like to the system when their content was last verified.

A file whose size and time of change are still those is taken for the same, so a large one need not be read each time.
"""

from __future__ import annotations

import contextlib
from collections.abc import Sequence
from pathlib import Path

SEEN_NAME = "base.seen"


def is_seen(directory: Path, names: Sequence[str]) -> bool:
    """Tell whether these files of a directory are as they were when :func:`note_seen` was last called for them."""
    try:
        return (directory / SEEN_NAME).read_bytes() == _looks(directory, names)
    except OSError:
        return False


def note_seen(directory: Path, names: Sequence[str]) -> None:
    """Note how these files look, for content that is known to be right; what cannot be written is done without."""
    with contextlib.suppress(OSError):
        (directory / SEEN_NAME).write_bytes(_looks(directory, names))


def _looks(directory: Path, names: Sequence[str]) -> bytes:
    found = [(directory / name).stat() for name in names]
    lines = zip(names, found, strict=True)
    return "".join(f"{name} {state.st_size} {state.st_mtime_ns}\n" for name, state in lines).encode("ascii")
