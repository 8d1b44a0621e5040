"""Bases that are no longer in use, each under the digest of its bytes, compressed."""

from __future__ import annotations

import hashlib
from collections.abc import Iterator
from pathlib import Path

from .atomic import write_durable
from .basefile import BaseFile
from .errors import FormatError

_SUFFIX = ".json.zst"
_CHUNK = 1 << 22


class Shelf:
    """A directory of bases. What is put there stays until it is dropped; equal bytes are kept once."""

    def __init__(self, directory: Path) -> None:
        self._directory = directory

    def put(self, base: BaseFile) -> None:
        """Keep a base, durably. Raises ``OSError``."""
        path = self._path(base.digest)
        if path.exists():
            return
        import pyarrow as pa

        sink = pa.BufferOutputStream()
        with pa.CompressedOutputStream(sink, "zstd") as stream:
            for chunk in base.chunks():
                stream.write(chunk)
        self._directory.mkdir(parents=True, exist_ok=True)
        write_durable(path, [sink.getvalue().to_pybytes()])

    def get(self, digest: str) -> bytes:
        """Give the bytes of a base.

        Raises ``KeyError`` when it is not there, :class:`FormatError` when it is damaged.
        """
        path = self._path(digest)
        if not path.exists():
            raise KeyError(digest)
        try:
            data = b"".join(_read(path))
        except OSError as error:
            raise _damaged(path) from error
        if hashlib.sha256(data).hexdigest() != digest:
            raise _damaged(path)
        return data

    def digests(self) -> set[str]:
        """Give the digests of all bases that are kept."""
        return {path.name.removesuffix(_SUFFIX) for path in self._directory.glob(f"*{_SUFFIX}")}

    def drop(self, digest: str) -> None:
        """Let go of a base, if it is there. Raises ``OSError``."""
        self._path(digest).unlink(missing_ok=True)

    def _path(self, digest: str) -> Path:
        return self._directory / f"{digest}{_SUFFIX}"


def _read(path: Path) -> Iterator[bytes]:
    import pyarrow as pa

    with pa.CompressedInputStream(pa.OSFile(str(path)), "zstd") as stream:
        while chunk := stream.read(_CHUNK):
            yield chunk


def _damaged(path: Path) -> FormatError:
    return FormatError(
        f"{path} is damaged.", "Remove it; files that were made from it are read as new ones then."
    )
