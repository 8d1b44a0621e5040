"""A knowledge base that lost a part: it is named, the command that is named next works, and nothing else is lost."""

from __future__ import annotations

import json
import shutil
from collections.abc import Callable
from pathlib import Path

import pytest

from deeprefine_graphdb.graph.render import graph_digest
from deeprefine_graphdb.model.errors import DeepRefineError, NeedsDecision, StoreDamaged
from deeprefine_graphdb.project.doctor import check, compact
from deeprefine_graphdb.project.export import check_export, export, export_to
from deeprefine_graphdb.project.folding import fold_if_long
from deeprefine_graphdb.project.knowledge_base import KnowledgeBase
from deeprefine_graphdb.project.rebuild import rebuild
from deeprefine_graphdb.project.settings import load_settings
from deeprefine_graphdb.project.status import StatusReport, status
from deeprefine_graphdb.project.sync import sync
from tests.support.jobs import apply, knowledge_base, make_root

pytestmark = pytest.mark.engine
AFTER_EXPORT = 'insert_edge("Queue", "feeds", "Cache")'
REBUILD = "deeprefine-db doctor --rebuild"
Damage = Callable[[KnowledgeBase], object]


@pytest.fixture(scope="module")
def whole(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Make a knowledge base with a refinement that was exported and one that was not."""
    base = make_root(tmp_path_factory.mktemp("whole") / "kb")
    sync(base)
    apply(base)
    export(base)
    apply(base, AFTER_EXPORT, name="p2")
    return base.project.root


@pytest.fixture
def base(whole: Path, tmp_path: Path) -> KnowledgeBase:
    shutil.copytree(whole, tmp_path / "kb")
    return knowledge_base(tmp_path / "kb")


@pytest.fixture(scope="module")
def wanted(whole: Path) -> str:
    with knowledge_base(whole).open("read") as store:
        return graph_digest(store)


def state_of(base: KnowledgeBase) -> StatusReport:
    return status(base, load_settings(base.project, {}, {}))


def journal(base: KnowledgeBase) -> Path:
    (found,) = base.project.log.glob("*.jsonl")
    return found


def no_journal(base: KnowledgeBase) -> None:
    journal(base).unlink()
    for kept in base.project.store.glob("journal-*"):
        kept.unlink()


def generation(base: KnowledgeBase) -> Path:
    (found,) = base.project.store.glob("gen-*")
    return found


def cut(path: Path, keep: int) -> None:
    path.write_bytes(b"".join(path.read_bytes().splitlines(keepends=True)[:keep]))


def alter(path: Path) -> None:
    content = path.read_bytes()
    assert b"Queue" in content
    path.write_bytes(content.replace(b"Queue", b"Quoue"))


def empty_pointer(base: KnowledgeBase) -> None:
    (base.project.store / "CURRENT").write_bytes(b"")


def pointer_to_nothing(base: KnowledgeBase) -> None:
    path = base.project.store / "CURRENT"
    path.write_text(path.read_text(encoding="ascii").replace("gen-000001", "gen-000009"), encoding="ascii")


def no_pointer(base: KnowledgeBase) -> None:
    (base.project.store / "CURRENT").unlink()


def no_database(base: KnowledgeBase) -> None:
    next(generation(base).glob("graph.*")).unlink()


def no_base(base: KnowledgeBase) -> None:
    """Lose the base of the generation; the file that the export replaced is the same."""
    (generation(base) / "base.json").unlink()


def no_store(base: KnowledgeBase) -> None:
    shutil.rmtree(base.project.store)


def older_store(base: KnowledgeBase) -> None:
    """Bring the journal to where a colleague's is: one refinement further than the store."""
    shutil.copytree(base.project.store, base.project.root / "kept")
    apply(base, 'insert_edge("Client", "feeds", "Cache")', name="p3")
    shutil.rmtree(base.project.store)
    (base.project.root / "kept").rename(base.project.store)


def altered_base(base: KnowledgeBase) -> None:
    alter(generation(base) / "base.json")


def altered_index(base: KnowledgeBase) -> None:
    path = generation(base) / "base.idx"
    content = bytearray(path.read_bytes())
    content[-1] ^= 1
    path.write_bytes(content)


REBUILT: tuple[Damage, ...] = (
    empty_pointer,
    pointer_to_nothing,
    no_pointer,
    no_database,
    no_base,
    no_store,
    altered_base,
    altered_index,
)


@pytest.mark.parametrize("damage", REBUILT, ids=lambda damage: damage.__name__)
def test_doctor_names_the_rebuild_and_the_rebuild_brings_everything_back(
    base: KnowledgeBase, wanted: str, damage: Damage
) -> None:
    records = base.records()
    damage(base)
    report = check(base)
    assert not report.healthy
    assert REBUILD in report.next
    assert rebuild(base).healthy
    with base.open("read") as store:
        assert graph_digest(store) == wanted
    assert base.records() == records
    assert export(base).file_digest == wanted
    assert compact(base).done == "compacted"


def test_a_store_older_than_its_journal_is_rebuilt_with_what_the_journal_has(base: KnowledgeBase) -> None:
    older_store(base)
    assert REBUILD in check(base).next
    assert rebuild(base).healthy
    assert len(base.log().active()) == 3


@pytest.mark.parametrize("damage", [no_pointer, no_store], ids=lambda damage: damage.__name__)
def test_a_lost_store_is_not_taken_for_one_that_was_never_made(base: KnowledgeBase, damage: Damage) -> None:
    log = base.log().refinements()
    damage(base)
    lost = knowledge_base(base.project.root)
    for job in (sync, check_export, export, lambda each: apply(each, name="p9")):
        with pytest.raises(
            DeepRefineError, match=r"There is no store.*but the log of one lies there"
        ) as refused:
            job(lost)
        assert REBUILD in refused.value.hint
    with pytest.raises(NeedsDecision):
        sync(lost)
    assert lost.log().refinements() == log
    report = state_of(lost)
    assert (report.has_store, report.file, report.refinements) == (False, "current", 2)
    assert report.next == REBUILD
    assert report.damage in report.problems


def test_a_clone_whose_base_is_nowhere_says_which_file_is_needed(base: KnowledgeBase, wanted: str) -> None:
    snapshot = base.log().snapshots()[0]
    original = base.project.backup.read_bytes()
    no_store(base)
    base.project.backup.unlink()
    exported = base.project.graph_json.read_bytes()
    base.project.graph_json.write_bytes(exported + b"\n")
    with pytest.raises(NeedsDecision) as refused:
        sync(base)
    assert "or an export of it" in refused.value.hint
    assert snapshot.base_digest in refused.value.hint
    assert str(base.project.backup) in refused.value.hint
    assert check(base).next == refused.value.hint
    assert state_of(base).next == "deeprefine-db doctor"
    base.project.backup.write_bytes(original)
    base.project.graph_json.write_bytes(exported)
    assert rebuild(base).healthy
    assert export(base).file_digest == wanted


def test_a_pointer_and_a_journal_that_are_gone_are_told_from_a_new_knowledge_base(
    base: KnowledgeBase,
) -> None:
    name = journal(base).name
    no_pointer(base)
    no_journal(base)
    with pytest.raises(NeedsDecision, match="generations of one lie there") as refused:
        sync(base)
    assert name in refused.value.hint
    assert "missing or empty" in refused.value.hint


def test_a_journal_that_is_gone_is_to_be_restored_and_nothing_says_it_is_empty(base: KnowledgeBase) -> None:
    kept = journal(base).read_bytes()
    path = journal(base)
    no_journal(base)
    fresh = knowledge_base(base.project.root)
    for job in (fresh.log, lambda: state_of(fresh), lambda: sync(fresh), lambda: rebuild(fresh)):
        with pytest.raises(StoreDamaged, match=r"missing or empty.*Restore the journal"):
            job()
    report = check(fresh)
    assert not report.healthy
    assert "Restore the journal" in report.next
    assert fresh.project.root.is_dir()
    path.write_bytes(kept)
    assert check(fresh).healthy


@pytest.mark.parametrize("left", [0, 1, 4])
def test_a_journal_in_whose_place_version_control_put_an_earlier_state_is_brought_back(
    base: KnowledgeBase, left: int
) -> None:
    path = journal(base)
    whole = path.read_bytes()
    path.unlink()
    if left:
        path.write_bytes(b"".join(whole.splitlines(keepends=True)[:left]))
    fresh = knowledge_base(base.project.root)
    assert fresh.log().records == base.log().records
    assert path.read_bytes() == whole
    apply(fresh, 'insert_edge("Client", "feeds", "Cache")', name="p3")
    path.unlink()
    assert check(knowledge_base(base.project.root)).healthy
    assert len(path.read_bytes()) > len(whole)


def test_a_journal_that_was_cut_is_not_taken_for_the_whole_log(base: KnowledgeBase) -> None:
    kept = journal(base).read_bytes()
    last = len(kept.splitlines())
    with base.open("read"):
        pass
    cut(journal(base), 4)
    fresh = knowledge_base(base.project.root)
    for job in (fresh.log, lambda: state_of(fresh)):
        with pytest.raises(
            StoreDamaged, match=rf"ends at record 4 and the store at record {last}.*Restore the journal"
        ):
            job()
    journal(base).write_bytes(b"".join(kept.splitlines(keepends=True)[:-1]))
    assert len(knowledge_base(base.project.root).log().records) == last
    assert journal(base).read_bytes() == kept


def test_a_rebuild_does_not_drop_what_only_the_store_has(base: KnowledgeBase) -> None:
    ids = [entry.id for entry in base.log().refinements()]
    kept = journal(base).read_bytes()
    last = len(kept.splitlines())
    cut(journal(base), last - 1)
    assert check(knowledge_base(base.project.root)).healthy
    assert journal(base).read_bytes() == kept

    cut(journal(base), 2)
    fresh = knowledge_base(base.project.root)
    with pytest.raises(StoreDamaged, match="only the store has") as refused:
        rebuild(fresh)
    for refinement in ids:
        assert refinement in refused.value.message
    assert str(refused.value) == check(fresh).next
    former = generation(base)
    former.rename(former.with_name("aside-000001"))
    assert rebuild(fresh).healthy
    assert fresh.log().refinements() == []


def broken(lines: list[bytes]) -> list[list[bytes]]:
    return [
        lines[1:],
        [*lines, b"garbage\n"],
        [lines[0], lines[2], lines[1], *lines[3:]],
        [*lines, lines[-1]],
        [*lines[:-1], lines[-1].replace(b'"ts":"2', b'"ts":"3')],
        [*lines, b"[" * 100_000 + b"\n"],
    ]


@pytest.mark.parametrize("which", range(6))
def test_a_broken_journal_is_to_be_restored_by_every_command(base: KnowledgeBase, which: int) -> None:
    kept = journal(base).read_bytes()
    journal(base).write_bytes(b"".join(broken(kept.splitlines(keepends=True))[which]))
    fresh = knowledge_base(base.project.root)
    report = check(fresh)
    assert not report.healthy
    assert "Restore the journal" in report.next
    assert REBUILD not in report.next
    with pytest.raises(StoreDamaged, match="Restore the journal") as refused:
        rebuild(fresh)
    assert str(journal(base)) in refused.value.message
    journal(base).write_bytes(kept)
    assert check(knowledge_base(base.project.root)).healthy


def test_blank_lines_in_a_journal_do_no_harm(base: KnowledgeBase) -> None:
    path = journal(base)
    path.write_bytes(path.read_bytes().replace(b"\n", b"\n\n"))
    fresh = knowledge_base(base.project.root)
    assert check(fresh).healthy
    assert apply(fresh, 'insert_edge("Client", "feeds", "Cache")', name="p3").revision == 3
    assert check(fresh).healthy


def test_an_altered_base_does_not_reach_any_file(base: KnowledgeBase, tmp_path: Path) -> None:
    altered_base(base)
    before = base.project.graph_json.read_bytes()
    for job in (export, check_export, lambda each: export_to(each, tmp_path / "out.json")):
        with pytest.raises(StoreDamaged, match=r"base\.json was altered"):
            job(base)
    assert base.project.graph_json.read_bytes() == before
    assert not (tmp_path / "out.json").exists()


def test_of_several_journals_the_one_that_the_export_names_is_rebuilt(
    base: KnowledgeBase, wanted: str
) -> None:
    other = journal(base).with_name("s0000.jsonl")
    other.write_bytes(journal(base).read_bytes().splitlines(keepends=True)[0])
    no_store(base)
    sidecar = base.project.sidecar.read_bytes()
    base.project.sidecar.unlink()
    base.project.here.unlink()
    with pytest.raises(StoreDamaged, match=r"the logs of 2 stores.*Leave only that one"):
        rebuild(base)
    base.project.sidecar.write_bytes(sidecar)
    assert rebuild(base).healthy
    assert export(base).file_digest == wanted


def test_a_log_of_another_store_in_use_is_no_lost_one(base: KnowledgeBase, tmp_path: Path) -> None:
    engine = base.url.partition(":")[0]
    elsewhere = KnowledgeBase(base.project, f"{engine}:{tmp_path / 'elsewhere'}", 5.0)
    assert elsewhere.lost() is None
    no_store(base)
    assert elsewhere.lost() is not None


def test_a_fold_that_finds_no_room_does_not_undo_what_was_done(
    base: KnowledgeBase, monkeypatch: pytest.MonkeyPatch
) -> None:
    usage = shutil.disk_usage(base.project.root)
    with monkeypatch.context() as patch:
        patch.setattr(shutil, "disk_usage", lambda _: usage._replace(free=0))
        assert fold_if_long(base, at_least=0) is False
    assert fold_if_long(base, at_least=0) is True
    assert check(base).healthy


def test_a_store_that_is_a_file_is_named(base: KnowledgeBase) -> None:
    no_store(base)
    base.project.store.write_bytes(b"")
    assert not check(base).healthy
    for job in (sync, rebuild, export, lambda each: each.log()):
        with pytest.raises(DeepRefineError, match="not a folder"):
            job(base)


def test_a_missing_file_of_the_store_shows_in_status(base: KnowledgeBase) -> None:
    assert state_of(base).damage == ""
    no_database(base)
    report = state_of(base)
    assert "is not there" in report.damage
    assert report.next == REBUILD


def test_a_new_store_on_an_export_without_its_log_says_what_becomes_of_the_refinements(
    base: KnowledgeBase,
) -> None:
    no_store(base)
    shutil.rmtree(base.project.log)
    report = sync(base)
    assert report.outcome == "loaded"
    assert any("cannot be undone" in warning for warning in report.warnings)


def test_a_changed_file_is_read_before_it_is_refused(base: KnowledgeBase) -> None:
    base.project.graph_json.write_text("{", encoding="utf-8")
    with pytest.raises(DeepRefineError) as refused:
        sync(base)
    assert refused.value.exit_code == 7
    base.project.graph_json.write_text(json.dumps({"nodes": [], "links": []}), encoding="utf-8")
    assert len(sync(base).suspended) > 0
    assert check(base).healthy
