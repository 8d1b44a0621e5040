"""What differs: between the graph and its base, between the graph and graph.json, or by one refinement."""

from __future__ import annotations

from typing import Literal

from deeprefine_graphdb.graph.difference import Difference, of_effects, of_files, of_manifests
from deeprefine_graphdb.graph.manifest import manifest_of
from deeprefine_graphdb.graph.render import graph_bytes
from deeprefine_graphdb.model.errors import GraphFormatError
from deeprefine_graphdb.project.knowledge_base import KnowledgeBase, known_digests
from deeprefine_graphdb.project.source import read_source
from deeprefine_loaders.graphfile import parse_graph

Against = Literal["base", "disk"]


def diff(base: KnowledgeBase, against: Against) -> list[Difference]:
    """Give what the graph has otherwise than its base, or than graph.json as it is on disk."""
    with base.open("read") as store:
        touched = store.touched()
        now = manifest_of(store.base, touched)
        if against == "base":
            return of_manifests((), now)
        digest = base.graph_digest()
        known = known_digests(base.log()).get(digest or "")
        if known is not None:
            return of_manifests(known.entries(), now)
        if digest is None:
            raise GraphFormatError(
                f"{base.project.graph_json} does not exist.", "Run `deeprefine-db export` to write it."
            )
        wanted = parse_graph(b"".join(graph_bytes(store.base, touched)), "the graph")
    return of_files(read_source(base.project.graph_json), wanted)


def diff_of(base: KnowledgeBase, refinement_id: str) -> list[Difference]:
    """Give what one refinement changed when it was last derived. Raises :class:`UsageError` for an unknown one."""
    log = base.log()
    effects = log.effects_of(log.refinement(refinement_id).id)
    with base.open("read") as store:
        return of_effects(effects, store.base)
