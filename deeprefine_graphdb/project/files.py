"""The files that the skill's other tools read and write beside the queue: proposals, reviews and results."""

from __future__ import annotations

import json
import os
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from pydantic import BaseModel, ConfigDict

from deeprefine_graphdb.project.paths import ProjectPaths, write_whole
from deeprefine_loaders.atomic import naming


class ResultRow(BaseModel):
    """What became of one question in one run: a line of ``refinement_results_<day>.jsonl``.

    ``hops`` counts judged steps; ``actions`` are the proposed actions as text; ``seconds`` is wall time;
    ``ts`` is UTC.
    """

    model_config = ConfigDict(frozen=True, extra="forbid")

    query: str
    query_id: str
    early_exit: bool
    hops: int
    answerable: bool
    abduction: str = ""
    actions: list[str] = []
    applied: bool = False
    refinement_id: str | None = None
    model: str = ""
    tokens_in: int = 0
    tokens_out: int = 0
    seconds: float = 0.0
    ts: str


def append_result(project: ProjectPaths, row: ResultRow) -> Path:
    """Append a result to the file of the row's day and give that file."""
    day = datetime.fromisoformat(row.ts).astimezone(UTC).strftime("%Y%m%d")
    path = project.results(day)
    project.prepare()
    line = json.dumps(row.model_dump(mode="json"), ensure_ascii=True) + "\n"
    descriptor = os.open(path, os.O_WRONLY | os.O_APPEND | os.O_CREAT, 0o666)
    try:
        with naming(path):
            os.write(descriptor, line.encode("ascii"))  # one write: appends of several processes do not mix
            os.fsync(descriptor)
    finally:
        os.close(descriptor)
    return path


def write_proposal(project: ProjectPaths, query_id: str, tagged: str) -> Path:
    """Write the proposed actions of a question, one tagged line as the model's grammar has it."""
    path = project.proposed(query_id)
    project.prepare()
    write_whole(path, tagged.rstrip("\n") + "\n")
    return path


def write_review(
    project: ProjectPaths, query_id: str, markdown: str, record: dict[str, Any]
) -> tuple[Path, Path]:
    """Write the review of a question's proposal for people (``.md``) and for programs (``.json``)."""
    readable, exact = project.review(query_id, "md"), project.review(query_id, "json")
    project.prepare()
    write_whole(readable, markdown.rstrip("\n") + "\n")
    write_whole(exact, json.dumps(record, ensure_ascii=False, indent=2) + "\n")
    return readable, exact
