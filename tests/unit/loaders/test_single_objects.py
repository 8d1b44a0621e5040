"""One object alone reads as it does among all others."""

from __future__ import annotations

from typing import Any

from hypothesis import given

from deeprefine_loaders.graphfile import parse_graph
from deeprefine_loaders.objects import read_object
from deeprefine_loaders.single import link_row, node_row
from tests.unit.loaders.odd_files import Writer, documents, few, writers


@few
@given(documents(), writers())
def test_a_single_object_has_the_entries_of_the_columns(value: dict[str, Any], writer: Writer) -> None:
    graph = parse_graph(writer.write(value))
    for at, node_id in enumerate(graph.nodes.id):
        text = graph.slice("node", node_id)
        assert text is not None
        row = node_row(read_object(text))
        assert row == tuple(getattr(graph.nodes, name)[at] for name in row._fields)
    for at, key in enumerate(graph.links.key):
        text = graph.slice("link", key)
        assert text is not None
        link = link_row(read_object(text))
        assert link == tuple(getattr(graph.links, name)[at] for name in link._fields)
