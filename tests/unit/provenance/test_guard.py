"""The ``cypher`` command lets reading through and nothing else, however it is dressed up."""

from __future__ import annotations

import re

import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from deeprefine_graphdb.model.errors import UsageError
from deeprefine_graphdb.provenance.guard import REFUSED, STARTS, check_reading

READING = [
    "MATCH (n:Entity) RETURN n.id LIMIT 5",
    "match (n) where n.label = 'CREATE (x)' return n.id;",
    "OPTIONAL MATCH (a)-[r:RELATES]->(b) RETURN r.relation, count(*) ORDER BY count(*) DESC SKIP 1 LIMIT 2",
    "UNWIND [1, 2] AS x WITH x WHERE x > 1 RETURN x UNION ALL RETURN 3 AS x",
    "RETURN 1 AS x UNION RETURN 2 AS x UNION DISTINCT MATCH (n) RETURN n.id AS x",
    "MATCH (n:Set)-[:CREATE|DELETE]->(:Drop) WHERE n.set = $create AND n.`merge` = 1 RETURN n.load AS `copy`",
    "RETURN {set: 1, merge: 2} AS m",
    'MATCH (n) WHERE n.label STARTS WITH "it\'s SET" RETURN n.id // DELETE everything',
    "/* CREATE (:X) */ MATCH (n) RETURN n.id",
    "MATCH (n) WHERE EXISTS { MATCH (n)-[:OF]->(:Action) } RETURN COUNT { MATCH (n)--(m) }",
    "CALL show_tables() RETURN *",
    "CALL table_info('Entity') RETURN name",
    "CALL db.labels() YIELD label RETURN label",
    "CALL `db`.`relationshipTypes`() YIELD relationshipType RETURN relationshipType",
    "MATCH (a) CALL (a) { MATCH (a)-[r]->(b) RETURN count(r) AS c } RETURN a.id, c",
    "MATCH (n) RETURN date.truncate('day', date()), n.größe, 1.5e3, 0x1F, .5",
    "MATCH (a)-[*1..2]-(b) RETURN a.created_by, b.offset, a.settings",
    "MATCH (n) WHERE n.label =~ 'a\\\\d+' RETURN n.id",
    "MATCH (n) WHERE n.a = 'it\\' ; SET n.a = 1 //' RETURN n.id",
    "MATCH (n) WITH n.createdAt AS start, n.reset AS stop RETURN start, stop",
]

REFUSING = [
    "CREATE (:X)",
    "MATCH (n) SET n.a = 1",
    "MATCH (n)\u00a0SET\u2003n.a = 1",
    "MATCH (n) DETACH DELETE n",
    "MATCH (n) REMOVE n.a",
    "MERGE (n:X {id: 1}) RETURN n",
    "MATCH (n) FOREACH (x IN [1] | SET n.a = x)",
    "COPY (MATCH (n) RETURN n.id) TO '/tmp/x.csv'",
    "COPY Entity FROM 'x.csv'",
    "EXPORT DATABASE '/tmp/x'",
    "IMPORT DATABASE '/tmp/x'",
    "LOAD FROM '/etc/passwd' RETURN *",
    "LOAD CSV FROM 'file:///etc/passwd' AS l RETURN l",
    "MATCH (n) LOAD CSV FROM 'http://example.org' AS l RETURN l",
    "INSTALL httpfs",
    "LOAD EXTENSION httpfs",
    "CALL threads=5",
    "CALL show_tables=1",
    "CALL apoc.load.json('http://example.org') YIELD value RETURN value",
    "CALL dbms.setConfigValue('a', 'b')",
    "CALL force_checkpoint_on_close=true",
    "RETURN apoc.load.json('http://example.org')",
    "RETURN `apoc`.load.json('x')",
    "RETURN apoc /* */ . static . get('x')",
    "MATCH (n) RETURN n.id; MATCH (m) DELETE m",
    "RETURN 1; RETURN 2",
    "EXPLAIN CREATE (:X)",
    "PROFILE MATCH (n) SET n.a = 1",
    "EXPLAIN MATCH (n) RETURN n",
    "ALTER TABLE Entity DROP label",
    "DROP TABLE Entity",
    "USE other MATCH (n) RETURN n",
    "ATTACH 'x' AS y (dbtype kuzu)",
    "BEGIN TRANSACTION",
    "COMMIT",
    "ROLLBACK",
    "CHECKPOINT",
    "TERMINATE TRANSACTION 'x'",
    "SHOW USERS",
    "RETURN 1 AS x UNION SHOW USERS",
    "RETURN 1 AS x UNION ALL CHECKPOINT",
    "COMMENT ON TABLE Entity IS 'x'",
    "START DATABASE x",
    "GRANT ROLE x TO y",
    "RENAME USER a TO b",
    "CYPHER 5 MATCH (n) RETURN n",
    "",
    " ; ",
    "// only a comment",
    "MATCH (n) RETURN '\\u0027 SET n.a = 1 //'",
    "MATCH (n) WHERE n.a = \\u0027x\\u0027 RETURN n",
    "RETURN 1CREATE (:X)",
    "RETURN 1.CREATE (:X)",
    "RETURN 0x1SET",
    "MATCH (n) \u017fET n.a = 1",
    "MATCH (n) ſet n.a = 1",
    "MATCH (n) éSET n.a = 1",
    "MATCH (n)\u200bSET n.a = 1",
    "MATCH (n)\u180eRETURN n",
    "MATCH (n) RETURN 'open",
    "MATCH (n) RETURN `open",
    "MATCH (n) /* open RETURN n",
    "MATCH (n) RETURN n.a = $ ",
    "MATCH (n) RETURN n.a = $1.SET",
    "MATCH (n) RETURN n\0",
    "MATCH (n) RETURN '\ud800'",
    "CALL { CREATE (:X) } RETURN 1",
    "MATCH (n) CALL { WITH n SET n.a = 1 } IN TRANSACTIONS",
]


@pytest.mark.parametrize("text", READING)
def test_reading_statements_pass(text: str) -> None:
    assert check_reading(text).text


@pytest.mark.parametrize("text", REFUSING)
def test_everything_else_is_refused_with_exit_code_2(text: str) -> None:
    with pytest.raises(UsageError) as refused:
        check_reading(text)
    assert refused.value.exit_code == 2


@pytest.mark.parametrize("word", sorted(REFUSED))
def test_a_refused_clause_is_named(word: str) -> None:
    with pytest.raises(UsageError, match=word):
        check_reading(f"MATCH (n) {word.lower()} n")


def test_comments_never_reach_the_engine_and_a_final_semicolon_neither() -> None:
    statement = check_reading("MATCH (n)/* a 'b */RETURN // \"x\n n.id /**/ ; ;")
    assert statement.text == "MATCH (n) RETURN n.id"


def test_a_comment_ends_where_the_most_careful_reader_ends_it() -> None:
    with pytest.raises(UsageError, match="SET"):
        check_reading("MATCH (n) RETURN n // x\rSET n.a = 1")


def test_parameters_are_named_once_and_in_order() -> None:
    text = "MATCH (n) WHERE n.a = $b OR n.b = $a OR n.c = $b OR n.d = '$no' RETURN $`x y`"
    assert check_reading(text).parameters == ("b", "a", "x y")


def test_a_statement_without_comments_is_passed_on_as_it_stands() -> None:
    text = "MATCH (n)\n  WHERE n.label = 'a  b'\nRETURN n.id"
    assert check_reading(text).text == text


SPACES = st.text(st.sampled_from(" \t\n\r\u00a0\u2003\u2028\x1c"), min_size=1, max_size=3)
COMMENTS = st.sampled_from(["/* MATCH */", "/**/", "// RETURN 1\n", "/* ' */", '/* " ` */'])
GAPS = st.lists(SPACES | COMMENTS, min_size=1, max_size=3).map("".join).map(lambda gap: f" {gap} ")
LITERALS = st.sampled_from(["'x'", '"it\'s"', "'a\\'b'", "`n`", "1", "1.5", "$p", "n.set", "n.`drop`", "(1)"])


def _in_some_case(word: str) -> st.SearchStrategy[str]:
    letters = [st.sampled_from([letter.lower(), letter.upper()]) for letter in word]
    return st.tuples(*letters).map("".join)


@given(st.sampled_from(sorted(REFUSED)).flatmap(_in_some_case), GAPS, GAPS, LITERALS)
def test_no_case_space_or_comment_hides_a_refused_clause(
    word: str, before: str, after: str, value: str
) -> None:
    with pytest.raises(UsageError):
        check_reading(f"MATCH (n) WHERE n.a = {value}{before}{word}{after}n.b = 1 RETURN n.id")


def _quoted(text: str) -> str:
    return "'" + text.replace("\\", "\\\\").replace("'", "\\'") + "'"


TEXTS = st.text(
    st.characters(exclude_categories=["Cs"], exclude_characters="\0"), max_size=20
) | st.sampled_from([
    "CREATE (:X)",
    "'; DROP TABLE Entity; //",
    "/* SET */",
    "\\",
    "it's",
    "\\' SET n.a = 1 //",
])


@given(TEXTS)
def test_any_text_in_quotes_is_harmless_and_kept(text: str) -> None:
    quoted = _quoted(text)
    assume(re.search(r"\\u+[0-9a-fA-F]{4}", quoted) is None)
    assert quoted in check_reading(f"MATCH (n) WHERE n.label = {quoted} RETURN n.id").text


@given(st.text(st.sampled_from("'\"`/*\\\n;$ SETxn.=1"), max_size=25))
def test_what_passes_holds_no_refused_word_outside_quotes(soup: str) -> None:
    """An independent reading: with quoted parts and comments cut out, no refused clause is left."""
    try:
        checked = check_reading("MATCH (n) RETURN " + soup)
    except UsageError:
        return
    rest, place = "", 0
    while place < len(checked.text):
        character = checked.text[place]
        if character in "'\"`":
            end = place + 1
            while checked.text[end] != character:
                end += 2 if checked.text[end] == "\\" and character != "`" else 1
            rest, place = rest + " _ ", end + 1
        else:
            rest, place = rest + character, place + 1
    words = rest.replace("=", " ").replace("/", " ").replace("*", " ").replace(";", " ; ").split()
    assert "SET" not in words
    assert ";" not in words


@given(st.text(max_size=30))
def test_no_text_makes_the_guard_fail_otherwise(text: str) -> None:
    try:
        checked = check_reading(text)
    except UsageError:
        return
    assert checked.text.split(None, 1)[0].upper().rstrip("({") in STARTS
