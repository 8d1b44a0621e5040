"""The SHA-256 of files: at once, or begun before there is anybody to ask for it."""

from __future__ import annotations

import hashlib
import os
import threading
from pathlib import Path

from deeprefine_graphdb.model.errors import GraphFormatError

CHUNK = 1 << 22


def file_digest(path: Path) -> str | None:
    """Give the SHA-256 of a file, or ``None`` when it does not exist. Raises :class:`GraphFormatError`."""
    try:
        return _digest(path)
    except FileNotFoundError:
        return None
    except OSError as error:
        raise GraphFormatError(f"{path} cannot be read: {error.strerror}.") from error


class DigestAhead:
    """A digest that a thread works on from now on, while the program is still being loaded."""

    def __init__(self, path: Path) -> None:
        self._path = path
        self._found: str | None = None
        self._seen = _identity(path)
        self._thread = threading.Thread(target=self._work, daemon=True)
        self._thread.start()

    def result(self) -> str | None:
        """Give what :func:`file_digest` would give now: where the file was replaced or written to, it is read again."""
        self._thread.join()
        if self._found is not None and self._seen == _identity(self._path):
            return self._found
        return file_digest(self._path)

    def _work(self) -> None:
        try:
            self._found = _digest(self._path)
        except OSError:
            # Whoever asks reads the file himself, and hears of it.
            self._found = None


def _digest(path: Path) -> str:
    digest = hashlib.sha256()
    with path.open("rb", buffering=0) as stream:
        # Few large pieces: after each one, a thread waits until it may go on.
        while chunk := stream.read(CHUNK):
            digest.update(chunk)
    return digest.hexdigest()


def _identity(path: Path) -> tuple[int, ...] | None:
    try:
        found = os.stat(path)
    except OSError:
        return None
    return found.st_dev, found.st_ino, found.st_size, found.st_mtime_ns, found.st_ctime_ns
