"""A knowledge base reads on in its journal from where it was, and notices a journal that was replaced."""

from __future__ import annotations

from pathlib import Path

import pytest

from deeprefine_graphdb.model.errors import StoreDamaged
from deeprefine_graphdb.project.knowledge_base import KnowledgeBase
from deeprefine_graphdb.project.sync import sync
from deeprefine_graphdb.stores.journal import Journal
from tests.support import jobs

pytestmark = pytest.mark.engine


@pytest.fixture
def base(tmp_path: Path) -> KnowledgeBase:
    made = jobs.make_root(tmp_path / "kb")
    sync(made)
    return made


def journal_of(base: KnowledgeBase) -> Path:
    return next(base.project.log.glob("*.jsonl"))


def forget_size(base: KnowledgeBase) -> None:
    """Take away by what it shows that the journal was cut."""
    for path in base.project.store.glob("gen-*/journal.size"):
        path.unlink()


def test_a_log_that_did_not_grow_is_the_same_log(base: KnowledgeBase) -> None:
    assert base.log() is base.log()


def test_what_another_handle_wrote_is_read_behind_what_is_known(
    base: KnowledgeBase, monkeypatch: pytest.MonkeyPatch
) -> None:
    before = base.log()
    assert before.refinements() == []
    jobs.apply(jobs.knowledge_base(base.project.root))
    monkeypatch.delattr(Journal, "read_to_end")
    after = base.log()
    assert [record.seq for record in after.records] == list(range(1, len(after.records) + 1))
    assert after.records[: len(before.records)] == before.records
    fresh = jobs.knowledge_base(base.project.root)
    monkeypatch.undo()
    assert after.records == fresh.log().records
    assert after.refinements() == fresh.log().refinements()
    assert len(after.refinements()) == 1


def test_a_torn_last_line_is_read_when_it_is_whole(base: KnowledgeBase) -> None:
    jobs.apply(jobs.knowledge_base(base.project.root))
    whole = journal_of(base).read_bytes()
    forget_size(base)
    journal_of(base).write_bytes(whole[:-40])
    short = base.log()
    journal_of(base).write_bytes(whole)
    assert len(base.log().records) == len(short.records) + 1
    assert base.log().records == jobs.knowledge_base(base.project.root).log().records


def test_a_journal_that_was_replaced_is_read_anew(base: KnowledgeBase) -> None:
    first = journal_of(base).read_bytes()
    jobs.apply(base)
    assert len(base.log().refinements()) == 1
    forget_size(base)
    journal_of(base).write_bytes(first)
    assert base.log().refinements() == []


def test_a_line_that_is_no_record_is_named_by_its_number(base: KnowledgeBase) -> None:
    count = len(base.log().records)
    with journal_of(base).open("ab") as stream:
        stream.write(b"not a record\n")
    with pytest.raises(StoreDamaged, match=f"Line {count + 1} "):
        base.log()
