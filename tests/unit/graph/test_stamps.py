"""The mark of an object that an export adds or changes names what the object is, however it is written."""

from __future__ import annotations

from deeprefine_graphdb.graph.texts import stamp

LINK = {"source": "a", "relation": "calls", "target": "b"}


def test_a_link_keeps_its_stamp_when_graphify_writes_its_true_ends_in_place() -> None:
    apart = {"source": "b", "target": "a", "_src": "a", "_tgt": "b", "relation": "calls"}
    assert stamp("r1.1", apart, kind="link") == stamp("r1.1", LINK, kind="link")


def test_other_ends_directions_and_relations_have_other_stamps() -> None:
    others = ({"source": "b", "target": "a"}, {"relation": "uses"}, {"target": "c"})
    stamps = {stamp("r1.1", {**LINK, **other}, kind="link") for other in ({}, *others)}
    assert len(stamps) == 1 + len(others)


def test_a_number_is_not_its_text_and_a_node_is_no_hyperedge() -> None:
    assert stamp("r1.1", {"id": 1}, kind="node") != stamp("r1.1", {"id": "1"}, kind="node")
    assert stamp("r1.1", {"id": "a"}, kind="node") != stamp("r1.1", {"id": "a"}, kind="hyperedge")
