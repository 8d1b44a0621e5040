"""A changed graph.json, less our echo, is the new base; refinements outlive it, and can be undone one by one."""

from __future__ import annotations

import json
import shutil
from pathlib import Path
from typing import Any

import pytest

from deeprefine_graphdb.graph.render import graph_digest
from deeprefine_graphdb.model.errors import NothingToDo, RebaseConflict, UsageError
from deeprefine_graphdb.project.conflicts import conflicts, resolve_conflict
from deeprefine_graphdb.project.doctor import check
from deeprefine_graphdb.project.export import export
from deeprefine_graphdb.project.knowledge_base import KnowledgeBase
from deeprefine_graphdb.project.rebuild import rebuild
from deeprefine_graphdb.project.sync import sync
from deeprefine_graphdb.project.undo import undo
from tests.support.jobs import apply, make_root

pytestmark = pytest.mark.engine

NODES = [
    {"id": "cache", "label": "Cache", "source_file": "cache.py", "file_type": "code"},
    {"id": "client", "label": "Client", "source_file": "client.py", "file_type": "code"},
    {"id": "server", "label": "Server", "source_file": "server.py", "file_type": "code"},
]
LINKS = [
    {"source": "client", "target": "server", "relation": "calls", "confidence": "EXTRACTED"},
    {"source": "server", "target": "cache", "relation": "uses", "confidence": "INFERRED"},
]


def written(nodes: list[dict[str, Any]], links: list[dict[str, Any]]) -> bytes:
    return json.dumps({
        "directed": False,
        "multigraph": False,
        "graph": {},
        "nodes": nodes,
        "links": links,
    }).encode()


BASE = written(NODES, LINKS)


@pytest.fixture
def base(tmp_path: Path) -> KnowledgeBase:
    made = make_root(tmp_path / "kb", BASE)
    sync(made)
    return made


def put(base: KnowledgeBase, content: bytes) -> None:
    base.project.graph_json.write_bytes(content)


def loaded(base: KnowledgeBase) -> dict[str, Any]:
    found: dict[str, Any] = json.loads(base.project.graph_json.read_bytes())
    return found


def triples(base: KnowledgeBase) -> set[tuple[str, str, str]]:
    return {(link["source"], link["relation"], link["target"]) for link in loaded(base)["links"]}


def digest(base: KnowledgeBase) -> str:
    with base.open("read") as store:
        return graph_digest(store)


def healthy(base: KnowledgeBase) -> None:
    report = check(base)
    assert report.healthy, report.findings


def test_a_refinement_outlives_a_new_file_that_knows_nothing_of_it(base: KnowledgeBase) -> None:
    apply(base, 'insert_edge("Cache", "serves", "Client")')
    export(base)
    node = {"id": "disk", "label": "Disk"}
    put(base, written([*NODES, node], LINKS))
    report = sync(base)
    assert (report.outcome, report.suspended) == ("rebased", ())
    export(base)
    assert ("cache", "serves", "client") in triples(base)
    assert node in loaded(base)["nodes"]
    healthy(base)


def test_a_dry_run_tells_the_same_and_changes_nothing(base: KnowledgeBase) -> None:
    apply(base, 'delete_edge("Client", "calls", "Server")')
    put(base, written(NODES[:1] + NODES[2:], LINKS[1:]))
    before, records = digest(base), len(base.records())
    told = sync(base, dry_run=True)
    assert (digest(base), len(base.records())) == (before, records)
    done = sync(base)
    assert [each.outcome for each in told.became] == [each.outcome for each in done.became] == ["already"]
    healthy(base)


def test_what_does_not_apply_any_more_is_suspended_and_named(base: KnowledgeBase) -> None:
    applied = apply(base, 'insert_edge("Cache", "serves", "Client")')
    put(base, written(NODES[:1] + NODES[2:], LINKS[1:]))
    report = sync(base)
    assert report.suspended == (applied.refinement.id,)
    (entry,) = conflicts(base)
    assert (entry.kind, entry.refinement) == ("target-missing", applied.refinement.id)
    assert any("resolve" in line for line in entry.commands)
    healthy(base)
    put(base, BASE)
    assert [each.id for each in sync(base).settled] == [entry.id]
    assert conflicts(base) == []
    export(base)
    assert ("cache", "serves", "client") in triples(base)
    healthy(base)


@pytest.mark.parametrize("keep", ["ours", "theirs", "drop"])
def test_a_conflict_is_resolved_by_a_word(base: KnowledgeBase, keep: Any) -> None:
    apply(base, 'insert_edge("Cache", "serves", "Client")')
    put(base, written(NODES[:1] + NODES[2:], LINKS[1:]))
    sync(base)
    (entry,) = conflicts(base)
    report = resolve_conflict(base, entry.id, keep, by="t")
    assert report.suspended == ()
    assert conflicts(base) == []
    assert [each.resolved for each in conflicts(base, everything=True)] == [keep]
    export(base)
    labels = {node["label"] for node in loaded(base)["nodes"]}
    assert ("Client" in labels) == (keep == "ours")
    healthy(base)
    with pytest.raises(NothingToDo):
        resolve_conflict(base, entry.id, keep, by="t")


def test_undoing_everything_in_any_order_gives_the_bytes_of_the_base(base: KnowledgeBase) -> None:
    ids = [
        apply(base, text, name=text).refinement.id
        for text in (
            'insert_edge("Cache", "serves", "Client")',
            'delete_edge("Client", "calls", "Server")',
            'replace_node("Server", "Backend")',
        )
    ]
    export(base)
    for refinement in (ids[1], ids[0], ids[2]):
        undo(base, [refinement], by="t")
        healthy(base)
    export(base)
    assert base.project.graph_json.read_bytes() == BASE


def test_an_undo_can_be_undone(base: KnowledgeBase) -> None:
    first = apply(base, 'insert_edge("Cache", "serves", "Client")').refinement.id
    before = digest(base)
    undone = undo(base, [first], by="t")
    assert base.log().refinement(first).state == "undone"
    with pytest.raises(NothingToDo):
        undo(base, [first], by="t")
    again = undo(base, [undone.id], by="t")
    assert (again.done, again.refinements) == ("applied", (first,))
    assert digest(base) == before
    healthy(base)
    with pytest.raises(UsageError):
        undo(base, ["nobody"], by="t")


def test_an_undo_that_would_change_others_names_them(base: KnowledgeBase) -> None:
    first = apply(base, 'insert_edge("Cache", "serves", "Proxy")').refinement.id
    second = apply(base, 'replace_node("Proxy", "Front")', name="p2").refinement.id
    before = digest(base)
    with pytest.raises(RebaseConflict, match=second):
        undo(base, [first], by="t")
    assert digest(base) == before
    report = undo(base, [first], by="t", cascade=True)
    assert report.refinements == (first, second)
    export(base)
    assert base.project.graph_json.read_bytes() == BASE
    healthy(base)
    again = undo(base, [report.id], by="t")
    assert again.refinements == (first, second)
    assert digest(base) == before
    healthy(base)


def test_a_branch_that_comes_back_is_known(base: KnowledgeBase) -> None:
    apply(base, 'replace_node("Server", "Backend")')
    export(base)
    main = base.project.graph_json.read_bytes()
    put(base, written([*NODES, {"id": "disk", "label": "Disk"}], LINKS))
    sync(base)
    other = digest(base)
    export(base)
    branch = base.project.graph_json.read_bytes()
    put(base, main)
    sync(base)
    export(base)
    assert base.project.graph_json.read_bytes() == main
    put(base, branch)
    sync(base)
    assert digest(base) == other
    healthy(base)


def test_a_store_is_rebuilt_after_a_rebase(base: KnowledgeBase) -> None:
    apply(base, 'replace_node("Server", "Backend")')
    export(base)
    put(base, written([*NODES, {"id": "disk", "label": "Disk"}], LINKS))
    sync(base)
    before = digest(base)
    assert rebuild(base).healthy
    assert digest(base) == before


def test_a_clone_of_file_and_log_alone_is_the_whole_store(base: KnowledgeBase, tmp_path: Path) -> None:
    first = apply(base, 'insert_edge("Cache", "serves", "Client")').refinement.id
    apply(base, 'replace_node("Server", "Backend")', name="p2")
    export(base)
    before = digest(base)
    clone = make_root(tmp_path / "clone", base.project.graph_json.read_bytes())
    shutil.copytree(base.project.log, clone.project.log)
    shutil.copy(base.project.sidecar, clone.project.sidecar)
    assert rebuild(clone).healthy
    assert digest(clone) == before
    assert sync(clone).outcome == "unchanged"
    undo(clone, list(clone.log().active()), by="t")
    export(clone)
    assert clone.project.graph_json.read_bytes() == BASE
    assert clone.log().refinement(first).state == "undone"
