"""The column ``delete`` of the table of outcomes; each test is named after its row."""

from __future__ import annotations

from typing import Any

import pytest

from deeprefine_graphdb.graph.derive import Given, derive
from deeprefine_graphdb.graph.view import GraphView
from tests.unit.graph.rebased import (
    DELETE,
    MERGE,
    NODES,
    USES,
    answer,
    but,
    edges,
    made_on,
    only,
    rebase,
    without,
    words,
)
from tests.unit.graph.small import graph, link, node

TRIPLE = ("a", "uses", "b")
FIRST = link("a", "uses", "b", source_file="a.py", source_location="L1")
SECOND = link("a", "uses", "b", source_file="a.py", source_location="L20")
ELSEWHERE = link("a", "uses", "b", source_file="other.py", source_location="L20")


def of_two(number: int, first: dict[str, Any], second: dict[str, Any]) -> str:
    """Ask for the deletion of one of two equal edges."""
    key = GraphView(graph(NODES, [first, second])).edges_between("a", "b")[number].key
    return f'delete_edge("A", "uses", "B", "{key}")'


def test_unchanged_or_attributes_only_delete() -> None:
    derived = rebase(DELETE, NODES, [{**USES, "source_location": "L9"}])
    assert (only(derived).outcome, only(derived).note) == ("reapplied", "")
    assert edges(derived) == []


@pytest.mark.parametrize(
    ("now", "said"),
    [
        ([{**USES, "confidence": "EXTRACTED"}], "it is EXTRACTED and was INFERRED"),
        ([USES, {**USES, "weight": 2}], "there are 2 of it"),
    ],
)
def test_evidence_got_stronger_delete(now: list[dict[str, Any]], said: str) -> None:
    derived = rebase(DELETE, NODES, now)
    assert only(derived).outcome == "reapplied"
    assert said in only(derived).note
    assert edges(derived) == []


def test_evidence_comes_from_the_source_itself_now_delete() -> None:
    before = (NODES, [{**USES, "_origin": "semantic"}])
    derived = rebase(DELETE, NODES, [{**USES, "_origin": "ast"}], before=before)
    assert "the source code itself has it" in only(derived).note


def test_other_id_one_candidate_delete() -> None:
    derived = rebase(DELETE, but(NODES, "a", id="a2"), [{**USES, "source": "a2"}])
    assert only(derived).outcome == "reapplied"
    assert only(derived).note == "'A' has the id 'a2' now."
    assert edges(derived) == []


def test_other_label_same_id_delete() -> None:
    derived = rebase(DELETE, but(NODES, "a", label="Other"), [USES])
    assert only(derived).outcome == "reapplied"
    assert "is called 'Other' now" in only(derived).note
    assert edges(derived) == []


def test_target_gone_delete() -> None:
    for gone in ("a", "b"):
        derived = rebase(DELETE, without(NODES, gone), [])
        assert only(derived).outcome == "already"
        assert "has gone, and the edge with it" in only(derived).note
        assert not derived.suspended


def test_id_gone_several_candidates_delete() -> None:
    twins = [node(each, "A", source_file="a.py") for each in ("a2", "a3")]
    nodes = [*without(NODES, "a"), *twins]
    links = [{**USES, "source": "a2"}]
    stuck = only(rebase(DELETE, nodes, links))
    assert stuck.outcome == "target-ambiguous"
    assert edges(rebase(DELETE, nodes, links, given=answer(stuck, "ours", "a2"))) == []
    none_of_them = rebase(DELETE, nodes, links, given=answer(stuck, "ours"))
    assert only(none_of_them).outcome == "already"
    assert edges(none_of_them) == [("a2", "uses", "b")]


def test_label_shared_now_id_lives_delete() -> None:
    derived = rebase(DELETE, [*NODES, node("a2", "A", source_file="a.py")], [USES])
    assert only(derived).outcome == "reapplied"
    assert edges(derived) == []


def test_id_is_another_entity_now_delete() -> None:
    nodes = but(NODES, "a", label="Z", source_file="z.py")
    stuck = only(rebase(DELETE, nodes, [USES]))
    assert stuck.outcome == "identity-changed"
    assert edges(rebase(DELETE, nodes, [USES], given=answer(stuck, "ours"))) == []


def test_already_so_by_others_delete() -> None:
    derived = rebase(DELETE, NODES, [link("a", "calls", "b")])
    assert only(derived).outcome == "already"
    assert edges(derived) == [("a", "calls", "b")]


def test_our_echo_survived_delete() -> None:
    first, again = rebase(DELETE, NODES, [USES]), rebase(DELETE, NODES, [USES])
    assert first.effects == again.effects
    assert first.view.overlay == again.view.overlay


def test_undone_from_outside_delete() -> None:
    derived = rebase(DELETE, NODES, [USES], given=Given(undone_outside=frozenset({"r1.1"})))
    assert only(derived).outcome == "reapplied"
    assert "`deeprefine-db undo r1`" in only(derived).note
    assert edges(derived) == []


def test_equal_triples_where_it_was_one_delete() -> None:
    derived = rebase(DELETE, NODES, [USES, {**USES, "weight": 2}, link("a", "calls", "b")])
    assert only(derived).outcome == "reapplied"
    assert edges(derived) == [("a", "calls", "b")]


@pytest.mark.parametrize(
    ("now", "left"),
    [
        ([SECOND, FIRST], [FIRST]),
        ([{**FIRST, "weight": 5}, {**SECOND, "weight": 6}], [{**FIRST, "weight": 5}]),
        ([{**ELSEWHERE, "weight": 1}, {**SECOND, "source_location": "L7"}], [{**ELSEWHERE, "weight": 1}]),
        ([FIRST], [FIRST]),
        ([], []),
    ],
    ids=["exact text", "file and location", "file", "only the other is left", "none is left"],
)
def test_equal_triples_by_fingerprint_delete(now: list[dict[str, Any]], left: list[dict[str, Any]]) -> None:
    derived = rebase(of_two(1, FIRST, SECOND), NODES, now, before=(NODES, [FIRST, SECOND]))
    assert only(derived).outcome == ("reapplied" if len(now) > len(left) else "already")
    kept = derived.view.edges_between("a", "b")
    assert [derived.view.object_text(edge) for edge in kept] == _texts(left)


def _texts(links: list[dict[str, Any]]) -> list[str]:
    view = GraphView(graph(NODES, links))
    return [view.object_text(edge) for edge in view.edges_between("a", "b")]


def test_equal_triples_that_no_fingerprint_tells_apart_delete() -> None:
    asked, before = of_two(1, FIRST, SECOND), (NODES, [FIRST, SECOND])
    now = [{**FIRST, "source_location": "L8"}, {**SECOND, "source_location": "L9"}]
    stuck = only(rebase(asked, NODES, now, before=before))
    assert stuck.outcome == "edge-ambiguous"
    assert edges(rebase(asked, NODES, now, before=before, given=answer(stuck, "ours"))) == []
    key = GraphView(graph(NODES, now)).edges_between("a", "b")[0].key
    one = rebase(asked, NODES, now, before=before, given=answer(stuck, "ours", key))
    assert edges(one) == [TRIPLE]


def test_equal_triples_without_a_file_are_not_told_apart_by_its_absence_delete() -> None:
    bare = [link("a", "uses", "b", weight=1), link("a", "uses", "b", weight=2)]
    derived = rebase(of_two(1, *bare), NODES, [{**bare[0], "weight": 3}], before=(NODES, bare))
    assert only(derived).outcome == "edge-ambiguous"


def test_equal_to_the_letter_are_told_apart_by_key_delete() -> None:
    derived = rebase(of_two(1, USES, USES), NODES, [USES, USES], before=(NODES, [USES, USES]))
    assert [edge.key.partition("#")[2] for edge in derived.view.overlay.edges.values()] == ["1"]


def test_both_ends_are_one_node_now_delete() -> None:
    base = graph(NODES, [USES])
    first, second = made_on(base, DELETE, MERGE)
    derived = derive(base, [second, first])
    assert words(derived) == ["reapplied", "already"]
    assert derived.effects[1].note == "Both ends are one entity now."


def test_needs_an_end_of_a_suspended_refinement_delete() -> None:
    asked = (
        'insert_edge("A", "calls", "New")|insert_edge("B", "is", "New")',
        'delete_edge("B", "is", "New")',
    )
    derived = rebase(asked, without(NODES, "a"), [])
    assert words(derived) == ["target-missing", "held", "depends-on"]
    assert derived.effects[2].cause == "r1"
    assert words(rebase(asked, NODES, [])) == ["reapplied", "reapplied", "reapplied"]


def test_resolved_theirs_or_drop_delete() -> None:
    nodes = but(NODES, "a", label="Z", source_file="z.py")
    stuck = only(rebase(DELETE, nodes, [USES]))
    for keep in ("theirs", "drop"):
        derived = rebase(DELETE, nodes, [USES], given=answer(stuck, keep))
        assert only(derived).outcome == "dropped"
        assert edges(derived) == [TRIPLE]
