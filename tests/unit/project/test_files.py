"""Proposals, reviews and results lie where other tools look for them."""

from __future__ import annotations

import json
from pathlib import Path

from deeprefine_graphdb.project.files import ResultRow, append_result, write_proposal, write_review
from deeprefine_graphdb.project.paths import ProjectPaths


def test_results_have_the_columns_of_the_contract_in_order(tmp_path: Path) -> None:
    project = ProjectPaths(tmp_path)
    row = ResultRow(
        query="q", query_id="1a", early_exit=True, hops=1, answerable=True, ts="2026-01-31T23:30:00-01:00"
    )
    path = append_result(project, row)
    append_result(project, row)
    assert path.name == "refinement_results_20260201.jsonl"
    lines = [json.loads(line) for line in path.read_text(encoding="utf-8").splitlines()]
    assert len(lines) == 2
    columns = (
        "query query_id early_exit hops answerable abduction actions applied refinement_id model tokens_in "
        "tokens_out seconds ts"
    )
    assert " ".join(lines[0]) == columns


def test_a_proposal_is_one_tagged_line(tmp_path: Path) -> None:
    project = ProjectPaths(tmp_path)
    path = write_proposal(project, "1a", '<refinement>insert_edge("a","r","b")</refinement>')
    assert path == project.proposed("1a")
    assert path.read_text(encoding="utf-8") == '<refinement>insert_edge("a","r","b")</refinement>\n'
    assert (project.deeprefine / ".gitignore").is_file()


def test_a_review_is_written_for_people_and_programs(tmp_path: Path) -> None:
    project = ProjectPaths(tmp_path)
    readable, exact = write_review(project, "1a", "# Review\n", {"label": "HIGH", "text": "é"})
    assert readable.read_text(encoding="utf-8") == "# Review\n"
    assert json.loads(exact.read_text(encoding="utf-8")) == {"label": "HIGH", "text": "é"}
