"""File locks of the kernel: they go when their holder dies, however it dies."""

from __future__ import annotations

import sys
from typing import IO

if sys.platform == "win32":
    import msvcrt

    def try_lock(stream: IO[bytes], *, exclusive: bool) -> bool:  # noqa: ARG001 - Windows has no shared kind
        """Take the lock of an open file if it is free now; every lock is exclusive here."""
        stream.seek(0)
        try:
            msvcrt.locking(stream.fileno(), msvcrt.LK_NBLCK, 1)
        except OSError:
            return False
        return True

    def unlock(stream: IO[bytes]) -> None:
        """Give the lock of an open file back."""
        stream.seek(0)
        msvcrt.locking(stream.fileno(), msvcrt.LK_UNLCK, 1)

else:
    import fcntl

    def try_lock(stream: IO[bytes], *, exclusive: bool) -> bool:
        """Take the lock of an open file if nothing stands against it now."""
        try:
            fcntl.flock(stream, (fcntl.LOCK_EX if exclusive else fcntl.LOCK_SH) | fcntl.LOCK_NB)
        except BlockingIOError:
            return False
        return True

    def unlock(stream: IO[bytes]) -> None:
        """Give the lock of an open file back."""
        fcntl.flock(stream, fcntl.LOCK_UN)
