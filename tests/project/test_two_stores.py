"""Two stores of one knowledge base that take turns: each takes in what the other committed."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest

from deeprefine_graphdb.graph.render import graph_digest
from deeprefine_graphdb.model.errors import NeedsDecision, StoreDamaged
from deeprefine_graphdb.project.doctor import check
from deeprefine_graphdb.project.export import check_export, export
from deeprefine_graphdb.project.knowledge_base import KnowledgeBase
from deeprefine_graphdb.project.rebuild import rebuild
from deeprefine_graphdb.project.settings import load_settings
from deeprefine_graphdb.project.status import status
from deeprefine_graphdb.project.sync import sync
from deeprefine_graphdb.project.undo import undo
from tests.project.test_rebase import BASE, LINKS, NODES, written
from tests.support.jobs import apply, knowledge_base, make_root

pytestmark = pytest.mark.engine


def digest(base: KnowledgeBase) -> str:
    with base.open("read") as store:
        return graph_digest(store)


def carry(source: KnowledgeBase, target: Path) -> KnowledgeBase:
    """Bring what is committed to another folder, as a clone or a pull without conflicts does."""
    there = knowledge_base(target).project
    there.log.mkdir(parents=True, exist_ok=True)
    shutil.copy(source.project.graph_json, there.graph_json)
    shutil.copy(source.project.sidecar, there.sidecar)
    for journal in source.project.log.iterdir():
        shutil.copy(journal, there.log)
    return knowledge_base(target)


def agree(one: KnowledgeBase, two: KnowledgeBase) -> None:
    assert digest(one) == digest(two)
    assert one.log().active() == two.log().active()
    for each in (one, two):
        report = check(each)
        assert report.healthy, report.findings


@pytest.fixture
def first(tmp_path: Path) -> KnowledgeBase:
    made = make_root(tmp_path / "first", BASE)
    sync(made)
    for name, text in {
        "p1": 'insert_edge("Cache", "serves", "Proxy")',
        "p2": 'replace_node("Server", "Backend")',
    }.items():
        apply(made, text, name=name)
    export(made)
    return made


def test_a_sync_in_a_clone_makes_a_store_of_its_own(first: KnowledgeBase, tmp_path: Path) -> None:
    clone = carry(first, tmp_path / "clone")
    assert clone.lost() is None
    assert not clone.has_store()
    assert sync(clone, dry_run=True).taken_in == first.log().active()
    assert not clone.has_store()
    report = sync(clone)
    assert report.taken_in == first.log().active()
    assert len(list(clone.project.log.iterdir())) == 2
    agree(first, clone)
    assert export(clone).outcome == "unchanged"
    assert clone.project.sidecar.read_bytes() == first.project.sidecar.read_bytes()
    assert sync(clone).outcome == "unchanged"
    undo(clone, list(clone.log().active()), by="t")
    export(clone)
    assert clone.project.graph_json.read_bytes() == BASE


def test_they_take_turns(first: KnowledgeBase, tmp_path: Path) -> None:
    clone = carry(first, tmp_path / "clone")
    sync(clone)
    mine, theirs = first.log().active()
    apply(clone, 'insert_edge("Client", "reads", "Proxy")', name="p3")
    apply(clone, 'delete_edge("Client", "calls", "Backend")', name="p4")
    undo(clone, [theirs], by="other")
    export(clone)
    carry(clone, first.project.root)
    report = sync(first)
    assert len(report.taken_in) == 2
    assert mine in first.log().active()
    assert theirs not in first.log().active()
    assert first.log().refinement(theirs).events[-1].by == "other"
    agree(first, clone)
    check_export(first)
    apply(first, 'insert_edge("Server", "logs_to", "Disk")', name="p5")
    export(first)
    carry(first, clone.project.root)
    sync(clone)
    agree(first, clone)
    assert sync(clone).outcome == "unchanged"
    assert sync(first).outcome == "unchanged"
    check_export(clone)
    before = digest(first)
    assert rebuild(first).healthy
    assert digest(first) == before


def test_the_log_may_come_without_a_change_of_the_graph(first: KnowledgeBase, tmp_path: Path) -> None:
    clone = carry(first, tmp_path / "clone")
    sync(clone)
    apply(clone, 'insert_edge("Client", "reads", "Proxy")', name="p3")
    for journal in clone.project.log.iterdir():
        shutil.copy(journal, first.project.log)
    told = status(first, load_settings(first.project, {}))
    assert (len(told.unread), told.next) == (1, "deeprefine-db sync")
    assert sync(first).outcome == "rebased"
    assert status(first, load_settings(first.project, {})).unread == ()
    agree(first, clone)
    assert status(first, load_settings(first.project, {})).behind == 1


def test_graphify_may_have_worked_on_the_file_since(first: KnowledgeBase, tmp_path: Path) -> None:
    clone = carry(first, tmp_path / "clone")
    sync(clone)
    disk = {"id": "disk", "label": "Disk"}
    first.project.graph_json.write_bytes(written([*NODES, disk], LINKS))
    sync(first)
    export(first)
    carry(first, clone.project.root)
    assert sync(clone).suspended == ()
    agree(first, clone)


def test_a_clone_whose_file_no_log_tells_of_is_refused(first: KnowledgeBase, tmp_path: Path) -> None:
    clone = carry(first, tmp_path / "clone")
    clone.project.graph_json.write_bytes(clone.project.graph_json.read_bytes() + b"\n")
    with pytest.raises(NeedsDecision, match="is not as any log"):
        sync(clone)
    assert not clone.has_store()


def test_a_journal_of_another_store_that_was_edited_is_refused(first: KnowledgeBase, tmp_path: Path) -> None:
    clone = carry(first, tmp_path / "clone")
    (journal,) = clone.project.log.iterdir()
    journal.write_text(journal.read_text("ascii").replace("serves", "deserves"), "ascii")
    with pytest.raises(StoreDamaged, match="was edited"):
        sync(clone)
    assert not clone.has_store()
