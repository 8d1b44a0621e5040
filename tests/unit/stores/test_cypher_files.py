"""The law of cypher/: every header matches its text, and no statement does what the engines cannot bear."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from deeprefine_graphdb.model.graph import Alias, Edge, Entity, Loose, Names
from deeprefine_graphdb.model.write import StoreState
from deeprefine_graphdb.stores import rows, schema, statements

CYPHER = Path(__file__).parents[3] / "cypher"
FILES = sorted(CYPHER.rglob("*.cypher"))
WRITES = re.compile(r"\b(CREATE|MERGE|SET)\b")
IN_TRANSACTION = [file for file in FILES if file.parent.name in {"graph", "provenance"}]
SETWISE = {
    "edges_move_out", "edges_move_in", "edges_remake_out", "edges_remake_in"
}  # fmt: skip


def statement(file: Path) -> statements.StatementText:
    return statements.parse(file.stem, file.read_text(encoding="utf-8"))


def code(file: Path) -> str:
    return statements.without_quoted(statement(file).text)


def by_name(file: Path) -> str:
    return f"{file.parent.name}/{file.name}"


all_files = pytest.mark.parametrize("file", FILES, ids=by_name)
transaction_files = pytest.mark.parametrize("file", IN_TRANSACTION, ids=by_name)


@all_files
def test_the_header_names_exactly_the_parameters_of_the_text(file: Path) -> None:
    assert set(re.findall(r"\$(\w+)", code(file))) == set(statement(file).params)


@all_files
def test_the_header_names_exactly_the_columns_that_are_returned(file: Path) -> None:
    found = statement(file)
    returned = re.split(r"\bRETURN\b(?:\s+DISTINCT\b)?", code(file))
    if len(returned) == 1:
        assert found.columns == ()
        return
    body = re.split(r"\b(?:ORDER BY|SKIP|LIMIT|UNION)\b", returned[-1])[0]
    names = [re.sub(r"(?s).*\bAS\s+", "", item).strip() for item in _split_commas(body)]
    assert tuple(names) == found.columns


@all_files
def test_a_file_holds_one_statement_with_a_purpose(file: Path) -> None:
    assert statement(file).purpose.split(" defaults: ")[0].endswith(".")


@all_files
def test_whole_nodes_are_never_returned(file: Path) -> None:
    """Trap: whole nodes in RETURN have other keys on each engine."""
    for _, body in re.findall(r"\b(RETURN)\b(.*)", code(file), re.DOTALL):
        items = _split_commas(re.split(r"\b(?:ORDER BY|SKIP|LIMIT)\b", body)[0])
        variables = set(re.findall(r"[(\[](\w+)(?=[:)\]])", code(file)))
        assert not [item for item in items if item.strip().split(" AS ")[0].strip() in variables]


@all_files
def test_nothing_is_ever_deleted(file: Path) -> None:
    """Traps: insert an edge, delete it, checkpoint; DETACH DELETE after deleting some of the node's edges."""
    assert not re.search(r"\b(DELETE|DETACH|REMOVE|DROP)\b", code(file))


@all_files
def test_no_extension_is_used(file: Path) -> None:
    """Trap: FTS drops digits, HNSW vectors cannot be SET, Ladybug bundles no extension."""
    assert not re.search(
        r"\b(INSTALL|LOAD|EXTENSION|QUERY_FTS\w*|QUERY_VECTOR\w*)\b", code(file), re.IGNORECASE
    )


@transaction_files
def test_a_statement_inside_a_transaction_returns_no_rows(file: Path) -> None:
    if WRITES.search(code(file)):
        assert "RETURN" not in code(file)
        assert statement(file).columns == ()


@transaction_files
def test_a_relationship_is_set_with_both_ends_and_its_key_bound(file: Path) -> None:
    """Trap: SETting own uncommitted edges without both ends bound misses them or writes others."""
    text = code(file)
    if "SET" not in text or not re.search(r"\[r?:", text):
        return
    if file.stem in SETWISE:
        assert "before the first statement of its transaction that creates" in statement(file).purpose
        assert re.search(r"\]->|<-\[", text)
        return
    assert re.search(r"\(:\w+ \{id: \$\w+\}\)-\[r:\w+\]->\(:\w+ \{id: \$\w+\}\)", text)
    assert "r.key = $key" in text


@transaction_files
def test_a_relationship_is_created_between_ends_bound_by_key(file: Path) -> None:
    text = code(file)
    if "CREATE" in text:
        for variable in re.findall(r"MATCH \((\w*)", text):
            assert re.search(rf"MATCH \({variable}:\w+ \{{\w+: \$\w+\}}\)", text)
        assert "UNWIND" not in text


@transaction_files
def test_a_key_that_is_matched_or_made_is_never_null(file: Path) -> None:
    if file.parent.name == "graph":
        keys = set(re.findall(r"\{(?:id|key|norm): \$(\w+)", code(file)))
        assert keys <= statement(file).required


def test_no_checkpoint_outside_the_making_of_a_generation() -> None:
    found = [by_name(file) for file in FILES if "CHECKPOINT" in code(file).upper().split()]
    assert found == ["schema/checkpoint.kuzu.cypher"]


def test_no_rows_of_maps_are_passed() -> None:
    """Trap: UNWIND rows whose dicts have other key orders swap values silently."""
    assert {kind for file in FILES for kind in statement(file).params.values()} <= set(statements.TYPES)
    assert not [file for file in FILES if re.search(r"UNWIND \$", code(file))]


def test_the_copy_of_a_table_names_its_columns_in_the_schemas_order() -> None:
    """Trap: COPY maps columns by position."""
    tables = [(table.name, table.copy, table.columns) for table in schema.node_tables().values()]
    tables += [(table.name, table.copy, table.columns) for table in schema.rel_tables().values()]
    for name, copy, columns in tables:
        text = statements.load(copy, "kuzu").text
        assert text.startswith(f"COPY {name} ")
        listed = re.match(r"COPY \w+ \(([^)]*)\) FROM", text)
        assert ([column.strip() for column in listed[1].split(",")] if listed else []) == list(columns)


def test_a_table_is_read_for_a_fold_in_the_schemas_order() -> None:
    for node in schema.node_tables().values():
        assert statements.load(node.read, "kuzu").columns == tuple(node.columns)
    for rel in schema.rel_tables().values():
        assert statements.load(rel.read, "kuzu").columns == ("from_key", "to_key", *rel.columns)


@pytest.mark.parametrize(
    ("name", "model", "own"),
    [
        ("Entity", Entity, rows.ENTITY_COLUMNS),
        ("Loose", Loose, rows.LOOSE_COLUMNS),
        ("Label", Names, ("norm", "ids", "labels", "files")),
        ("Alias", Alias, ("norm", "ids")),
    ],
)
def test_a_table_has_the_columns_of_its_model(name: str, model: type[Entity], own: tuple[str, ...]) -> None:
    assert tuple(schema.node_tables()[name].columns) == own
    assert set(own) == set(model.model_fields)


def test_edges_and_the_state_have_the_columns_of_their_models() -> None:
    assert tuple(schema.rel_tables()["RELATES", "Entity", "Entity"].columns) == rows.EDGE_COLUMNS
    assert set(rows.EDGE_COLUMNS) == set(Edge.model_fields)
    assert tuple(schema.node_tables()["Store"].columns) == ("key", *rows.STATE_COLUMNS)
    assert set(rows.STATE_COLUMNS) == set(StoreState.model_fields)


def _split_commas(text: str) -> list[str]:
    parts, depth, start = [], 0, 0
    for at, char in enumerate(text):
        depth += char in "([{"
        depth -= char in ")]}"
        if char == "," and not depth:
            parts.append(text[start:at])
            start = at + 1
    return [*parts, text[start:]]
