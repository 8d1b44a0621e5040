"""Walking a view hop by hop, and showing the edges that were found or kept as triples with their evidence."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from itertools import chain

from deeprefine_graphdb.graph.naming import prefetch_names, triple_of
from deeprefine_graphdb.graph.questions import between
from deeprefine_graphdb.graph.view import GraphView
from deeprefine_graphdb.model.graph import Edge
from deeprefine_graphdb.retrieval.catalogue import edge_text
from deeprefine_graphdb.retrieval.protocol import Retrieved
from deeprefine_graphdb.retrieval.ranking import EdgeIndex, Hit, OverlaidIndex, score_range

NEIGHBOUR_CAP = 50
TRIES = 3
SEARCH_METHOD = "graphify_query"
EXPANSION_METHOD = "k_hop_expansion"


def found_triples(
    view: GraphView, index: EdgeIndex | OverlaidIndex, edges: int, hits: Sequence[Hit]
) -> Retrieved:
    """Give what a search over so many edges found, as far as the view has it."""
    prefetch_names(view, chain.from_iterable((hit.source, hit.target) for hit in hits))
    view.prefetch(between(hit.source, hit.target) for hit in hits)
    triples = []
    for hit in hits:
        live = {edge.key: edge for edge in view.edges_between(hit.source, hit.target)}
        if hit.key in live:
            triples.append(triple_of(view, live[hit.key]))
    spread = score_range([hit.score for hit in hits])
    note = "" if hits else "; the graph has no edge" if not edges else "; no edge shares a term with it"
    return Retrieved(
        triples=tuple(triples),
        method=SEARCH_METHOD,
        evidence=f"{index.describe()}: {len(triples)} of {edges} edges{spread}{note}",
    )


def expanded_triples(
    view: GraphView,
    index: EdgeIndex | OverlaidIndex,
    kept: Sequence[Edge],
    scores: Mapping[str, float],
    hops: int,
) -> Retrieved:
    """Give the edges that were kept of an expansion, all of whose edges are in ``scores``."""
    prefetch_names(view, chain.from_iterable((edge.src, edge.tgt) for edge in kept))
    spread = score_range([scores[edge.key] for edge in kept])
    return Retrieved(
        triples=tuple(triple_of(view, edge) for edge in kept),
        method=EXPANSION_METHOD,
        evidence=f"{hops} hop{'s' if hops != 1 else ''} in the store, "
        f"{len(kept)} of {len(scores)} edges, ranked by {index.describe()}{spread}",
    )


def texts_in(view: GraphView, edges: Mapping[str, Edge], known: Mapping[str, str]) -> dict[str, str]:
    """Give the texts of edges by key, from the view where they are not ``known``."""
    texts = dict(known)
    unknown = [edge for key, edge in edges.items() if key not in texts]
    view.prefetch(f"entity:{end}" for edge in unknown for end in (edge.src, edge.tgt))
    for key, edge in edges.items():
        if key not in texts:
            source, target = view.entity(edge.src), view.entity(edge.tgt)
            texts[key] = edge_text(
                source.label if source else edge.src, edge.relation, target.label if target else edge.tgt
            )
    return texts


def edges_within(view: GraphView, entity_ids: Iterable[str], hops: int) -> dict[str, Edge]:
    """Give the edges within some hops of entities, by key; of equal triples the one with the lowest key."""
    found: dict[str, Edge] = {}
    frontier = list(dict.fromkeys(entity_ids))
    reached = set(frontier)
    for _ in range(hops):
        edges = list(chain.from_iterable(view.neighbours_of(frontier, NEIGHBOUR_CAP)))
        found.update((edge.key, edge) for edge in edges)
        ends = dict.fromkeys(end for edge in edges for end in (edge.src, edge.tgt) if end not in reached)
        frontier = list(ends)
        reached.update(ends)
    distinct: dict[tuple[str, str, str], Edge] = {}
    for key in sorted(found):
        edge = found[key]
        distinct.setdefault((edge.src, edge.relation, edge.tgt), edge)
    return {edge.key: edge for edge in distinct.values()}
