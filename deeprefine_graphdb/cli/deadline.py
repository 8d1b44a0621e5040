"""An end to what an engine does in its own code, where neither its timeout nor Ctrl-C reaches it."""

from __future__ import annotations

import os
import select
import signal
import socket
import threading
from collections.abc import Iterator
from contextlib import contextmanager

from deeprefine_graphdb.cli.output import warn

GRACE = 1.0


@contextmanager
def deadline(seconds: float, interrupted: int) -> Iterator[None]:
    """End the process when the block takes ``GRACE`` seconds more than it may, or at once on Ctrl-C.

    Only for blocks that read: the process ends where it stands, with 1 or with the code ``interrupted``, and the system
    lets go of its locks. Outside the main thread, which alone gets signals, the block just runs.
    """
    if threading.current_thread() is not threading.main_thread():
        yield
        return
    ours, theirs = socket.socketpair()
    ours.setblocking(False)
    before = signal.set_wakeup_fd(ours.fileno(), warn_on_full_buffer=False)
    watcher = threading.Thread(target=_watch, args=(theirs, seconds, interrupted), daemon=True)
    watcher.start()
    try:
        yield
    finally:
        signal.set_wakeup_fd(before)
        ours.close()
        watcher.join()
        theirs.close()


def _watch(end: socket.socket, seconds: float, interrupted: int) -> None:
    ready, _, _ = select.select([end], [], [], seconds + GRACE)
    if not ready:
        warn(f"Error: The query did not finish within {seconds:g} seconds.")
        warn("Narrow it, or add a LIMIT.")
        os._exit(1)
    said = end.recv(1)
    if said and said[0] == signal.SIGINT:
        warn("Interrupted.")
        os._exit(interrupted)
