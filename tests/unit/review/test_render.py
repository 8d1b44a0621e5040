"""A review as Markdown, as lines and as data."""

from __future__ import annotations

import json

from deeprefine_graphdb.model.actions import DeleteEdge, InsertEdge
from deeprefine_graphdb.review.models import ActionReview, Evidence, Finding, Review
from deeprefine_graphdb.review.render import as_lines, as_markdown, as_record, summary

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
