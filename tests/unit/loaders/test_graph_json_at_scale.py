"""Large real graphs come back byte for byte; how fast and in how much memory is for the benchmarks to say."""

from __future__ import annotations

import lzma
from pathlib import Path

import pytest

from deeprefine_loaders.basefile import BaseFile, write_base
from deeprefine_loaders.graphfile import read_graph
from deeprefine_loaders.objects import edit_object, read_object
from deeprefine_loaders.render import Edits, render, render_digest

GRAPHS = Path(__file__).parents[3].parent / "shared" / "graphs"


@pytest.mark.slow
@pytest.mark.parametrize(
    ("name", "nodes", "links"),
    [("networkx", 11_525, 19_118), ("django", 51_254, 122_127), ("large", 145_802, 397_276)],
)
def test_a_large_graph_is_read_and_given_back(name: str, nodes: int, links: int, tmp_path: Path) -> None:
    packed = GRAPHS / f"{name}.graph.json.xz"
    if not packed.is_file():
        pytest.skip(f"{packed} is not here")
    path = tmp_path / "graph.json"
    with lzma.open(packed) as source, path.open("wb") as target:
        while chunk := source.read(1 << 22):
            target.write(chunk)
    graph = read_graph(path)
    assert (len(graph.nodes.id), len(graph.links.key)) == (nodes, links)
    write_base(graph, tmp_path)
    keys, digest = graph.links.key[:: links // 9], graph.digest
    del graph
    base = BaseFile.open(tmp_path)
    try:
        with path.open("rb") as stream:
            assert all(stream.read(len(chunk)) == chunk for chunk in render(base, Edits()))
            assert not stream.read(1)
        edits = Edits()
        for key in keys:
            raw = base.slice("link", key)
            assert raw is not None
            edits.replaced["link", key] = edit_object(raw, {"weight": 2}, header=base.header)
            assert read_object(edits.replaced["link", key]) == read_object(raw) | {"weight": 2}
        assert render_digest(base, edits) != digest
    finally:
        base.close()
