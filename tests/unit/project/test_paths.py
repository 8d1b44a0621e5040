"""A knowledge base is found from anywhere inside it, and its files have the names of the contract."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest

from deeprefine_graphdb.model.errors import GraphFormatError, UsageError
from deeprefine_graphdb.project.paths import find_project


@pytest.fixture
def root(tmp_path: Path) -> Path:
    (tmp_path / "kb" / "graphify-out").mkdir(parents=True)
    (tmp_path / "kb" / "graphify-out" / "graph.json").write_text("{}", encoding="utf-8")
    return tmp_path / "kb"


def test_the_root_is_found_by_walking_up(root: Path) -> None:
    deep = root / "src" / "deep"
    deep.mkdir(parents=True)
    assert find_project(start=deep).root == root
    assert find_project(start=root / "graphify-out").root == root


def test_the_nearest_root_wins(root: Path) -> None:
    inner = root / "part"
    (inner / "graphify-out").mkdir(parents=True)
    (inner / "graphify-out" / "graph.json").write_text("{}", encoding="utf-8")
    assert find_project(start=inner).root == inner


def test_a_lost_graph_json_does_not_hide_the_knowledge_base(root: Path) -> None:
    (root / "graphify-out" / ".deeprefine").mkdir()
    (root / "graphify-out" / "graph.json").unlink()
    assert find_project(start=root).root == root


def test_no_graph_is_said_with_the_next_step(tmp_path: Path) -> None:
    with pytest.raises(GraphFormatError, match="graphify update") as caught:
        find_project(start=tmp_path)
    assert str(tmp_path) in caught.value.message
    assert caught.value.exit_code == 7
    with pytest.raises(GraphFormatError, match="does not exist"):
        find_project(tmp_path)
    with pytest.raises(UsageError, match="not a folder"):
        find_project(tmp_path / "nowhere")


def test_a_graph_json_that_is_no_file_is_said(root: Path) -> None:
    graph = root / "graphify-out" / "graph.json"
    graph.unlink()
    graph.mkdir()
    for start in (root, root / "graphify-out"):
        with pytest.raises(GraphFormatError, match="is not a file"):
            find_project(start=start)
    graph.rmdir()
    for target in ("nowhere", "graph.json"):
        graph.symlink_to(target)
        with pytest.raises(GraphFormatError, match="is not a file"):
            find_project(root)
        graph.unlink()


@pytest.mark.skipif(sys.platform != "linux", reason="names of any bytes")
def test_a_folder_whose_name_is_no_text_is_refused(root: Path) -> None:
    odd = root.rename(root.with_name("kb\udcff"))
    with pytest.raises(UsageError, match="not valid text"):
        find_project(odd)


def test_the_files_have_the_names_of_the_contract(root: Path) -> None:
    project = find_project(root)
    shown = [
        project.shown(path)
        for path in (
            project.history,
            project.trace("1a"),
            project.actions("1a"),
            project.proposed("1a"),
            project.review("1a", "md"),
            project.results("20260101"),
            project.backup,
            project.store,
            project.sidecar,
        )
    ]
    assert shown == [
        "graphify-out/.deeprefine/history.jsonl",
        "graphify-out/.deeprefine/loop_trace_1a.json",
        "graphify-out/.deeprefine/refinement_actions_1a.txt",
        "graphify-out/.deeprefine/proposed_refinement_actions_1a.txt",
        "graphify-out/.deeprefine/proposed_refinement_review_1a.md",
        "graphify-out/.deeprefine/refinement_results_20260101.jsonl",
        "graphify-out/.deeprefine/graph.json.bak",
        "graphify-out/.deeprefine/store",
        "graphify-out/.deeprefine/export.json",
    ]


def test_prepare_leaves_store_and_index_out_of_git_and_keeps_a_changed_file(root: Path) -> None:
    project = find_project(root)
    project.prepare()
    ignore = project.deeprefine / ".gitignore"
    lines = ignore.read_text(encoding="utf-8").splitlines()
    assert {"/store/", "/index/"} <= set(lines)
    assert not any(line.startswith("/log") for line in lines)
    ignore.write_text("mine\n", encoding="utf-8")
    project.prepare()
    assert ignore.read_text(encoding="utf-8") == "mine\n"
