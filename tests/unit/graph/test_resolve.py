from __future__ import annotations

import pytest

from deeprefine_graphdb.graph.naming import display_name
from deeprefine_graphdb.graph.resolve import UnknownName, resolve
from deeprefine_graphdb.model.errors import AmbiguousName
from tests.unit.graph.small import link, node, plan, view

NAMESAKES = [
    node("a", "run()", source_file="src/one.py"),
    node("b", "run()", source_file="src/two.py"),
    node("c", "Café", source_file="src/two.py"),
    node("d", "b", source_file="src/three.py"),
    node("e", "two.py::run()", source_file="docs/x.md"),
    node("f", None, name="nameless"),
    node(7, "seven"),
]


@pytest.mark.parametrize(
    ("name", "entity_id"),
    [
        ("a", "a"),
        ("b", "b"),  # the exact id wins over the label of d
        ("Café", "c"),
        ("cafe", "c"),
        ("CAFÉ", "c"),
        ("one.py::run()", "a"),
        ("src/one.py::run()", "a"),
        ("src\\one.py::run()", "a"),
        ("two.py::run()", "e"),  # a literal label wins over the split reading
        ("src/two.py::run()", "b"),
        ("nameless", "f"),
        ("json:7", "json:7"),
        ("Seven", "json:7"),
    ],
)
def test_a_name_resolves_by_the_first_tier_that_knows_it(name: str, entity_id: str) -> None:
    assert resolve(view(NAMESAKES, []), name).id == entity_id


def test_a_shared_label_is_refused_with_names_that_resolve() -> None:
    on = view(NAMESAKES, [])
    with pytest.raises(AmbiguousName) as refused:
        resolve(on, "run()")
    assert [resolve(on, name).id for name in refused.value.candidates] == ["a", "b"]


def test_a_file_part_is_matched_on_whole_segments_only() -> None:
    with pytest.raises(UnknownName):
        resolve(view(NAMESAKES, []), "ne.py::run()")


def test_a_whole_path_wins_over_one_that_ends_with_it() -> None:
    on = view([node("a", "f", source_file="x.py"), node("b", "f", source_file="lib/x.py")], [])
    assert resolve(on, "x.py::f").id == "a"


def test_an_unknown_name_is_refused() -> None:
    with pytest.raises(UnknownName, match="'nobody'"):
        resolve(view(NAMESAKES, []), "nobody")


def test_a_former_label_resolves_after_a_rename_and_through_a_merge() -> None:
    on = view([node("a", "Old"), node("b", "Other")], [link("a", "r", "b")])
    plan(on, 'replace_node("Old", "New")')
    assert resolve(on, "old").id == "a"
    plan(on, 'replace_node("New", "Other")', refinement_id="r2")
    assert resolve(on, "Old").id == "b"
    assert resolve(on, "New").id == "b"


@pytest.mark.parametrize(
    ("entity_id", "name"),
    [
        ("c", "Café"),
        ("a", "src/one.py::run()"),
        ("b", "src/two.py::run()"),
        ("d", "src/three.py::b"),
        ("e", "two.py::run()"),
    ],
)
def test_the_name_shown_to_a_model_resolves_back(entity_id: str, name: str) -> None:
    on = view(NAMESAKES, [])
    entity = on.entity(entity_id)
    assert entity is not None
    assert display_name(on, entity) == name
    assert resolve(on, name).id == entity_id


def test_indistinguishable_namesakes_are_shown_by_id() -> None:
    on = view([node("a", "run()", source_file="x.py"), node("b", "run()", source_file="x.py")], [])
    entity = on.entity("b")
    assert entity is not None
    assert display_name(on, entity) == "b"
