"""The guard cuts a statement into the same pieces as the engine that runs it."""

from __future__ import annotations

import pytest
from hypothesis import HealthCheck, assume, given, settings
from hypothesis import strategies as st

from deeprefine_graphdb.model.errors import StatementError, UsageError
from deeprefine_graphdb.provenance.guard import check_reading
from deeprefine_graphdb.stores.embedded import EmbeddedStore

pytestmark = pytest.mark.engine

ON_ONE_STORE = settings(
    max_examples=150, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture]
)


@pytest.mark.parametrize(
    "text",
    [
        "MATCH (n:Entity) WHERE n.label = 'CREATE (x)' RETURN n.id; // DELETE",
        "MATCH (n:Entity)/* SET */RETURN count(n.id) AS `set`",
        "RETURN 'it\\' RETURN 1 ; SET n.a = 1 //' AS x",
        "RETURN {set: 1, merge: 2} AS m",
        "UNWIND [1, 2] AS x WITH x WHERE x > 1 RETURN x UNION ALL RETURN 3 AS x",
        "MATCH (a:Entity)-[r:RELATES*1..2]-(b:Entity) RETURN count(*) LIMIT 1",
        "MATCH (n:Query) WHERE EXISTS { MATCH (n)-[:HAS_TRACE]->(:Trace) } RETURN n.id ORDER BY n.id SKIP 1 LIMIT 1",
        "CALL show_tables() RETURN name",
        "CALL table_info('Entity') RETURN name",
        "MATCH (n:Entity) WHERE n.label =~ 'd.*' RETURN n.id",
    ],
)
def test_reading_statements_run(store: EmbeddedStore, text: str) -> None:
    assert store.query(check_reading(text).text, {}).columns


@ON_ONE_STORE
@given(text=st.text(st.characters(exclude_categories=["Cs"], exclude_characters="\0"), max_size=20))
def test_a_text_in_quotes_is_that_text_to_the_engine(store: EmbeddedStore, text: str) -> None:
    quoted = "'" + text.replace("\\", "\\\\").replace("'", "\\'") + "'"
    try:
        checked = check_reading(f"RETURN {quoted} AS x")
    except UsageError:
        assume(False)
    assert store.query(checked.text, {}).rows == [(text,)]


@ON_ONE_STORE
@given(soup=st.text(st.sampled_from("'\"`/*\\\n\r; SETn.=1,"), max_size=16))
def test_what_passes_is_one_reading_statement_or_an_error_to_the_engine(
    store: EmbeddedStore, soup: str
) -> None:
    """The store is open for reading, so a write that came through would be an error that says so."""
    try:
        checked = check_reading(f"MATCH (n:Query) RETURN n.id, {soup}")
    except UsageError:
        return
    said = ""
    try:
        store.query(checked.text, {})
    except StatementError as refused:
        said = refused.message.lower()
    assert "read-only" not in said
    assert "exactly one" not in said
