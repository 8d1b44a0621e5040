"""What is said when a file that somebody named cannot be written."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from deeprefine_graphdb.model.errors import DeepRefineError


@contextmanager
def naming_the_file(path: Path) -> Iterator[None]:
    """Turn an error of the system into one that names the file that was to be written."""
    try:
        yield
    except BrokenPipeError:
        raise
    except OSError as error:
        reason = error.strerror or str(error)
        raise DeepRefineError(f"{path} cannot be written: {reason}.", "The file is as it was.") from error
