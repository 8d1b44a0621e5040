"""Bases that are kept come back to the byte, and damage is told."""

from __future__ import annotations

from pathlib import Path

import pytest

from deeprefine_loaders.basefile import BaseFile
from deeprefine_loaders.errors import FormatError
from deeprefine_loaders.graphfile import parse_graph
from deeprefine_loaders.shelf import Shelf


def test_a_base_comes_back_to_the_byte(tmp_path: Path, real_graph: dict[str, bytes]) -> None:
    shelf = Shelf(tmp_path / "bases")
    assert shelf.digests() == set()
    graph = parse_graph(real_graph["flask"])
    shelf.put(BaseFile.of(graph))
    shelf.put(BaseFile.of(graph))
    assert shelf.digests() == {graph.digest}
    assert shelf.get(graph.digest) == real_graph["flask"]
    (file,) = (tmp_path / "bases").iterdir()
    assert file.stat().st_size < len(real_graph["flask"]) / 5
    shelf.drop(graph.digest)
    assert shelf.digests() == set()
    with pytest.raises(KeyError):
        shelf.get(graph.digest)


@pytest.mark.parametrize("harm", ["cut", "other", "noise"])
def test_a_damaged_base_is_told(tmp_path: Path, harm: str) -> None:
    shelf = Shelf(tmp_path)
    one, other = (BaseFile.of(parse_graph(f'{{"nodes":[],"area":{at}}}'.encode())) for at in (1, 2))
    shelf.put(one)
    shelf.put(other)
    file = next(path for path in tmp_path.iterdir() if path.name.startswith(one.digest))
    data = file.read_bytes()
    if harm == "cut":
        file.write_bytes(data[:-6])
    elif harm == "other":
        next(path for path in tmp_path.iterdir() if path.name.startswith(other.digest)).replace(file)
    else:
        file.write_bytes(b"noise")
    with pytest.raises(FormatError, match="damaged"):
        shelf.get(one.digest)
