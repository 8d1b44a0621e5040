"""Work in a second thread while an engine copies: it lets go of Python's lock for that."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from typing import TypeVar

T = TypeVar("T")


@contextmanager
def beside(work: Callable[[], T]) -> Iterator[Callable[[], T]]:
    """Do work while the block runs; what is given waits for it and gives its result.

    The block ends when the work has. It raises what the work raised, unless it raised something itself.
    """
    with ThreadPoolExecutor(1) as pool:
        done = pool.submit(work)
        yield done.result
        done.result()
