"""What every engine answers about a graph that was loaded."""

from __future__ import annotations

import lzma
import random
from pathlib import Path

import pytest

from deeprefine_graphdb.graph.base_view import ParsedBase
from deeprefine_graphdb.model.errors import StatementError, StoreMissing, UsageError
from deeprefine_graphdb.model.graph import Alias, Edge, Entity, Names
from deeprefine_graphdb.stores.protocol import Touched
from deeprefine_loaders.graphfile import parse_graph
from deeprefine_loaders.identity import edge_key, norm_label
from tests.contract.harness import A_B_C, Harness, added_edge, added_entity

pytestmark = pytest.mark.engine
DATA = Path(__file__).parents[1] / "data"


def test_an_entity_is_read_with_all_its_columns(loaded: Harness) -> None:
    with loaded.open("read") as store:
        assert store.entity("a") == Entity(
            id="a", label="Ada", norm_label="ada", file_type="code", source_file="a.py", origin="ast"
        )
        assert store.entity("b") == Entity(id="b", label="Bob", source_location="L1", community="3")
        assert store.entity("d") == Entity(id="d", label="d")
        assert store.entity("json:1") == Entity(id="json:1", label="One")
        assert store.entity("1") is None


def test_names_are_found_by_their_normal_form_in_the_order_of_ids(loaded: Harness) -> None:
    with loaded.open("read") as store:
        assert store.names("ada") == Names(
            norm="ada", ids=("a", "c"), labels=("Ada", "ADA"), files=("a.py", "")
        )
        assert store.names("nobody") == Names(norm="nobody")


def test_aliases_are_found_by_their_normal_form(harness: Harness) -> None:
    harness.load(aliases=[Alias(norm="lovelace", ids=("a", "c"))])
    with harness.open("read") as store:
        assert store.alias("lovelace") == Alias(norm="lovelace", ids=("a", "c"))
        assert store.alias("ada") == Alias(norm="ada")


def test_edges_between_two_entities_have_direction_and_come_by_key(loaded: Harness) -> None:
    first, second = edge_key("a", "calls", "b"), edge_key("a", "calls", "b", 1)
    with loaded.open("read") as store:
        assert [edge.key for edge in store.edges_between("a", "b")] == sorted([first, second])
        assert [edge.relation for edge in store.edges_between("b", "a")] == ["uses"]
        assert [edge.relation for edge in store.edges_between("a", "a")] == ["self"]
        assert store.edges_between("b", "c") == []
        assert store.edges_between("a", "nobody") == []
    found = Edge(key=first, origin_key=first, src="a", tgt="b", relation="calls", confidence="EXTRACTED")
    with loaded.open("read") as store:
        assert found in store.edges_between("a", "b")


def test_edges_of_an_entity_come_from_both_sides_with_self_loops_once(loaded: Harness) -> None:
    with loaded.open("read") as store:
        edges = store.edges_of("a")
    assert [edge.relation for edge in edges].count("self") == 1
    assert sorted(edge.relation for edge in edges) == ["calls", "calls", "owns", "self", "uses"]
    assert [edge.key for edge in edges] == sorted(edge.key for edge in edges)


@pytest.mark.parametrize(("outward", "inward"), [(150, 150), (1_100, 1_100), (3, 2_100)])
def test_neighbours_are_the_lowest_keys_of_each_direction(
    harness: Harness, outward: int, inward: int
) -> None:
    nodes = [{"id": "hub"}, *({"id": f"n{i}"} for i in range(max(outward, inward)))]
    out = [{"source": "hub", "target": f"n{i}", "relation": "to"} for i in range(outward)]
    into = [{"source": f"n{i}", "target": "hub", "relation": "from"} for i in range(inward)]
    harness.load({
        "nodes": nodes,
        "links": [*out, *into, {"source": "hub", "target": "hub", "relation": "self"}],
    })
    with harness.open("read") as store:
        edges = store.edges_of("hub")
        for limit in (1, 7, 127, 128, 129, 149, 150, 151, 400):
            away = [edge.key for edge in edges if edge.src == "hub"][:limit]
            towards = [edge.key for edge in edges if edge.src != "hub"][:limit]
            assert [edge.key for edge in store.neighbours("hub", limit)] == sorted(away + towards)
        assert store.neighbours("nobody", 5) == []


@pytest.mark.parametrize("count", [140, 2_100])
def test_many_self_loops_do_not_hide_other_neighbours(harness: Harness, count: int) -> None:
    loops = [{"source": "a", "target": "a", "relation": f"r{n}"} for n in range(count)]
    into = [{"source": "b", "target": "a", "relation": f"r{n}"} for n in range(40)]
    harness.load({"nodes": [{"id": "a"}, {"id": "b"}], "links": [*loops, *into]})
    with harness.open("read") as store:
        edges = store.edges_of("a")
        assert len(edges) == count + 40
        towards = [edge.key for edge in edges if edge.src == "b"]
        for limit in (5, 35, 40, 60):
            found = [edge.key for edge in store.neighbours("a", limit) if edge.src == "b"]
            assert found == towards[:limit]


def test_dangling_links_and_hyperedges_are_loose(loaded: Harness) -> None:
    key = edge_key("a", "calls", "gone")
    with loaded.open("read") as store:
        found = store.loose(key)
        assert found is not None
        assert (found.kind, found.members) == ("link", ("a", "gone"))
        hyperedge = store.loose("hyperedges:h")
        assert hyperedge is not None
        assert (hyperedge.kind, hyperedge.members) == ("hyperedge", ("a", "gone"))
        assert [loose.key for loose in store.loose_with("gone")] == sorted([key, "hyperedges:h"])
        assert store.loose_with("b") == []
        assert store.loose("nothing") is None


def test_a_fresh_load_is_untouched(loaded: Harness) -> None:
    with loaded.open("read") as store:
        assert store.touched() == Touched(entities=[], edges=[], loose=[])


def test_edge_texts_give_every_live_edge_with_the_labels_of_its_ends(loaded: Harness) -> None:
    with loaded.open("read") as store:
        texts = [row for batch in store.edge_texts() for row in batch]
    assert sorted(row[1:] for row in texts) == [
        ("a", "Ada", "calls", "Bob", "b"),
        ("a", "Ada", "calls", "Bob", "b"),
        ("a", "Ada", "self", "Ada", "a"),
        ("b", "Bob", "uses", "Ada", "a"),
        ("c", "ADA", "owns", "Ada", "a"),
    ]


def test_the_base_keeps_the_text_of_every_object(loaded: Harness) -> None:
    with loaded.open("read") as store:
        assert store.base.slice("node", "d") == '{"id": "d"}'
        assert store.base.slice("link", edge_key("c", "owns", "a")) is not None


def test_touched_rows_stand_in_for_those_of_the_base_or_beside_them(harness: Harness) -> None:
    key = edge_key("c", "owns", "a")
    retired = Entity(id="c", label="ADA", retired_by="r.1", retired_as="removed")
    gone = Edge(
        key=key, origin_key=key, src="c", tgt="a", relation="owns", retired_by="r.1", retired_as="removed"
    )
    new, link = added_entity("n", label="ada"), added_edge("k", "n", "a")
    harness.load(A_B_C, Touched(entities=[retired, new], edges=[gone, link]))
    with harness.open("read") as store:
        assert store.entity("c") == retired
        assert store.entity("n") == new
        assert store.names("ada").ids == ("a", "n")
        assert store.edges_between("c", "a") == [gone]
        assert store.edges_between("n", "a") == [link]
        assert gone not in store.edges_of("a")
        touched = store.touched()
        assert (list(touched.entities), list(touched.edges)) == (
            [retired, new],
            sorted([gone, link], key=lambda e: e.key),
        )


def test_an_odd_text_survives_the_load(harness: Harness) -> None:
    odd = {"label": "a|\"b\"\n\\::'x' 漢字 \u0000 $id `q` // ; }", "relation": 'is; DROP\n"x"'}
    data = {
        "nodes": [{"id": "p'\"\\", "label": odd["label"]}, {"id": "\ud800", "label": "\udfff"}],
        "links": [{"source": "p'\"\\", "target": "\ud800", "relation": odd["relation"]}],
    }
    harness.load(data)
    with harness.open("read") as store:
        found = store.entity("p'\"\\")
        assert found is not None
        assert found.label == odd["label"]
        assert store.names(norm_label(odd["label"])).ids == ("p'\"\\",)
        assert [edge.relation for edge in store.edges_of('json:"\\ud800"')] == [odd["relation"]]


@pytest.mark.parametrize("name", ["requests", "flask"])
def test_a_loaded_file_answers_as_the_parsed_file_does(harness: Harness, name: str) -> None:
    content = lzma.decompress((DATA / f"{name}.graph.json.xz").read_bytes())
    harness.load(content)
    graph = parse_graph(content)
    parsed = ParsedBase(graph)
    ids = random.Random(1).sample(graph.nodes.id, 40)
    with harness.open("read") as store:
        assert sum(len(batch) for batch in store.edge_texts()) == sum(
            not loose for loose in graph.links.dangling
        )
        for entity_id in ids:
            entity = parsed.entity(entity_id)
            assert entity is not None
            assert store.entity(entity_id) == entity
            assert store.names(norm_label(entity.label)) == parsed.names(norm_label(entity.label))
            assert store.edges_of(entity_id) == list(parsed.edges_of(entity_id))
            assert store.neighbours(entity_id, 3) == list(parsed.neighbours(entity_id, 3))
            assert store.loose_with(entity_id) == list(parsed.loose_with(entity_id))
            for edge in store.neighbours(entity_id, 1):
                assert store.edges_between(edge.src, edge.tgt) == list(
                    parsed.edges_between(edge.src, edge.tgt)
                )


def test_a_query_gives_columns_and_rows_up_to_its_limit(loaded: Harness) -> None:
    with loaded.open("read") as store:
        table = store.query("MATCH (e:Entity) WHERE e.label = $l RETURN e.id AS id", {"l": "Bob"})
        assert (table.columns, table.rows, table.truncated) == (("id",), [("b",)], False)
        table = store.query("MATCH (e:Entity) RETURN e.id AS id ORDER BY id", {}, limit=2)
        assert (table.rows, table.truncated) == ([("a",), ("b",)], True)
        table = store.query("MATCH (e:Entity) RETURN e.id AS id", {}, limit=5)
        assert (len(table.rows), table.truncated) == (5, False)


def test_a_query_that_takes_too_long_is_ended(loaded: Harness) -> None:
    slow = "UNWIND range(1, 100000) AS a UNWIND range(1, 100000) AS b RETURN sum(a * b) AS s"
    with loaded.open("read") as store:
        with pytest.raises(StatementError, match=r"within 0\.2 seconds"):
            store.query(slow, {}, timeout=0.2)
        assert store.entity("a") is not None


@pytest.mark.parametrize(
    "text", ["MATCH (e:Entity) RETURN e.id; MATCH (e:Entity) RETURN e.id", "", "RETURN nonsense("]
)
def test_a_query_must_be_one_statement_that_the_engine_understands(loaded: Harness, text: str) -> None:
    with loaded.open("read") as store, pytest.raises(StatementError):
        store.query(text, {})


def test_only_reading_statements_can_be_read_by_name(loaded: Harness) -> None:
    with loaded.open() as store:
        assert store.read("graph/names", norm="bob") == [("bob", ["b"], ["Bob"], [""])]
        with pytest.raises(UsageError):
            store.read("graph/alias_set", norm="x", ids=[])
        with pytest.raises(StatementError):
            store.read("graph/names", nrom="bob")


def test_a_store_that_is_not_there_is_missing(harness: Harness) -> None:
    with pytest.raises(StoreMissing), harness.open("read"):
        raise AssertionError
