"""What status says is so."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from deeprefine_graphdb.project.export import export
from deeprefine_graphdb.project.settings import load_settings
from deeprefine_graphdb.project.status import status
from deeprefine_graphdb.project.sync import sync
from tests.support.jobs import apply, make_root

pytestmark = pytest.mark.engine


def test_nodes_and_links_are_those_of_the_graph_that_an_export_writes(tmp_path: Path) -> None:
    base = make_root(tmp_path / "kb")
    sync(base)
    counts = []
    for number, answer in enumerate((None, None, 'insert_edge("Nobody", "calls", "Cache")')):
        if number:
            apply(base, *([] if answer is None else [answer, "p2"]))
        export(base)
        graph = json.loads(base.project.graph_json.read_bytes())
        report = status(base, load_settings(base.project, {}, {}))
        counts.append((report.nodes, report.links))
        assert counts[-1] == (len(graph["nodes"]), len(graph["links"]))
    assert counts == [(6, 6), (6, 6), (7, 7)]
