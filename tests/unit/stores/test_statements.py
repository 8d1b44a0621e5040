from __future__ import annotations

from typing import Any

import pytest

from deeprefine_graphdb.model.errors import StatementError
from deeprefine_graphdb.stores import statements

SOURCE = """// Say something
// on two lines.
// params: id STRING NOT NULL, n INT64, x DOUBLE, b BOOL, ids STRING[]
// columns: id STRING, n INT64
MATCH (e {id: $id}) // a comment; with a semicolon
RETURN e.id AS id, $n AS n
"""
GOOD: dict[str, Any] = {"id": "a", "n": 1, "x": 0.5, "b": True, "ids": ["a"]}


def test_a_file_is_read_into_purpose_parameters_columns_and_text() -> None:
    found = statements.parse("x", SOURCE)
    assert found.purpose == "Say something on two lines."
    assert found.params == {"id": "STRING", "n": "INT64", "x": "DOUBLE", "b": "BOOL", "ids": "STRING[]"}
    assert found.columns == ("id", "n")
    assert found.required == {"id"}
    assert found.text.startswith("MATCH (e {id: $id})")


@pytest.mark.parametrize(
    "source",
    [
        "MATCH (e) RETURN 1",
        "// A purpose.\n",
        "// A purpose.\nRETURN 1; RETURN 2",
        "// A purpose.\nRETURN 1;",
        "// A purpose.\n// params: id\nRETURN $id",
        "// A purpose.\n// params: id TEXT\nRETURN $id",
        "// A purpose.\n// params: id STRING, id STRING\nRETURN $id",
    ],
)
def test_a_file_that_is_not_laid_out_so_is_refused(source: str) -> None:
    with pytest.raises(StatementError):
        statements.parse("x", source)


def test_a_dialects_own_text_goes_before_the_common_one_and_ladybug_speaks_that_of_kuzu() -> None:
    assert statements.load("schema/begin", "ladybug") == statements.load("schema/begin", "kuzu")
    with pytest.raises(StatementError):
        statements.load("schema/begin", "neo4j")
    with pytest.raises(StatementError):
        statements.load("graph/nothing", "kuzu")
    assert "graph/entity" in set(statements.names("graph", "neo4j"))
    assert "schema/begin" not in set(statements.names("schema", "neo4j"))


def test_parameters_that_fit_pass() -> None:
    statement = statements.parse("x", SOURCE)
    statement.check(GOOD)
    statement.check(GOOD | {"n": None, "x": 3, "ids": [], "b": None})
    statement.check(GOOD | {"n": 2**63 - 1})


@pytest.mark.parametrize(
    "wrong",
    [
        pytest.param({"n": 2.7}, id="2.7 into INT64 becomes 3"),
        pytest.param({"n": 2.0}, id="a float that is whole"),
        pytest.param({"n": True}, id="a bool for a number"),
        pytest.param({"n": 2**63}, id="int of 2^63 is refused by the binding"),
        pytest.param({"id": "\ud800"}, id="lone surrogate in a str"),
        pytest.param({"ids": ["a", "\udfff"]}, id="lone surrogate in a list"),
        pytest.param({"ids": ["a", 1]}, id="int and str mixed in a column"),
        pytest.param({"ids": [None]}, id="NULL in a list"),
        pytest.param({"ids": ("a",)}, id="a tuple"),
        pytest.param({"ids": [{"b": 1, "a": 2}]}, id="rows of maps"),
        pytest.param({"id": 1}, id="a number for a text"),
        pytest.param({"id": None}, id="NULL for a key"),
        pytest.param({"b": 1}, id="a number for a bool"),
        pytest.param({"x": "1"}, id="a text for a number"),
        pytest.param({"other": 1}, id="an unknown parameter is ignored by Ladybug"),
    ],
)
def test_parameters_that_do_not_fit_are_refused(wrong: dict[str, Any]) -> None:
    with pytest.raises(StatementError):
        statements.parse("x", SOURCE).check(GOOD | wrong)


@pytest.mark.parametrize("missing", sorted(GOOD))
def test_a_missing_parameter_is_refused_and_not_taken_for_null(missing: str) -> None:
    with pytest.raises(StatementError, match=f"parameter {missing}, which is missing"):
        statements.parse("x", SOURCE).check({key: value for key, value in GOOD.items() if key != missing})


@pytest.mark.parametrize(
    ("text", "count"),
    [
        ("", 0),
        (" ; ;", 0),
        ("RETURN 1", 1),
        ("RETURN 1;", 1),
        ("RETURN 1; RETURN 2", 2),
        ("RETURN ';' AS a", 1),
        ('RETURN "a\\";b" AS a', 1),
        ("RETURN 1 AS `a;b`", 1),
        ("RETURN 1 // ; RETURN 2\n", 1),
        ("RETURN /* ; */ 1", 1),
        ("RETURN '//' AS a; RETURN 2", 2),
        ("RETURN 'it\\'s' AS a; RETURN '", 2),
    ],
)
def test_statements_are_counted_outside_of_quotes_and_comments(text: str, count: int) -> None:
    assert statements.statement_count(text) == count
