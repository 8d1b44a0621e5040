"""Refining, exporting and undoing on graph.json files of every kind: what was synced comes back byte for byte."""

from __future__ import annotations

from dataclasses import dataclass

from hypothesis import given
from hypothesis import strategies as st

from deeprefine_graphdb.graph.base_view import ParsedBase
from deeprefine_graphdb.graph.reverse import reversed_manifest
from deeprefine_graphdb.graph.unecho import unecho
from deeprefine_graphdb.model.actions import Action, DeleteEdge, InsertEdge, ReplaceNode
from deeprefine_loaders.basefile import BaseFile
from deeprefine_loaders.graphfile import GraphFile, parse_graph
from tests.unit.graph.committed import Committed
from tests.unit.graph.echoes import Export, exported
from tests.unit.graph.test_incremental_laws import History
from tests.unit.loaders.odd_files import documents, few, writers

NEW = ("New one", "Another", "ünë")
RELATIONS = ("calls", "USES", "knows", "t", "has")


@dataclass(frozen=True)
class Made:
    """A file as it was synced, what was done on it, and the export of that."""

    base: bytes
    history: History

    @property
    def export(self) -> Export:
        return exported(self.base, self.history.store.view)


def actions_on(graph: GraphFile) -> st.SearchStrategy[Action]:
    labels = st.sampled_from([*dict.fromkeys([*graph.nodes.label, *NEW])])
    relations = st.sampled_from([*dict.fromkeys([*graph.links.relation, *RELATIONS])])
    inserts = st.builds(InsertEdge, subject=labels, relation=relations, object=labels)
    renames = st.builds(ReplaceNode, old=labels, new=labels)
    names = dict(zip(graph.nodes.id, graph.nodes.label, strict=True))
    edges = [
        DeleteEdge(subject=names[source], relation=relation, object=names[target])
        for source, relation, target in zip(
            graph.links.source, graph.links.relation, graph.links.target, strict=True
        )
        if source in names and target in names
    ]
    return st.one_of(inserts, renames, *([st.sampled_from(edges)] if edges else []))


@st.composite
def histories(draw: st.DrawFn) -> Made:
    data = draw(writers()).write(draw(documents()))
    graph = parse_graph(data)
    base = ParsedBase(graph)
    history = History(base, Committed(base))
    for asked in draw(st.lists(st.lists(actions_on(graph), min_size=1, max_size=2), min_size=1, max_size=5)):
        history.apply(asked)
    return Made(data, history)


@few
@given(histories())
def test_undoing_everything_exports_what_was_synced(made: Made) -> None:
    history = made.history
    while history.active:
        history.undo(*(each.refinement.id for each in history.active))
    assert history.store.bytes() == made.base


@few
@given(histories())
def test_a_clone_of_the_export_and_its_manifest_finds_what_was_synced(made: Made) -> None:
    export = made.export
    base = parse_graph(export.base)
    found = reversed_manifest(parse_graph(export.file), export.manifest, base.digest)
    assert found is not None
    assert found.text.encode("latin-1") == export.base


@few
@given(histories())
def test_the_export_less_our_echo_is_what_was_synced(made: Made) -> None:
    export = made.export
    result = unecho(BaseFile.of(parse_graph(export.base)), export.manifest, parse_graph(export.file))
    assert result.base.text.encode("latin-1") == export.base
