"""Room on the disk, asked for before an engine writes: one that meets a full disk can end the whole process."""

from __future__ import annotations

import shutil
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path

from deeprefine_graphdb.model.errors import WriteFailed
from deeprefine_graphdb.model.write import Statement

MEGABYTE = 1 << 20
EMPTY_TABLES_BYTES = 24 * MEGABYTE  # the database of a graph of 1 MB has 12 MB
BYTES_PER_OBJECT = 400  # the database of 543,000 nodes and links has 192 MB
WRITE_BYTES = 16 * MEGABYTE  # the log of ten actions has 0.02 MB, a merge of 3,000 edges 3 MB
BYTES_PER_CHARACTER = 4


def for_a_generation(base_bytes: int, objects: int, log_bytes: int) -> int:
    """Give how many bytes a new generation needs, with some to spare: base.json, base.idx and the database."""
    return EMPTY_TABLES_BYTES + 2 * base_bytes + BYTES_PER_OBJECT * objects + 2 * log_bytes


def for_a_fold(database_bytes: int) -> int:
    """Give how many bytes a copy of a database needs, with some to spare."""
    return EMPTY_TABLES_BYTES + database_bytes + database_bytes // 4


def for_a_write(program: Sequence[Statement]) -> int:
    """Give how many bytes the write-ahead log may grow by a program, with some to spare."""
    texts = (value for each in program for value in each.params.values() if isinstance(value, str))
    return WRITE_BYTES + BYTES_PER_CHARACTER * sum(map(len, texts))


def require(folder: Path, need: int) -> None:
    """See that a folder has room for so many bytes. Raises :class:`WriteFailed`."""
    free = shutil.disk_usage(folder).free
    if free < need:
        raise WriteFailed(
            f"The disk of {folder} has {free / MEGABYTE:,.1f} MB free, and {need / MEGABYTE:,.1f} MB are needed.",
            "Nothing was changed. Make room and run the command again.",
        )


@contextmanager
def naming(folder: Path) -> Iterator[None]:
    """Name the folder in which something could not be written, as :class:`WriteFailed`."""
    try:
        yield
    except OSError as error:
        raise WriteFailed(
            f"{error.filename or folder} cannot be written: {error.strerror or error}.",
            "Nothing was changed. Make room or set permissions, and run the command again.",
        ) from error
