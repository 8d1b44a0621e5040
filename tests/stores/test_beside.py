"""Work that goes on in a second thread while a block runs."""

from __future__ import annotations

import threading

import pytest

from deeprefine_graphdb.stores.beside import beside


def test_the_work_goes_on_while_the_block_runs() -> None:
    met = threading.Event()
    with beside(lambda: met.wait(10)) as result:
        met.set()
        assert result()


def test_what_the_work_raises_is_raised_by_the_block() -> None:
    def fail() -> None:
        raise OSError("no space left")

    reached = []
    with pytest.raises(OSError, match="no space"), beside(fail):
        reached.append("the end of the block")
    assert reached


def test_a_block_that_raises_ends_when_the_work_has() -> None:
    go_on, done = threading.Event(), threading.Event()

    def work() -> None:
        go_on.wait(10)
        done.set()

    def block() -> None:
        with beside(work):
            threading.Timer(0.05, go_on.set).start()
            raise RuntimeError("of the block")

    with pytest.raises(RuntimeError, match="of the block"):
        block()
    assert done.is_set()
