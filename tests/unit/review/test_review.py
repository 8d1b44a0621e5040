"""The labels of a review: what bears an action out, and what speaks against it."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from deeprefine_graphdb.grammar.actions import parse_answer
from deeprefine_graphdb.graph.base_view import ParsedBase
from deeprefine_graphdb.graph.plan import plan_refinement
from deeprefine_graphdb.graph.resolve import resolve
from deeprefine_graphdb.graph.view import GraphView
from deeprefine_graphdb.model.actions import DeleteEdge, InsertEdge, ReplaceNode
from deeprefine_graphdb.model.errors import ActionRefused
from deeprefine_graphdb.model.graph import Triple
from deeprefine_graphdb.retrieval.sources import SourceReader
from deeprefine_graphdb.review.models import ActionReview, Review
from deeprefine_graphdb.review.reviewer import review_actions
from tests.unit.graph.small import graph, link, node

ORDERS = '''"""Orders of the shop."""
from shop.stock import reserve


class OrderService:
    """Takes orders; the Payment Gateway is asked first."""

    def place(self, order):
        reserve(order)
        audit_log(order)


def cancel(order):
    return None
'''
STOCK = """def reserve(order):
    return order.items


def audit_log(order):
    print(order)
"""


def code(
    entity_id: str, label: str, file: str, line: int, community: int = 1, **members: Any
) -> dict[str, Any]:
    place = {"source_file": file, "source_location": f"L{line}"}
    return node(entity_id, label, file_type="code", _origin="ast", community=community, **place, **members)


@pytest.fixture
def root(tmp_path: Path) -> Path:
    (tmp_path / "shop").mkdir()
    (tmp_path / "shop" / "orders.py").write_text(ORDERS, encoding="utf-8")
    (tmp_path / "shop" / "stock.py").write_text(STOCK, encoding="utf-8")
    return tmp_path


@pytest.fixture
def shop() -> ParsedBase:
    orders, stock = "shop/orders.py", "shop/stock.py"
    return graph(
        [
            code("orders", "orders.py", orders, 1),
            code("service", "OrderService", orders, 5, aliases=["Order Desk"]),
            code("place", ".place()", orders, 8),
            code("cancel", "cancel()", orders, 13),
            code("stock", "stock.py", stock, 1, 2),
            code("reserve", "reserve()", stock, 1, 2),
            code("audit", "audit_log()", stock, 5, 2),
            code("far", "far_away()", "lib/far.py", 1, 9),
            code("farther", "farther_away()", "lib/far.py", 9, 8),
            code("neighbour", "neighbour()", "lib/far.py", 20, 9),
            code("main", "main()", "app.py", 1, 9),
            code("get1", "get()", "one.py", 1, 1),
            code("get2", "get()", "two.py", 1, 2),
        ],
        [
            link(
                "orders",
                "contains",
                "service",
                confidence="EXTRACTED",
                source_file=orders,
                source_location="L5",
            ),
            link("service", "method", "place", confidence="EXTRACTED"),
            link(
                "place", "calls", "reserve", confidence="EXTRACTED", source_file=orders, source_location="L9"
            ),
            link("stock", "contains", "reserve"),
            link("stock", "contains", "audit"),
            link("cancel", "calls", "service"),
            link("get1", "calls", "place"),
            link("main", "calls", "far"),
            link("neighbour", "twice", "far", source_location="L1"),
            link("neighbour", "twice", "far", source_location="L2"),
        ],
    )


def reviewed(base: ParsedBase, root: Path | None, answer: str, context: tuple[Triple, ...] = ()) -> Review:
    actions = parse_answer(f"<refinement>{answer}</refinement>")
    return review_actions(GraphView(base), actions, SourceReader(root) if root else None, context)


def only(base: ParsedBase, root: Path | None, answer: str, context: tuple[Triple, ...] = ()) -> ActionReview:
    (one,) = reviewed(base, root, answer, context).actions
    return one


def guards(one: ActionReview) -> list[str]:
    return [finding.guard for finding in one.warnings if finding.lowers]


def test_an_insert_that_the_source_of_an_end_bears_out_is_high(shop: ParsedBase, root: Path) -> None:
    one = only(shop, root, 'insert_edge(".place()", "calls", "audit_log()")')
    assert (one.label, one.executable, one.no_op) == ("HIGH", True, False)
    assert one.bound == {"subject": "place", "object": "audit"}
    source = next(each for each in one.evidence if each.kind == "source")
    assert source.where == "shop/orders.py:10"
    assert "audit_log(order)" in source.text


def test_an_import_bears_out_an_edge_between_files(shop: ParsedBase, root: Path) -> None:
    one = only(shop, root, 'insert_edge("orders.py", "imports", "stock.py")')
    assert one.label == "HIGH"
    assert one.evidence[0].where == "shop/orders.py:2"


def test_the_text_of_the_next_function_does_not_count(shop: ParsedBase, root: Path) -> None:
    one = only(shop, root, 'insert_edge(".place()", "calls", "cancel()")')
    assert "def cancel" in SourceReader(root).text([resolve(GraphView(shop), ".place()")])
    assert one.label == "MEDIUM"
    assert {each.kind for each in one.evidence} == {"path"}


def test_a_mention_of_one_of_several_namesakes_is_no_proof(shop: ParsedBase, root: Path) -> None:
    (root / "shop" / "orders.py").write_text(ORDERS.replace("audit_log(order)", "get()"), encoding="utf-8")
    one = only(shop, root, 'insert_edge(".place()", "calls", "two.py::get()")')
    assert one.label == "MEDIUM"
    assert "one of 2 of that name" in one.evidence[0].text


def test_what_lies_between_two_ends_makes_an_insert_medium(shop: ParsedBase) -> None:
    near = only(shop, None, 'insert_edge("cancel()", "uses", ".place()")')
    assert near.label == "MEDIUM"
    assert [each.kind for each in near.evidence] == ["path"]
    assert near.evidence[0].text == "cancel() -calls-> OrderService -method-> .place()"
    assert len(near.evidence[0].edges) == 2
    linked = only(shop, None, 'insert_edge("OrderService", "has", ".place()")')
    assert (linked.label, linked.evidence[0].kind) == ("MEDIUM", "edge")


def test_retrieved_triples_between_two_ends_make_an_insert_medium(shop: ParsedBase) -> None:
    answer = 'insert_edge("cancel()", "uses", "farther_away()")'
    assert only(shop, None, answer).label == "LOW"
    context = (
        Triple(subject="cancel()", relation="near", object="x", subject_id="cancel", object_id="x"),
        Triple(subject="farther_away()", relation="near", object="x", subject_id="farther", object_id="x"),
    )
    one = only(shop, None, answer, context)
    assert (one.label, one.evidence[0].kind) == ("MEDIUM", "context")


def test_another_community_with_nothing_between_is_low(shop: ParsedBase, root: Path) -> None:
    one = only(shop, root, 'insert_edge("OrderService", "uses", "farther_away()")')
    assert (one.label, guards(one), one.executable) == ("LOW", ["other-community"], True)


def test_the_same_community_alone_is_medium(shop: ParsedBase) -> None:
    one = only(shop, None, 'insert_edge("one.py::get()", "uses", "cancel()")')
    assert one.label == "MEDIUM"


def test_an_insert_of_an_edge_that_exists_is_a_no_op_and_not_high(shop: ParsedBase, root: Path) -> None:
    one = only(shop, root, 'insert_edge(".place()", "calls", "reserve()")')
    assert (one.label, one.no_op, one.executable) == ("MEDIUM", True, True)
    assert one.evidence[0].where == "shop/orders.py:9"
    assert "nothing would change" in one.warnings[0].text


def test_a_new_end_is_medium_when_the_source_names_it_and_low_otherwise(shop: ParsedBase, root: Path) -> None:
    named = only(shop, root, 'insert_edge("OrderService", "asks", "payment gateway")')
    assert (named.label, named.evidence[0].where) == ("MEDIUM", "shop/orders.py:6")
    for subject, target in (("OrderService", "Ledger"), ("Ledger", "OrderService"), ("Ledger", "Bank")):
        unnamed = only(shop, root, f'insert_edge("{subject}", "asks", "{target}")')
        assert unnamed.label == "LOW"
        assert set(guards(unnamed)) == {"ungrounded"}
        assert unnamed.executable


def test_a_new_end_of_an_earlier_action_is_still_new(shop: ParsedBase, root: Path) -> None:
    review = reviewed(
        shop,
        root,
        'insert_edge("OrderService", "asks", "Payment Gateway")|insert_edge("Payment Gateway", "calls", "far_away()")',
    )
    assert [one.label for one in review.actions] == ["MEDIUM", "LOW"]
    assert review.actions[1].bound["subject"] == review.actions[0].bound["object"]


def test_a_new_end_that_nearly_is_an_entity_is_pointed_out(shop: ParsedBase, root: Path) -> None:
    one = only(shop, root, 'insert_edge("OrderService", "uses", "far_away")')
    assert isinstance(one.suggestion, InsertEdge)
    assert resolve(GraphView(shop), one.suggestion.object).id == "far"


@pytest.mark.parametrize("name", ["unknown", "N/A", "none", "?"])
def test_a_generic_object_is_low(shop: ParsedBase, root: Path, name: str) -> None:
    assert "generic" in guards(only(shop, root, f'insert_edge("OrderService", "calls", "{name}")'))
    assert "generic" in guards(only(shop, root, f'replace_node("OrderService", "{name}")'))


def test_a_broad_name_is_low_and_a_qualified_one_is_suggested(shop: ParsedBase, root: Path) -> None:
    one = only(shop, root, 'delete_edge("main()", "calls", "far_away()")')
    assert (one.label, guards(one), one.executable) == ("LOW", ["over-broad"], True)
    assert isinstance(one.suggestion, DeleteEdge)
    assert one.suggestion.subject == "app.py::main()"
    assert only(shop, root, 'delete_edge("app.py::main()", "calls", "far_away()")').label == "HIGH"


def test_an_ambiguous_end_is_low_and_not_executable(shop: ParsedBase, root: Path) -> None:
    for answer in (
        'insert_edge("get()", "calls", "OrderService")',
        'delete_edge("get()", "calls", ".place()")',
        'replace_node("get()", "fetch()")',
        'replace_node("cancel()", "get()")',
    ):
        one = only(shop, root, answer)
        assert (one.label, one.executable, guards(one)) == ("LOW", False, ["ambiguous"]), answer
        assert one.candidates == ("one.py::get()", "two.py::get()")
        assert one.suggestion is not None


def test_the_suggested_candidate_is_the_one_near_the_other_end(shop: ParsedBase) -> None:
    one = only(shop, None, 'delete_edge("get()", "calls", ".place()")')
    assert one.suggestion == DeleteEdge(subject="one.py::get()", relation="calls", object=".place()")
    assert review_actions(GraphView(shop), [one.suggestion]).actions[0].label == "HIGH"


@pytest.mark.parametrize(
    ("reversed_edge", "against"),
    [
        ('insert_edge(".place()", "method", "OrderService")', "both ways"),
        ('insert_edge("OrderService", "contains", "orders.py")', "both ways"),
        ('insert_edge("orders.py", "contains", "reserve()")', "one owner"),
        ('insert_edge(".place()", "not_calls", "reserve()")', "opposite"),
    ],
)
def test_a_contradiction_makes_even_a_grounded_insert_low(
    shop: ParsedBase, root: Path, reversed_edge: str, against: str
) -> None:
    one = only(shop, root, reversed_edge)
    assert (one.label, one.executable) == ("LOW", True)
    assert guards(one) == ["contradiction"]
    assert against in one.warnings[0].text


def test_calls_may_go_both_ways(shop: ParsedBase, root: Path) -> None:
    assert "contradiction" not in guards(only(shop, root, 'insert_edge("reserve()", "calls", ".place()")'))


def test_deleting_exactly_an_existing_edge_is_high(shop: ParsedBase, root: Path) -> None:
    one = only(shop, root, 'delete_edge("OrderService", "method", ".place()")')
    assert (one.label, one.executable) == ("HIGH", True)
    assert one.evidence[0].kind == "edge"


def test_deleting_what_the_source_still_says_is_pointed_out(shop: ParsedBase, root: Path) -> None:
    one = only(shop, root, 'delete_edge(".place()", "calls", "reserve()")')
    assert one.label == "HIGH"
    assert [(each.guard, each.lowers) for each in one.warnings] == [("still-in-source", False)]


@pytest.mark.parametrize(
    ("answer", "suggested"),
    [
        ('delete_edge(".place()", "CALLS", "reserve()")', (".place()", "calls", "reserve()")),
        ('delete_edge("reserve()", "calls", ".place()")', (".place()", "calls", "reserve()")),
        ('delete_edge(".place()", "uses", "reserve()")', (".place()", "calls", "reserve()")),
        (
            'delete_edge("stock.py", "contains", "audit_log")',
            ("stock.py", "contains", "shop/stock.py::audit_log()"),
        ),
        ('delete_edge("OrderService", "calls", "far_away()")', None),
        ('delete_edge("OrderService", "calls", "Nobody")', None),
    ],
)
def test_deleting_what_is_not_there_is_low_and_not_executable(
    shop: ParsedBase, root: Path, answer: str, suggested: tuple[str, str, str] | None
) -> None:
    one = only(shop, root, answer)
    assert (one.label, one.executable, guards(one)) == ("LOW", False, ["missing"])
    got = one.suggestion
    assert (got is None) == (suggested is None)
    if isinstance(got, DeleteEdge):
        assert (got.subject, got.relation, got.object) == suggested


def test_several_equal_edges_cannot_be_deleted_without_a_key(shop: ParsedBase, root: Path) -> None:
    one = only(shop, root, 'delete_edge("neighbour()", "twice", "far_away()")')
    assert (one.label, one.executable) == ("LOW", False)
    assert isinstance(one.suggestion, DeleteEdge)
    assert one.suggestion.edge_key is not None
    again = review_actions(GraphView(shop), [one.suggestion]).actions[0]
    assert (again.label, again.executable, again.evidence[0].edges) == (
        "HIGH",
        True,
        (one.suggestion.edge_key,),
    )


def test_a_rename_to_a_known_other_name_is_high(shop: ParsedBase, root: Path) -> None:
    one = only(shop, root, 'replace_node("OrderService", "order desk")')
    assert (one.label, one.evidence[0].kind) == ("HIGH", "alias")


def test_a_rename_that_the_source_bears_out_is_high(shop: ParsedBase, root: Path) -> None:
    one = only(shop, root, 'replace_node("OrderService", "Payment Gateway")')
    assert (one.label, one.evidence[0].kind, one.evidence[0].where) == ("HIGH", "source", "shop/orders.py:6")


@pytest.mark.parametrize("new", ["Warehouse", "far_away()", "stock.py"])
def test_an_ungrounded_replacement_is_low_even_if_the_new_name_exists(
    shop: ParsedBase, root: Path, new: str
) -> None:
    one = only(shop, root, f'replace_node("OrderService", "{new}")')
    assert (one.label, one.executable, guards(one)) == ("LOW", True, ["ungrounded"])


def test_replacing_an_unknown_node_is_not_executable(shop: ParsedBase, root: Path) -> None:
    one = only(shop, root, 'replace_node("Nobody", "Somebody")')
    assert (one.label, one.executable, guards(one)) == ("LOW", False, ["missing"])
    near = only(shop, root, 'replace_node("audit_log", "audit_trail()")')
    assert isinstance(near.suggestion, ReplaceNode)
    assert resolve(GraphView(shop), near.suggestion.old).id == "audit"


def test_a_rename_to_the_same_name_changes_nothing(shop: ParsedBase, root: Path) -> None:
    one = only(shop, root, 'replace_node("OrderService", "OrderService")')
    assert (one.no_op, one.label) == (True, "MEDIUM")


def test_a_later_action_is_reviewed_on_what_the_earlier_ones_leave(shop: ParsedBase, root: Path) -> None:
    review = reviewed(
        shop,
        root,
        'replace_node("OrderService", "Order Desk")|delete_edge("Order Desk", "method", ".place()")'
        '|insert_edge("Order Desk", "method", ".place()")',
    )
    assert [one.executable for one in review.actions] == [True, True, True]
    assert review.actions[1].label == "HIGH"
    assert not review.actions[2].no_op


def test_without_sources_nothing_counts_as_grounded(shop: ParsedBase) -> None:
    review = reviewed(
        shop,
        None,
        'insert_edge("OrderService", "asks", "Payment Gateway")|replace_node("cancel()", "abort()")',
    )
    assert [one.label for one in review.actions] == ["LOW", "LOW"]


ANSWERS = [
    f'{kind}("{a}", "{relation}", "{b}")'
    for kind in ("insert_edge", "delete_edge")
    for a in ("OrderService", "get()", "main()", "Nobody", "far_away()")
    for relation in ("calls", "twice")
    for b in ("far_away()", ".place()", "two.py::get()", "unknown")
] + [
    f'replace_node("{a}", "{b}")'
    for a in ("OrderService", "get()", "Nobody", "reserve()")
    for b in ("get()", "stock.py", "Order Desk", "OrderService", "new name", "?")
]


@pytest.mark.parametrize("answer", ANSWERS)
def test_executable_means_exactly_that_planning_succeeds(shop: ParsedBase, root: Path, answer: str) -> None:
    one = only(shop, root, answer)
    try:
        plan = plan_refinement(GraphView(shop), "r", [(1, one.action)], 1)
    except ActionRefused:
        assert not one.executable
        assert one.label == "LOW"
    else:
        assert one.executable
        assert one.no_op == plan.changes_nothing
        assert tuple(one.bound.values()) == (plan.bound[0].subject.id, plan.bound[0].object.id)
    if one.suggestion is not None and one.candidates:
        assert review_actions(GraphView(shop), [one.suggestion]).actions[0].candidates == ()
