"""Refinements carried to another copy of the knowledge base by a file of the log."""

from __future__ import annotations

from pathlib import Path

import pytest

from deeprefine_graphdb.graph.render import graph_digest
from deeprefine_graphdb.model.errors import DeepRefineError, NothingToDo, UsageError
from deeprefine_graphdb.project.doctor import check
from deeprefine_graphdb.project.exchange import apply_log, export_log
from deeprefine_graphdb.project.export import export
from deeprefine_graphdb.project.knowledge_base import KnowledgeBase
from deeprefine_graphdb.project.sync import sync
from deeprefine_graphdb.project.undo import undo
from tests.project.test_rebase import BASE, LINKS, NODES, written
from tests.support.jobs import apply, make_root

pytestmark = pytest.mark.engine


def quiet(_text: str) -> None:
    """Say nothing."""


def digest(base: KnowledgeBase) -> str:
    with base.open("read") as store:
        return graph_digest(store)


@pytest.fixture
def first(tmp_path: Path) -> KnowledgeBase:
    made = make_root(tmp_path / "first", BASE)
    sync(made)
    for number, text in enumerate(
        ('insert_edge("Cache", "serves", "Client")', 'replace_node("Server", "Backend")'), start=1
    ):
        apply(made, text, name=f"p{number}")
    export(made)
    return made


@pytest.fixture
def log(first: KnowledgeBase, tmp_path: Path) -> Path:
    report = export_log(first, tmp_path / "log.jsonl")
    assert len(report.refinements) == 2
    return tmp_path / "log.jsonl"


def test_on_the_same_base_the_other_copy_is_the_same_graph(
    first: KnowledgeBase, log: Path, tmp_path: Path
) -> None:
    second = make_root(tmp_path / "second", BASE)
    sync(second)
    assert apply_log(second, log, by="t", say=quiet, dry_run=True).dry_run
    report = apply_log(second, log, by="t", say=quiet)
    assert report.refinements == first.log().active()
    assert digest(second) == digest(first)
    assert check(second).healthy
    with pytest.raises(NothingToDo):
        apply_log(second, log, by="t", say=quiet)


def test_the_base_may_be_the_file_that_they_were_exported_to(
    first: KnowledgeBase, log: Path, tmp_path: Path
) -> None:
    second = make_root(tmp_path / "second", first.project.graph_json.read_bytes())
    sync(second)
    apply_log(second, log, by="t", say=quiet)
    assert digest(second) == digest(first)
    assert check(second).healthy
    undo(second, list(second.log().active()), by="t")
    export(second)
    assert second.project.graph_json.read_bytes() == BASE


def test_on_another_branch_they_are_judged_as_in_a_rebase(
    first: KnowledgeBase, log: Path, tmp_path: Path
) -> None:
    second = make_root(tmp_path / "second", written(NODES[:1] + NODES[2:], LINKS[1:]))
    sync(second)
    report = apply_log(second, log, by="t", say=quiet)
    assert report.suspended == (first.log().active()[0],)
    assert [conflict.kind for conflict in report.opened] == ["target-missing"]
    assert check(second).healthy


def test_a_file_that_was_edited_is_refused(first: KnowledgeBase, log: Path, tmp_path: Path) -> None:
    second = make_root(tmp_path / "second", BASE)
    sync(second)
    before = digest(second)
    log.write_text(log.read_text(encoding="ascii").replace("serves", "deserves"), encoding="ascii")
    with pytest.raises(DeepRefineError, match="was edited"):
        apply_log(second, log, by="t", say=quiet)
    with pytest.raises(UsageError):
        apply_log(second, tmp_path / "none.jsonl", by="t", say=quiet)
    assert digest(second) == before
    assert digest(first) != before
