"""Vectors on disk: float32 rows and the SHA-256 of the text that each belongs to. Only ever appended to.

A text's digest is written after its vector is durable, and what stands behind the last whole pair is cut off
at the next opening: a build that was killed loses at most its last request.
"""

from __future__ import annotations

import contextlib
import hashlib
import os
from collections.abc import Iterator, Sequence
from pathlib import Path

import numpy as np

from deeprefine_graphdb.retrieval.embed import Vectors
from deeprefine_loaders.atomic import naming

DIGEST = 32
FLOAT = 4
BLOCK_BYTES = 64 << 20


def text_digest(text: str) -> bytes:
    """Give the digest that a text's vector is kept under."""
    return hashlib.sha256(text.encode("utf-8", "surrogatepass")).digest()


class VectorFile:
    """The vectors of one model, in two files ``<stem>.f32`` and ``<stem>.sha256``.

    Used by one process and thread at a time for writing; reading needs no lock.
    """

    def __init__(self, stem: Path, dimension: int) -> None:
        self.dimension = dimension
        self._vectors = stem.with_name(stem.name + ".f32")
        self._digests = stem.with_name(stem.name + ".sha256")

    @property
    def count(self) -> int:
        """How many vectors are whole."""
        width = self.dimension * FLOAT
        return min(_size(self._vectors) // width, _size(self._digests) // DIGEST) if width else 0

    def rows(self) -> dict[bytes, int]:
        """Give the row number of every digest."""
        count = self.count
        if not count:
            return {}
        with self._digests.open("rb") as stream:
            data = stream.read(count * DIGEST)
        return {data[at * DIGEST : (at + 1) * DIGEST]: at for at in range(len(data) // DIGEST)}

    def append(self, digests: Sequence[bytes], vectors: Vectors) -> None:
        """Add vectors of the file's dimension and make them durable."""
        if vectors.shape[1] != self.dimension:
            raise ValueError(f"vectors of {vectors.shape[1]} dimensions for a file of {self.dimension}")
        count = self.count
        _append(self._vectors, count * self.dimension * FLOAT, np.ascontiguousarray(vectors, "<f4").tobytes())
        _append(self._digests, count * DIGEST, b"".join(digests))

    def blocks(self) -> Iterator[tuple[int, Vectors]]:
        """Give all vectors, some at a time, with the row number of the first of them."""
        count = self.count
        step = max(1, BLOCK_BYTES // (self.dimension * FLOAT)) if self.dimension else 1
        if not count:
            return
        with self._vectors.open("rb") as stream:
            for first in range(0, count, step):
                data = np.fromfile(stream, "<f4", min(step, count - first) * self.dimension)
                yield first, data.reshape(-1, self.dimension).astype(np.float32, copy=False)

    def take(self, rows: Sequence[int]) -> Vectors:
        """Give the vectors of some rows."""
        if not rows:
            return np.zeros((0, self.dimension), np.float32)
        every = np.memmap(self._vectors, "<f4", mode="r", shape=(self.count, self.dimension))
        return np.array(every[np.array(rows)], dtype=np.float32)


def _append(path: Path, at: int, data: bytes) -> None:
    with naming(path), path.open("r+b" if path.exists() else "x+b") as stream:
        stream.truncate(at)
        stream.seek(at)
        stream.write(data)
        stream.flush()
        os.fsync(stream.fileno())


def _size(path: Path) -> int:
    with contextlib.suppress(FileNotFoundError):
        return path.stat().st_size
    return 0
