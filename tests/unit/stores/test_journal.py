from __future__ import annotations

import json
from pathlib import Path

import pytest

from deeprefine_graphdb.model.errors import StoreDamaged
from deeprefine_graphdb.model.write import NewRecord, Record, StoreState
from deeprefine_graphdb.stores.journal import Journal, chain, from_line, pack, to_line


def some(count: int, seq: int = 0, head: str = "") -> tuple[Record, ...]:
    news = [
        NewRecord(kind="k", ts="t", body={"n": n, "text": "ä\ud800\n", "x": 0.1})
        for n in range(seq, seq + count)
    ]
    return chain(news, seq, head)


@pytest.fixture
def journal(tmp_path: Path) -> Journal:
    return Journal.of(tmp_path / "log", "s")


def state_after(*records: Record, tail: int = 1) -> StoreState:
    kept = pack(records[-tail:])
    return StoreState(store_id="s", seq=records[-1].seq, head=records[-1].hash, tail=kept)


def test_records_come_back_as_they_were_appended(journal: Journal) -> None:
    records = some(5)
    journal.append(records[:2])
    journal.append(records[2:])
    assert journal.read() == list(records)
    assert journal.last() == records[-1]
    assert journal.verify() is None


def test_a_journal_that_is_not_there_is_empty(journal: Journal) -> None:
    assert (journal.read(), journal.last(), journal.verify()) == ([], None, None)


def test_appending_nothing_makes_no_file(journal: Journal) -> None:
    journal.append(())
    assert not journal.path.exists()


def test_a_line_survives_being_written_and_read() -> None:
    (record,) = some(1)
    assert from_line(to_line(record)) == record
    assert to_line(record).isascii()


def test_long_lines_are_found_from_the_end(journal: Journal) -> None:
    records = chain([NewRecord(kind="k", ts="t", body={"x": "y" * 200_000}) for _ in range(3)], 0, "")
    journal.append(records)
    assert journal.last() == records[-1]


@pytest.mark.parametrize("torn", ['{"seq":4', "x", to_line(some(4)[3])])
def test_a_torn_last_line_is_not_read_and_is_cut_before_the_next(journal: Journal, torn: str) -> None:
    records = some(4)
    journal.append(records[:3])
    with journal.path.open("a", encoding="ascii") as stream:
        stream.write(torn)
    assert journal.read() == list(records[:3])
    assert journal.last() == records[2]
    assert journal.verify() is None
    journal.append(records[3:])
    assert journal.read() == list(records)


@pytest.mark.parametrize("field", ["kind", "ts", "body", "prev", "hash", "seq"])
def test_an_edited_line_is_found(journal: Journal, field: str) -> None:
    journal.append(some(4))
    lines = journal.path.read_text(encoding="ascii").splitlines()
    line = json.loads(lines[1])
    line[field] = {"body": {"n": 7}, "seq": 9}.get(field, "edited")
    lines[1] = json.dumps(line)
    journal.path.write_text("\n".join(lines) + "\n", encoding="ascii")
    bad = journal.verify()
    assert bad is not None
    assert bad.line == 2


@pytest.mark.parametrize(
    "change", [lambda lines: lines[:1] + lines[2:], lambda lines: [lines[1], lines[0], *lines[2:]]]
)
def test_a_line_that_is_gone_or_elsewhere_is_found(journal: Journal, change: object) -> None:
    assert callable(change)
    journal.append(some(4))
    lines = journal.path.read_text(encoding="ascii").splitlines()
    journal.path.write_text("\n".join(change(lines)) + "\n", encoding="ascii")
    assert journal.verify() is not None


def test_effects_may_be_rewritten(journal: Journal) -> None:
    first, second = some(2)
    journal.append([first.model_copy(update={"effects": [{"outcome": "already"}]}), second])
    assert journal.verify() is None


def test_a_line_that_is_no_record_is_named_by_its_number(journal: Journal) -> None:
    journal.append(some(2))
    with journal.path.open("a", encoding="ascii") as stream:
        stream.write("nonsense\n")
    with pytest.raises(StoreDamaged, match="Line 3 "):
        journal.read()
    with pytest.raises(StoreDamaged):
        journal.last()


def test_a_journal_behind_the_store_gets_the_lines_that_the_store_kept(journal: Journal) -> None:
    records = some(5)
    journal.append(records[:3])
    assert journal.heal(state_after(*records, tail=2)) == 2
    assert journal.read() == list(records)
    assert journal.heal(state_after(*records, tail=2)) == 0


def test_a_journal_that_has_a_part_of_the_last_write_gets_the_rest(journal: Journal) -> None:
    records = some(5)
    journal.append(records[:4])
    assert journal.heal(state_after(*records, tail=3)) == 1
    assert journal.read() == list(records)


def test_a_journal_that_is_gone_is_made_again_when_the_store_kept_all(journal: Journal) -> None:
    records = some(2)
    assert journal.heal(state_after(*records, tail=2)) == 2


def test_a_torn_line_is_cut_and_replaced_when_healing(journal: Journal) -> None:
    records = some(3)
    journal.append(records[:2])
    with journal.path.open("a", encoding="ascii") as stream:
        stream.write(to_line(records[2])[:50])
    assert journal.heal(state_after(*records)) == 1
    assert journal.read() == list(records)


def test_a_journal_that_the_store_does_not_continue_is_refused_and_left_alone(journal: Journal) -> None:
    records, other = some(5), chain([NewRecord(kind="z", ts="t", body={})] * 5, 0, "")
    for lines, state in [
        (records[:2], state_after(*records, tail=1)),
        (records[:5], state_after(*records[:4], tail=1)),
        (other[:4], state_after(*records, tail=1)),
        (other[:5], state_after(*records, tail=1)),
    ]:
        journal.path.unlink(missing_ok=True)
        journal.append(lines)
        before = journal.path.read_bytes()
        with pytest.raises(StoreDamaged):
            journal.heal(state)
        assert journal.path.read_bytes() == before


def test_blank_lines_between_records_say_nothing(journal: Journal) -> None:
    records = some(4)
    journal.append(records)
    lines = journal.path.read_text(encoding="ascii").splitlines()
    journal.path.write_text("\n" + "\n\n".join(lines) + "\n \n", encoding="ascii")
    assert journal.read() == list(records)
    assert journal.last() == records[-1]
    assert journal.verify() is None
    (more,) = chain([NewRecord(kind="k", ts="t", body={})], records[-1].seq, records[-1].hash)
    end = journal.read_to_end()[1]
    journal.append([more])
    assert journal.read_on(end, records[-1].hash) == ([more], journal.size())


def test_a_line_nested_too_deep_is_no_record(journal: Journal) -> None:
    journal.append(some(1))
    with journal.path.open("a", encoding="ascii") as stream:
        stream.write("[" * 100_000 + "\n")
    for read in (journal.read, journal.last):
        with pytest.raises(StoreDamaged, match="no record"):
            read()
    bad = journal.verify()
    assert bad is not None
    assert bad.line == 2
