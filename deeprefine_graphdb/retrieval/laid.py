"""How the edges of a graph with an overlay differ from those that an index was made from."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import NamedTuple

from deeprefine_graphdb.graph.view import GraphView
from deeprefine_graphdb.model.graph import Edge
from deeprefine_graphdb.retrieval.catalogue import EdgeCatalogue, edge_text, touched_edges, wanted_texts
from deeprefine_graphdb.stores.protocol import GraphStore


class LaidEdge(NamedTuple):
    """An edge that the index lacks or has with another text: key, ids of its ends, text now.

    ``before`` is its text in the index, or that of the edge that it was before it was re-pointed; ``""`` when new.
    """

    key: str
    source: str
    target: str
    text: str
    before: str = ""


@dataclass(frozen=True)
class Laid:
    """The difference: ``hidden`` are the keys of which nothing in the index holds any more, those of ``edges`` too.

    ``lost`` are the texts that the index has for them.
    """

    edges: tuple[LaidEdge, ...] = ()
    hidden: frozenset[str] = frozenset()
    lost: tuple[str, ...] = ()

    @property
    def more(self) -> int:
        """How many edges more there are than in the index."""
        return len(self.edges) - len(self.lost)


NOTHING_LAID = Laid()


def laid_over(catalogue: EdgeCatalogue, view: GraphView, store: GraphStore, fresh: bool) -> Laid:
    """Compare what a catalogue says with a view of the open store; the catalogue stays as it is.

    ``fresh`` says that the catalogue shows the store as it is, so that only the view's overlay can make a difference;
    else everything that refinements touched since is compared too.
    """
    wanted = {} if fresh else dict(wanted_texts(view, _moved_on(catalogue, store)))
    wanted.update((row.key, _wanted(view, row)) for row in _overlaid(view))
    origins = {key: row.origin_key for key, row in view.overlay.edges.items()}
    known = catalogue.texts({*wanted, *origins.values()})
    edges: list[LaidEdge] = []
    hidden: set[str] = set()
    for key, want in sorted(wanted.items()):
        if want is not None and known.get(key) == want[2]:
            continue
        hidden.add(key)
        if want is not None:
            before = known.get(key) or known.get(origins.get(key, ""), "")
            edges.append(LaidEdge(key, *want, before))
    lost = tuple(known[key] for key in sorted(hidden) if key in known)
    return Laid(tuple(edges), frozenset(hidden), lost)


def _moved_on(catalogue: EdgeCatalogue, store: GraphStore) -> dict[str, tuple[str, str]]:
    ends = catalogue.watched()
    ends.update((key, (src, tgt)) for key, src, tgt in touched_edges(store))
    return ends


def _overlaid(view: GraphView) -> Iterator[Edge]:
    """Give every edge whose text the overlay may change: its own, live or not, and those of relabelled entities."""
    yield from list(view.overlay.edges.values())
    for entity in list(view.overlay.entities.values()):
        before = view.reader.entity(entity.id)
        if entity.live and before is not None and before.label != entity.label:
            yield from view.edges_of(entity.id)


def _wanted(view: GraphView, row: Edge) -> tuple[str, str, str] | None:
    source, target = view.entity(row.src), view.entity(row.tgt)
    if not row.live or source is None or target is None:
        return None
    return row.src, row.tgt, edge_text(source.label, row.relation, target.label)
