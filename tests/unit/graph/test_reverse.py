"""The manifest of an export, taken back on the file that it is of, gives the base."""

from __future__ import annotations

import pytest

from deeprefine_graphdb.graph.derive import Derived, derive
from deeprefine_graphdb.graph.manifest import manifest_of
from deeprefine_graphdb.graph.render import graph_bytes
from deeprefine_graphdb.graph.reverse import reversed_manifest
from deeprefine_loaders.graphfile import GraphFile, parse_graph
from tests.unit.graph.rebased import DELETE, INSERT, MERGE, NODES, RENAME, USES, C, made_on
from tests.unit.graph.small import graph, link

LINKS = [USES, link("c", "calls", "b"), link("a", "owns", "c")]
ANSWERS = [INSERT, DELETE, RENAME, MERGE, 'replace_node("C", "B")', 'insert_edge("A", "near", "New")']


def exported(answers: list[str]) -> tuple[bytes, Derived, GraphFile]:
    reader = graph([*NODES, {**C, "id": "d", "label": "D"}], LINKS)
    derived = derive(reader, made_on(reader, *answers))
    file = parse_graph(b"".join(graph_bytes(reader.base, derived.touched())))
    return reader.base.bytes(), derived, file


@pytest.mark.parametrize("answers", [[], *([one] for one in ANSWERS), ANSWERS[:3], ANSWERS[4:]])
def test_the_base_comes_back_byte_for_byte(answers: list[str]) -> None:
    base, derived, file = exported(answers)
    reader = derived.view.base
    entries = manifest_of(reader, derived.touched())
    found = reversed_manifest(file, entries, reader.digest)
    assert found is not None
    assert found.text.encode("latin-1") == base
    assert found.nodes == parse_graph(base).nodes


def test_another_file_or_manifest_leads_nowhere() -> None:
    base, derived, file = exported(ANSWERS[:2])
    reader = derived.view.base
    entries = manifest_of(reader, derived.touched())
    assert reversed_manifest(parse_graph(base), entries, reader.digest) is None
    assert reversed_manifest(file, entries[1:], reader.digest) is None
    assert reversed_manifest(file, entries, "0" * 64) is None
