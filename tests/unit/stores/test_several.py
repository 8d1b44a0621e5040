"""Reads that are carried out at once give what they give one after another."""

from __future__ import annotations

import threading
from functools import partial

import pytest

from deeprefine_graphdb.stores.several import at_once


def _raise(error: BaseException) -> None:
    raise error


@pytest.mark.parametrize("count", [0, 1, 3, 4, 7, 8, 100])
def test_answers_come_in_the_order_of_the_reads(count: int) -> None:
    assert at_once([partial(pow, each, 2) for each in range(count)]) == [each**2 for each in range(count)]


def test_reads_meet_where_there_are_processors(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("os.cpu_count", lambda: 2)
    meeting = threading.Barrier(2, timeout=10)
    assert len(set(at_once([meeting.wait] * 8))) == 2


def test_one_processor_needs_no_thread(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("os.cpu_count", lambda: 1)
    assert set(at_once([threading.get_ident] * 50)) == {threading.get_ident()}


@pytest.mark.parametrize("error", [ValueError("no"), KeyboardInterrupt()])
def test_what_a_read_raises_is_raised_and_ends_the_others(error: BaseException) -> None:
    done: list[int] = []
    reads = [partial(done.append, each) for each in range(500)]
    reads[20] = partial(_raise, error)
    before = threading.active_count()
    with pytest.raises(type(error)):
        at_once(reads)
    assert threading.active_count() == before
    assert len(done) < 499
