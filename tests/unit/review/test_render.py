"""A review as Markdown, as lines and as data."""

from __future__ import annotations

import json

from deeprefine_graphdb.model.actions import DeleteEdge, InsertEdge
from deeprefine_graphdb.model.graph import Triple
from deeprefine_graphdb.review.models import ActionReview, Evidence, Finding, Review, WhatIf
from deeprefine_graphdb.review.render import as_lines, as_markdown, as_record, summary, what_if_summary

REVIEW = Review(
    actions=(
        ActionReview(
            number=1,
            action=InsertEdge(subject="a", relation="calls", object="b"),
            label="HIGH",
            evidence=(Evidence(kind="source", text="The source of 'a' names 'b': b()", where="a.py:3"),),
        ),
        ActionReview(
            number=2,
            action=DeleteEdge(subject="x|`y`\n# z", relation="<b>", object="\x1b[31mred"),
            label="LOW",
            executable=False,
            warnings=(Finding(guard="missing", text="There is *no* such edge."),),
            suggestion=DeleteEdge(subject="x", relation="calls", object="y"),
        ),
        ActionReview(
            number=3, action=InsertEdge(subject="a", relation="r", object="c"), label="MEDIUM", no_op=True
        ),
    )
)


def test_the_record_holds_everything_and_reads_back() -> None:
    record = json.loads(json.dumps(as_record(REVIEW, question="why?", proposal="p1")))
    assert (record["question"], record["proposal"]) == ("why?", "p1")
    assert record["counts"] == {"HIGH": 1, "MEDIUM": 1, "LOW": 1}
    assert record["not_executable"] == [2]
    assert record["actions"][0]["text"] == 'insert_edge("a", "calls", "b")'
    for action in record["actions"]:
        action.pop("text")
    assert Review.model_validate({"actions": record["actions"]}) == REVIEW


def test_markdown_shows_label_evidence_and_warning_of_each_action() -> None:
    text = as_markdown(REVIEW, question="why *so*?")
    assert "1 HIGH, 1 MEDIUM, 1 LOW; not executable: 2." in text
    assert "## 1. HIGH" in text
    assert "## 2. LOW, not executable" in text
    assert "## 3. MEDIUM, no change" in text
    assert "(`a.py:3`)" in text
    assert "- **missing**: There is \\*no\\* such edge." in text
    assert 'suggested instead: `delete_edge("x", "calls", "y")`' in text


def test_names_from_the_graph_cannot_break_out_of_markdown_or_steer_a_terminal() -> None:
    text = as_markdown(REVIEW, question="<script>")
    assert "\n# z" not in text
    assert "<script>" not in text.replace("\\<", "")
    for shown in (text, *as_lines(REVIEW)):
        assert "\x1b" not in shown


def test_lines_fit_the_width() -> None:
    lines = as_lines(REVIEW, 40)
    assert all(len(line) <= 40 for line in lines[:-1])
    assert lines[0].startswith(" 1  HIGH")
    assert lines[-1] == summary(REVIEW)


def test_an_empty_review_says_so() -> None:
    assert summary(Review()) == "No action is proposed."
    assert as_lines(Review()) == ["No action is proposed."]


WHAT_IF = WhatIf(
    before=3,
    after=1,
    hops_before=3,
    hops_after=1,
    first=(
        Triple(subject="a", relation="calls", object="b", key="k1"),
        Triple(subject="a", relation="calls", object="\x1b[31m`c`\n# d", key="k2"),
    ),
    new=("k2",),
    gone=(Triple(subject="a", relation="calls", object="old", key="k0"),),
    evidence="lexical search",
    helped=True,
)


def test_a_what_if_shows_what_comes_and_what_goes_and_cannot_break_out_either() -> None:
    review = REVIEW.model_copy(update={"what_if": WHAT_IF})
    assert as_record(review)["what_if"]["new"] == ["k2"]
    assert WhatIf.model_validate(json.loads(json.dumps(as_record(review)["what_if"]))) == WHAT_IF
    lines = as_lines(review)
    assert lines[-5:-3] == [
        "What if it were applied: answerable at hop 1, before at hop 3. It helps.",
        "   The first hop would retrieve (lexical search):",
    ]
    assert [line[3:6] for line in lines[-3:]] == ["  a", "+ a", "- a"]
    text = as_markdown(review)
    assert "\n- `a | calls | b`\n- new: ``a | calls | " in text
    assert "- not any more: `a | calls | old`" in text
    for shown in (text, *lines):
        assert "\x1b" not in shown
        assert "\n# d" not in shown


def test_a_what_if_says_whether_it_helps_in_every_case() -> None:
    def said(before: int | None, after: int | None, helped: bool) -> str:
        found = WHAT_IF.model_copy(
            update={"before": before, "after": after, "helped": helped, "hops_before": 4}
        )
        return what_if_summary(found)

    assert said(None, 2, True).endswith("answerable at hop 2, before at none of 4 hops. It helps.")
    assert said(2, 2, False).endswith("It does not help.")
    assert said(None, None, False).endswith("It does not help.")
    assert said(2, 3, False).endswith("It makes the answer harder to find.")
    assert "answerable at none of 1 hop, before at hop 2. It makes" in said(2, None, False)
    missing = WhatIf(missing="The model is gone.")
    assert as_lines(Review(what_if=missing))[-1] == "What if: not known. The model is gone."
    assert "The first hop" not in as_markdown(Review(what_if=missing))
