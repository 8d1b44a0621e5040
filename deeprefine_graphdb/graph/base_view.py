"""A parsed graph.json as a graph to read, without any store."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Sequence
from functools import cached_property
from typing import TypeVar

from deeprefine_graphdb.model.graph import Alias, Edge, Entity, Loose, Names
from deeprefine_graphdb.stores.protocol import Touched
from deeprefine_loaders.basefile import BaseFile
from deeprefine_loaders.graphfile import GraphFile
from deeprefine_loaders.identity import norm_label

Answer = TypeVar("Answer")


class ParsedBase:
    """Reads the columns of a parsed file the way a freshly loaded store would answer."""

    def __init__(self, graph: GraphFile) -> None:
        self._graph = graph
        self.base = BaseFile.of(graph)

    def entity(self, entity_id: str) -> Entity | None:
        """Give one entity by its id."""
        at = self._node_at.get(entity_id)
        if at is None:
            return None
        nodes = self._graph.nodes
        return Entity(
            id=entity_id,
            label=nodes.label[at],
            norm_label=nodes.norm_label[at],
            file_type=nodes.file_type[at],
            source_file=nodes.source_file[at],
            source_location=nodes.source_location[at],
            community=nodes.community[at],
            origin=nodes.origin[at],
        )

    def names(self, norm: str) -> Names:
        """Give the entities whose label has this normal form."""
        nodes = self._graph.nodes
        found = sorted((nodes.id[at], at) for at in self._by_norm.get(norm, ()))
        return Names(
            norm=norm,
            ids=tuple(entity_id for entity_id, _ in found),
            labels=tuple(nodes.label[at] for _, at in found),
            files=tuple(nodes.source_file[at] or "" for _, at in found),
        )

    def alias(self, norm: str) -> Alias:
        """Give nothing: a base has no aliases."""
        return Alias(norm=norm)

    def edges_between(self, source: str, target: str) -> list[Edge]:
        """Give all edges source→target, by key."""
        links = self._graph.links
        fewest = min(self._links_at.get(source, ()), self._links_at.get(target, ()), key=len)
        found = [self._edge(at) for at in fewest if links.source[at] == source and links.target[at] == target]
        return sorted(found, key=lambda edge: edge.key)

    def edges_of(self, entity_id: str) -> list[Edge]:
        """Give all edges of an entity, self loops once, by key."""
        return sorted((self._edge(at) for at in self._links_at.get(entity_id, ())), key=lambda edge: edge.key)

    def neighbours(self, entity_id: str, limit: int) -> list[Edge]:
        """Give at most ``limit`` edges out and ``limit`` in, lowest keys first."""
        edges = self.edges_of(entity_id)
        out = [edge for edge in edges if edge.src == entity_id][:limit]
        into = [edge for edge in edges if edge.src != entity_id][:limit]
        return sorted(out + into, key=lambda edge: edge.key)

    def loose(self, key: str) -> Loose | None:
        """Give a dangling link or hyperedge by its key."""
        return self._loose.get(key)

    def loose_with(self, member: str) -> list[Loose]:
        """Give the dangling links and hyperedges that name this id, by key."""
        return [self._loose[key] for key in sorted(self._loose_by_member.get(member, ()))]

    def touched(self) -> Touched:
        """Give nothing: a base does not differ from itself."""
        return Touched()

    def several(self, reads: Sequence[Callable[[], Answer]]) -> list[Answer]:
        """Carry out reads one after another."""
        return [read() for read in reads]

    def _edge(self, at: int) -> Edge:
        links = self._graph.links
        return Edge(
            key=links.key[at],
            origin_key=links.key[at],
            src=links.source[at],
            tgt=links.target[at],
            relation=links.relation[at],
            confidence=links.confidence[at],
        )

    @cached_property
    def _node_at(self) -> dict[str, int]:
        return {entity_id: at for at, entity_id in enumerate(self._graph.nodes.id)}

    @cached_property
    def _by_norm(self) -> dict[str, list[int]]:
        by_norm: defaultdict[str, list[int]] = defaultdict(list)
        for at, label in enumerate(self._graph.nodes.label):
            by_norm[norm_label(label)].append(at)
        return dict(by_norm)

    @cached_property
    def _links_at(self) -> dict[str, list[int]]:
        links = self._graph.links
        ends: defaultdict[str, list[int]] = defaultdict(list)
        for at, (source, target, dangling) in enumerate(
            zip(links.source, links.target, links.dangling, strict=True)
        ):
            if dangling:
                continue
            ends[source].append(at)
            if target != source:
                ends[target].append(at)
        return dict(ends)

    @cached_property
    def _loose(self) -> dict[str, Loose]:
        links, hyperedges = self._graph.links, self._graph.hyperedges
        rows = {
            key: Loose(key=key, kind="link", members=(links.source[at], links.target[at]))
            for at, key in enumerate(links.key)
            if links.dangling[at]
        }
        for key, members in zip(hyperedges.key, hyperedges.members, strict=True):
            rows[key] = Loose(key=key, kind="hyperedge", members=tuple(members))
        return rows

    @cached_property
    def _loose_by_member(self) -> dict[str, set[str]]:
        by_member: defaultdict[str, set[str]] = defaultdict(set)
        for key, row in self._loose.items():
            for member in row.members:
                by_member[member].add(key)
        return dict(by_member)
