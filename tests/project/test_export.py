"""Sync and export on a real store: the same bytes where nothing changed, and no file lost."""

from __future__ import annotations

import json
import lzma
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from deeprefine_graphdb.graph.render import graph_digest
from deeprefine_graphdb.model.errors import (
    ActionRefused,
    GraphChanged,
    GraphFormatError,
    NeedsDecision,
    NothingToDo,
)
from deeprefine_graphdb.project.doctor import check, compact
from deeprefine_graphdb.project.export import check_export, export, export_to
from deeprefine_graphdb.project.knowledge_base import KnowledgeBase
from deeprefine_graphdb.project.rebuild import rebuild
from deeprefine_graphdb.project.sync import sync
from deeprefine_graphdb.project.undo import undo
from tests.support.jobs import apply, knowledge_base, make_root, small_graph

pytestmark = pytest.mark.engine
REPOSITORY = Path(__file__).resolve().parents[2]
SHARED = REPOSITORY.parent / "shared" / "graphs"
REAL = sorted((REPOSITORY / "tests/data").rglob("*.graph.json.xz")) + sorted(
    path
    for path in SHARED.glob("*.graph.json.xz")
    if path.name.partition(".")[0] in {"networkx", "django", "large"}
)


@pytest.fixture
def base(tmp_path: Path) -> KnowledgeBase:
    made = make_root(tmp_path / "kb")
    sync(made)
    return made


@pytest.mark.slow
@pytest.mark.parametrize("packed", REAL, ids=lambda path: path.name.partition(".")[0])
def test_a_real_graph_comes_back_byte_for_byte(packed: Path, tmp_path: Path) -> None:
    content = lzma.decompress(packed.read_bytes())
    base = make_root(tmp_path / "kb", content)
    report = sync(base)
    out = tmp_path / "out.json"
    assert export_to(base, out).file_digest == report.file_digest
    assert out.read_bytes() == content
    assert export(base).outcome == "unchanged"
    assert base.project.graph_json.read_bytes() == content


def test_after_a_refinement_only_touched_objects_differ(base: KnowledgeBase) -> None:
    before = json.loads(base.project.graph_json.read_bytes())
    apply(base)
    assert export(base).outcome == "written"
    after = json.loads(base.project.graph_json.read_bytes())
    for section in ("nodes", "links", "hyperedges"):
        assert all("_deeprefine" in each for each in after[section] if each not in before[section])
    assert after["hyperedges"][0]["nodes"] == ["server", "client"]
    assert json.loads(base.project.backup.read_bytes()) == before
    sidecar = json.loads(base.project.sidecar.read_bytes())
    assert sidecar["file_digest"] == base.graph_digest()
    assert {entry["kind"] for entry in sidecar["manifest"]} == {
        "added",
        "changed",
        "removed",
        "moved",
        "folded",
    }


def test_our_own_export_counts_as_unchanged(base: KnowledgeBase) -> None:
    apply(base)
    export(base)
    assert sync(base).outcome == "unchanged"
    assert check_export(base).outcome == "checked"


def test_the_check_counts_what_differs_from_the_base_and_not_what_once_did(base: KnowledgeBase) -> None:
    applied = apply(base)
    written = export(base)
    assert check_export(base).touched == written.touched > 0
    undo(base, [applied.refinement.id], by="t")
    export(base)
    assert check_export(base).touched == 0


def test_a_file_that_is_no_known_state_is_not_overwritten(base: KnowledgeBase) -> None:
    apply(base)
    path = base.project.graph_json
    foreign = path.read_bytes() + b"\n"
    path.write_bytes(foreign)
    with pytest.raises(GraphChanged):
        export(base)
    assert path.read_bytes() == foreign
    with pytest.raises(NeedsDecision):
        check_export(base)
    assert export(base, force=True).outcome == "written"
    assert base.project.backup.read_bytes() == foreign


def test_a_changed_file_replaces_the_graph_while_nothing_is_refined(base: KnowledgeBase) -> None:
    graph = small_graph()
    graph["nodes"].append({"id": "new", "label": "New"})
    base.project.graph_json.write_text(json.dumps(graph, indent=2), encoding="utf-8")
    report = sync(base)
    assert (report.outcome, report.nodes, report.revision) == ("replaced", 7, 1)
    with base.open("read") as store:
        assert graph_digest(store) == base.graph_digest()
        assert len(base.records()) == 2


@pytest.mark.parametrize(
    ("content", "says"),
    [
        (b"", "empty"),
        (b"{", "cut off"),
        (b"[]", "list"),
        (b'{"files": {}, "total_files": 3}', "detect"),
        (b'{"nodes":[{"id":"twin"},{"id":"twin"}],"links":[]}', "twin"),
    ],
)
def test_a_file_that_is_no_graph_is_refused_and_changes_nothing(
    base: KnowledgeBase, content: bytes, says: str
) -> None:
    before = [record.hash for record in base.records()]
    base.project.graph_json.write_bytes(content)
    with pytest.raises(GraphFormatError, match=says) as refused:
        sync(base)
    assert refused.value.exit_code == 7
    assert [record.hash for record in base.records()] == before
    assert base.project.graph_json.read_bytes() == content


def test_a_store_is_rebuilt_from_its_base_and_journal(base: KnowledgeBase) -> None:
    apply(base)
    apply(base, 'replace_node("Queue", "Work queue")|insert_edge("Queue", "feeds", "Cache")', name="p2")
    with base.open("read") as store:
        wanted, state = graph_digest(store), store.state()
    report = rebuild(base)
    assert report.healthy, report
    assert report.set_aside is not None
    with base.open("read") as store:
        assert graph_digest(store) == wanted
        assert store.state().model_copy(update={"tail": ""}) == state.model_copy(update={"tail": ""})
    assert apply(base, 'insert_edge("Work queue", "is", "Busy")', name="p3").revision == 3


def test_folding_keeps_everything(base: KnowledgeBase) -> None:
    apply(base)
    with base.open("read") as store:
        before = (graph_digest(store), store.state())
    assert compact(base).done == "compacted"
    with base.open("read") as store:
        assert (graph_digest(store), store.state()) == before
    assert check(base).healthy


NAMES = ("Server", "Srv", "Cache", "Disk", "Client", "Queue", "Fresh")
name = st.sampled_from(NAMES)
relation = st.sampled_from(("uses", "calls"))
answers = st.one_of(
    st.builds('insert_edge("{}", "{}", "{}")'.format, name, relation, name),
    st.builds('delete_edge("{}", "{}", "{}")'.format, name, relation, name),
    st.builds('replace_node("{}", "{}")'.format, name, name),
)


@pytest.mark.slow
@settings(max_examples=12, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(st.lists(st.lists(answers, min_size=1, max_size=4), min_size=1, max_size=4))
def test_the_store_holds_what_base_and_log_derive_to(
    tmp_path_factory: pytest.TempPathFactory, wanted: list[list[str]]
) -> None:
    base = make_root(tmp_path_factory.mktemp("law") / "kb")
    sync(base)
    for number, each in enumerate(wanted):
        try:
            apply(base, "|".join(each), name=f"p{number}")
        except (ActionRefused, NothingToDo):
            continue
    report = check(base)
    assert report.healthy, report
    export(base)
    assert check_export(knowledge_base(base.project.root)).outcome == "checked"
    assert rebuild(base).healthy
