"""stdout and stderr as they were handed to the process: closed, full, or with a reader that has gone."""

from __future__ import annotations

import io
import os
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from typing import TextIO

from deeprefine_graphdb.cli.output import warn
from deeprefine_graphdb.model.errors import DeepRefineError


class OutputFailed(DeepRefineError):
    """stdout does not take what is printed; the work of the command itself is done."""


class Output(io.TextIOWrapper):
    """A stream whose own failures can be told from those of the files that a command works on."""

    @classmethod
    def of(cls, stream: io.TextIOWrapper) -> Output:
        """Take a stream over."""
        encoding, lines, through = stream.encoding, stream.line_buffering, stream.write_through
        return cls(stream.detach(), encoding, "backslashreplace", line_buffering=lines, write_through=through)

    def write(self, text: str) -> int:
        """Write, and raise :class:`OutputFailed` where that fails."""
        with _telling():
            return super().write(text)

    def flush(self) -> None:
        """Flush, and raise :class:`OutputFailed` where that fails."""
        with _telling():
            super().flush()


@contextmanager
def _telling() -> Iterator[None]:
    try:
        yield
    except BrokenPipeError:
        raise
    except OSError as error:
        raise OutputFailed(f"stdout cannot be written: {error.strerror}.") from error


def make_usable() -> None:
    """Give a stream that was closed before the start a place to go, and let no character be refused."""
    while True:
        # A file that is opened later must not get the number of a standard stream: what is printed would go into it.
        descriptor = os.open(os.devnull, os.O_RDWR)
        if descriptor > 2:
            os.close(descriptor)
            break
    for name in ("stdout", "stderr"):
        if getattr(sys, name) is None:
            setattr(sys, name, open(os.devnull, "w", encoding="utf-8"))  # noqa: SIM115 - open until the end
    if isinstance(sys.stdout, io.TextIOWrapper):
        sys.stdout = Output.of(sys.stdout)
    if isinstance(sys.stderr, io.TextIOWrapper):
        sys.stderr.reconfigure(errors="backslashreplace")


def discard(stream: TextIO) -> None:
    """Let what a stream still holds go nowhere; Python writes it once more at exit, and would complain."""
    os.dup2(os.open(os.devnull, os.O_WRONLY), stream.fileno())


def finish(code: int) -> int:
    """Write what the streams still hold and give the exit code: ``code``, or 1 when stdout cannot be written."""
    try:
        sys.stdout.flush()
    except (OSError, OutputFailed) as failed:
        discard(sys.stdout)
        if code == 0:
            warn(f"Error: {failed}")
            code = 1
    try:
        sys.stderr.flush()
    except OSError:
        discard(sys.stderr)
    return code
