"""The demo shows the whole way, says that its answers are recorded, and fails loudly when they do not fit."""

from __future__ import annotations

import json
import os
from http.client import HTTPConnection
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

import pytest

from deeprefine_graphdb.loop.prompts import prompt
from deeprefine_graphdb.project.demo import object_diff
from deeprefine_graphdb.project.recorded import RecordedSession, Recording, serving
from tests.cli.conftest import ENGINE, Cli


@pytest.mark.slow
@pytest.mark.engine
def test_the_demo_plays_to_its_end_and_asks_no_one_else(
    cli: Cli, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("OPENAI_API_KEY", "sk-real")
    monkeypatch.setenv("DEEPREFINE_EMBED_URL", "http://127.0.0.1:9/never-asked")
    store = f"{ENGINE}:{tmp_path / 'store'}"
    shown = cli("demo", "--dir", tmp_path / "kept", "--store", store)
    assert "recorded" in shown.out.split("\n\n")[0]
    for line in (
        "$ deeprefine-db refine",
        "$ deeprefine-db audit verify",
        '+ links: {"source": "shop_orders_place_order"',
    ):
        assert line in shown.out
    assert os.environ["OPENAI_API_KEY"] == "sk-real"
    root = tmp_path / "kept" / "lantern"
    labels = {
        node["label"] for node in json.loads((root / "graphify-out" / "graph.json").read_bytes())["nodes"]
    }
    assert "PaymentProvider" in labels
    assert "Psp" not in labels
    assert "is there already" in cli("demo", "--dir", tmp_path / "kept", code=2).err


@pytest.mark.slow
@pytest.mark.engine
def test_a_demo_whose_recordings_do_not_fit_fails(
    cli: Cli, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(RecordedSession, "of_demo", classmethod(lambda cls: cls([])))
    failed = cli("demo", "--store", f"{ENGINE}:{tmp_path / 'store'}", code=1)
    assert "no answer was recorded for this judgement prompt" in failed.out
    assert "`deeprefine-db refine` ended with 6, and the demo needs 0" in failed.err


def ask(url: str, *messages: str) -> tuple[int, dict[str, Any]]:
    body = {"model": "m", "messages": [{"role": "system", "content": text} for text in messages]}
    parts = urlsplit(url)
    connection = HTTPConnection(parts.hostname or "", parts.port, timeout=10)
    connection.request("POST", f"{parts.path}/chat/completions", json.dumps(body))
    answer = connection.getresponse()
    return answer.status, json.load(answer)


def test_recordings_answer_in_order_and_only_what_they_fit() -> None:
    system = prompt("judgement", "system")
    session = RecordedSession([
        Recording(stage="judgement", question="q?", expects=("a | r | b",), answer="first"),
        Recording(stage="judgement", question="q?", answer="second"),
    ])
    with serving(session) as url:
        code, said = ask(url, system, "Question: q?\nno triples")
        assert (code, session.left()) == (422, 2)
        assert "lacks 'a | r | b'" in said["error"]["message"]
        assert ask(url, system, "Question: q?\na | r | b")[1]["choices"][0]["message"]["content"] == "first"
        assert ask(url, system, "Question: q?")[1]["choices"][0]["message"]["content"] == "second"
        assert "have been given" in ask(url, system, "Question: q?")[1]["error"]["message"]
        assert "no answer was recorded" in ask(url, system, "Question: other")[1]["error"]["message"]
        assert "none of the loop's prompts" in ask(url, "hello", "Question: q?")[1]["error"]["message"]
    assert session.left() == 0


def test_a_diff_names_the_objects_that_are_in_one_file_only(tmp_path: Path) -> None:
    before, after = tmp_path / "a.json", tmp_path / "b.json"
    before.write_text('{"multigraph": false, "nodes": [{"id": 1}, {"id": 1}, {"id": 2}]}', encoding="utf-8")
    after.write_text('{"multigraph": true, "nodes": [{"id": 1}, {"id": 2}]}', encoding="utf-8")
    assert object_diff(before, after) == ["- multigraph: false", '- nodes: {"id": 1}', "+ multigraph: true"]
