"""Finding objects in the index of a base file, spread evenly or not."""

from __future__ import annotations

import json
from hashlib import blake2b

from deeprefine_loaders.graphfile import GraphFile, parse_graph


def test_every_object_is_found_and_no_other(real_graph: dict[str, bytes]) -> None:
    _check(parse_graph(real_graph["flask"]))


def test_objects_are_found_where_digests_are_not_spread_evenly() -> None:
    ids = [f"n{at}" for at in range(20_000)]
    first = {entity_id: blake2b(entity_id.encode(), digest_size=12).digest()[0] for entity_id in ids}
    for uneven in ({0, 1, 2}, {255}, {0, 1, 2, 3, 255}, {100, 101, 102, 103}):
        nodes = [{"id": entity_id} for entity_id in ids if first[entity_id] in uneven]
        _check(parse_graph(json.dumps({"nodes": nodes, "links": []}).encode()))


def _check(graph: GraphFile) -> None:
    keys = {"node": graph.nodes.id, "link": graph.links.key, "hyperedge": graph.hyperedges.key}
    for kind, known in keys.items():
        for ordinal, key in enumerate(known):
            found = graph.index.find(kind, key)
            assert found is not None
            assert found.ordinal == ordinal
            assert (found.start, found.end) == graph.index.span(found.section, ordinal)
        assert graph.index.find(kind, "nothing has this key") is None
