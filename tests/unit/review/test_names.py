"""Judging names: broad, generic, mentioned."""

from __future__ import annotations

import pytest

from deeprefine_graphdb.model.graph import Entity
from deeprefine_graphdb.retrieval.sources import Excerpt
from deeprefine_graphdb.review.names import is_broad, is_generic, mention


@pytest.mark.parametrize(
    "name", ["main()", "run()", "train()", "test()", "setup()", "main", ".run()", "Main()"]
)
def test_bare_names_of_everything_are_broad(name: str) -> None:
    assert is_broad(name)


@pytest.mark.parametrize("name", ["app.py::main()", "run_server()", "Trainer", "mainly", "setup.py"])
def test_names_that_say_more_are_not_broad(name: str) -> None:
    assert not is_broad(name)


@pytest.mark.parametrize(
    "name", ["unknown", "N/A", "none", "?", "???", "", "  ", "'unknown'", "[None]", "null", "-"]
)
def test_names_that_say_nothing_are_generic(name: str) -> None:
    assert is_generic(name)


@pytest.mark.parametrize(
    "name", ["unknown_host()", "NoneType", "Nullable", "Other Systems", "Node", "object", "依赖", "x"]
)
def test_names_that_say_something_are_not_generic(name: str) -> None:
    assert not is_generic(name)


def text(*lines: str) -> Excerpt:
    return Excerpt("a.py", 10, 10, lines)


def named(label: str, file_type: str = "code", source_file: str = "b.py") -> Entity:
    return Entity(id="x", label=label, file_type=file_type, source_file=source_file)


@pytest.mark.parametrize(
    ("line", "entity", "found"),
    [
        ("value = get_db()", named("get_db()"), True),
        ("value = db.connect(1)", named(".connect()"), True),
        ("value = get_dbs()", named("get_db()"), False),
        ("response = 1", named("Response"), False),
        ("return Response()", named("Response"), True),
        ("the answer uses Event Sourcing here", named("event sourcing", "concept"), True),
        ("x = 1", named("x"), False),
        ("from shop import stock", named("stock.py", source_file="shop/stock.py"), True),
        ("stock = 3", named("stock.py", source_file="shop/stock.py"), False),
        ("see stock.py", named("stock.py", source_file="shop/stock.py"), True),
        ("这里有依赖关系", named("依赖", "concept"), False),
        ("这里 依赖 关系", named("依赖", "concept"), True),
    ],
)
def test_a_text_mentions_an_entity_by_its_name_as_a_word(line: str, entity: Entity, found: bool) -> None:
    assert (mention(text("first", line), entity.label, entity) == 11) is found


def test_a_name_may_run_over_two_lines() -> None:
    assert mention(text("about event", "sourcing", "x"), "Event Sourcing") == 10
    assert mention(text(), "Event Sourcing") is None
