"""Several reads at once, a thread a processor: an engine reads outside Python's own lock."""

from __future__ import annotations

import os
import threading
from collections.abc import Callable, Sequence
from typing import TypeVar, cast

Answer = TypeVar("Answer")
_MOST_THREADS = 4
_WORTH_A_THREAD = 4


def at_once(reads: Sequence[Callable[[], Answer]]) -> list[Answer]:
    """Carry out reads that do not depend on each other, and give their answers in order.

    Raises what the first one to fail raises; the others that have begun are waited for.
    """
    threads = min(_MOST_THREADS, os.cpu_count() or 1, len(reads) // _WORTH_A_THREAD)
    answers: list[Answer | None] = [None] * len(reads)
    errors: list[BaseException] = []
    waiting = iter(enumerate(reads))

    def work() -> None:
        try:
            for at, read in waiting:
                answers[at] = read()
        except BaseException as error:
            errors.append(error)
            for _ in waiting:
                pass

    helpers = [threading.Thread(target=work, daemon=True) for _ in range(threads - 1)]
    for helper in helpers:
        helper.start()
    work()
    for helper in helpers:
        helper.join()
    if errors:
        raise errors[0]
    return cast("list[Answer]", answers)
