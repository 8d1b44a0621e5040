"""What an apply, an undo and a redo may do to other refinements, on a real store: done and said, or refused by name."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from deeprefine_graphdb.model.errors import ActionRefused, NothingToDo, RebaseConflict
from deeprefine_graphdb.project.conflicts import conflicts, resolve_conflict
from deeprefine_graphdb.project.knowledge_base import KnowledgeBase
from deeprefine_graphdb.project.sync import sync
from deeprefine_graphdb.project.undo import undo
from tests.support.derived import assert_derived
from tests.support.jobs import apply, make_root

pytestmark = pytest.mark.engine
CONFLICT = 4


def node(entity_id: str, label: str) -> dict[str, str]:
    return {"id": entity_id, "label": label, "source_file": f"{entity_id}.py"}


ALL = [node("a", "A"), node("b", "B"), node("c", "C"), node("x", "X")]
WITHOUT_X = ALL[:3]


def written(nodes: list[dict[str, str]]) -> bytes:
    graph: dict[str, Any] = {"directed": False, "multigraph": False, "graph": {}, "nodes": nodes, "links": []}
    return json.dumps(graph).encode()


@pytest.fixture
def base(tmp_path: Path) -> KnowledgeBase:
    made = make_root(tmp_path / "kb", written(ALL))
    sync(made)
    return made


def put(base: KnowledgeBase, nodes: list[dict[str, str]]) -> None:
    base.project.graph_json.write_bytes(written(nodes))
    sync(base)
    assert_derived(base)


def applied(base: KnowledgeBase, answer: str) -> str:
    return apply(base, answer, name=answer).refinement.id


def outcomes(base: KnowledgeBase, refinement: str) -> list[str]:
    return [effect.outcome for effect in base.log().effects_of(refinement)]


def refused(base: KnowledgeBase, named: str, *match: str) -> None:
    """Hold that an undo or redo ends with a conflict that names these, and leaves all as it was."""
    before, records = assert_derived(base), len(base.records())
    with pytest.raises(RebaseConflict) as raised:
        undo(base, [named], by="t")
    assert raised.value.exit_code == CONFLICT
    assert all(each in raised.value.message for each in match), raised.value.message
    assert (assert_derived(base), len(base.records())) == (before, records)


def test_an_apply_that_cannot_be_carried_out_is_refused(base: KnowledgeBase) -> None:
    before = assert_derived(base)
    with pytest.raises(ActionRefused) as raised:
        applied(base, 'delete_edge("A", "calls", "B")')
    assert raised.value.exit_code == CONFLICT
    assert assert_derived(base) == before


def test_an_apply_changes_no_outcome_of_others_not_even_a_merge_of_what_they_miss(
    base: KnowledgeBase,
) -> None:
    first = applied(base, 'insert_edge("A", "calls", "X")')
    put(base, WITHOUT_X)
    assert outcomes(base, first) == ["target-missing"]
    applied(base, 'insert_edge("A", "is", "X")')
    applied(base, 'replace_node("X", "B")')
    assert outcomes(base, first) == ["target-missing"]
    assert_derived(base)


def test_a_redo_that_does_not_apply_any_more_is_refused_naming_it(base: KnowledgeBase) -> None:
    first = applied(base, 'replace_node("A", "Anew")')
    undone = undo(base, [first], by="t")
    applied(base, 'insert_edge("B", "is", "Anew")')
    refused(base, undone.id, first, "Anew")


def test_a_redo_that_brings_another_into_conflict_is_refused_naming_that(base: KnowledgeBase) -> None:
    merge = applied(base, 'replace_node("X", "B")')
    undone = undo(base, [merge], by="t")
    rename = applied(base, 'replace_node("X", "Xnew")')
    put(
        base,
        [node("a", "A"), {**node("b", "Other"), "source_file": "o.py"}, node("c", "C"), node("n", "Xnew")],
    )
    assert outcomes(base, rename) == ["already"]
    refused(base, undone.id, rename, "identity-changed")


def test_a_redo_that_has_another_do_otherwise_is_refused_naming_that(base: KnowledgeBase) -> None:
    merge = applied(base, 'replace_node("X", "B")')
    undone = undo(base, [merge], by="t")
    other = applied(base, 'replace_node("C", "X")')
    put(base, WITHOUT_X)
    (conflict,) = conflicts(base)
    resolve_conflict(base, conflict.id, "theirs", by="t")
    assert outcomes(base, other) == ["dropped"]
    refused(base, undone.id, other, "dropped", "reapplied")


def test_a_redo_that_heals_another_or_takes_an_insert_over_is_done_and_said(base: KnowledgeBase) -> None:
    merge = applied(base, 'replace_node("X", "B")')
    undone = undo(base, [merge], by="t")
    insert = applied(base, 'insert_edge("A", "calls", "X")')
    put(base, WITHOUT_X)
    assert outcomes(base, insert) == ["target-missing"]
    report = undo(base, [undone.id], by="t")
    assert [(each.refinement, each.outcome) for each in report.became] == [(insert, "reapplied")]
    assert conflicts(base) == []
    assert_derived(base)
    with pytest.raises(NothingToDo):
        undo(base, [undone.id], by="t")
    refused(base, merge, insert, "target-missing")


def test_a_suspended_refinement_is_undone_whatever_that_does_to_others(base: KnowledgeBase) -> None:
    insert = applied(base, 'insert_edge("A", "calls", "X")')
    merge = applied(base, 'replace_node("X", "B")|replace_node("C", "Cnew")')
    put(base, [node("a", "A"), node("b", "B"), {**node("c", "Other")}])
    assert (outcomes(base, insert), outcomes(base, merge)) == (["reapplied"], ["held", "label-changed"])
    report = undo(base, [merge], by="t")
    assert [(each.refinement, each.outcome) for each in report.became] == [(insert, "target-missing")]
    assert_derived(base)
    refused(base, report.id, merge, "is called")


def test_a_cascade_takes_all_along_and_is_undone_as_a_whole(base: KnowledgeBase) -> None:
    first = applied(base, 'insert_edge("A", "calls", "New")')
    second = applied(base, 'replace_node("New", "Newer")')
    third = applied(base, 'replace_node("Newer", "Newest")')
    apart = applied(base, 'insert_edge("B", "is", "C")')
    before = assert_derived(base)
    refused(base, first, second)
    report = undo(base, [first], by="t", cascade=True)
    assert report.refinements == (first, second, third)
    assert base.log().active() == (apart,)
    assert_derived(base)
    assert undo(base, [report.id], by="t").refinements == (first, second, third)
    assert base.log().active() == (apart, first, second, third)
    assert_derived(base)
    undo(base, [apart], by="t")
    applied(base, 'insert_edge("B", "is again", "C")')
    assert assert_derived(base) != before
