"""What the graph and the sources say about two entities."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence

from deeprefine_graphdb.graph.view import GraphView
from deeprefine_graphdb.model.graph import Edge, Entity, Triple
from deeprefine_graphdb.retrieval.sources import Excerpt, SourceReader
from deeprefine_graphdb.review.models import Evidence
from deeprefine_graphdb.review.names import is_file, mention
from deeprefine_loaders.identity import column_text, norm_label
from deeprefine_loaders.objects import read_object

MAX_PATH = 3
PATH_NEIGHBOURS = 50
MAX_READS = 32
CODE_LINES = 200
CONTEXT_PATH = 4

Step = tuple[str, str, str, str]


class Grounds:
    """Looks for evidence in a view, the sources, and the triples that were last retrieved."""

    def __init__(self, view: GraphView, sources: SourceReader | None, context: Sequence[Triple]) -> None:
        self.view = view
        self._sources = sources
        self._context = context

    def named_at(self, entity: Entity, name: str, named: Entity | None = None) -> Evidence | None:
        """Find the line at an entity's source that mentions a name."""
        excerpt = self._own_text(entity)
        line = mention(excerpt, name, named) if excerpt is not None else None
        if excerpt is None or line is None:
            return None
        written = excerpt.lines[line - excerpt.first].strip()[:160]
        namesakes = self._namesakes(entity, named) if named is not None else 0
        which = f", one of {namesakes + 1} of that name" if namesakes else ""
        return Evidence(
            kind="source",
            text=f"The source of {entity.label!r} names {name!r}{which}: {written}",
            where=f"{excerpt.path}:{line}",
            weak=bool(namesakes),
        )

    def between_sources(self, source: Entity, target: Entity) -> Evidence | None:
        """Find a line at one of two entities that names the other."""
        found = [self.named_at(source, target.label, target), self.named_at(target, source.label, source)]
        return min((each for each in found if each is not None), key=lambda each: each.weak, default=None)

    def edge(self, edge: Edge, note: str = "") -> Evidence:
        """Show an edge, and where its file says that it comes from."""
        members = read_object(self.view.object_text(edge))
        file, line = (column_text(members.get(name)) for name in ("source_file", "source_location"))
        where = f"{file}:{line.removeprefix('L')}" if file and line else file or ""
        marks = ", ".join(mark for mark in (edge.confidence, note) if mark)
        shown = f"{self.label(edge.src)} -{edge.relation}-> {self.label(edge.tgt)}"
        return Evidence(
            kind="edge",
            text=f"{shown} ({marks})" if marks else shown,
            where=where,
            edges=(edge.key,),
            weak=bool(note),
        )

    def near(self, source: Entity, target: Entity) -> Evidence | None:
        """Find what lies between two entities: an edge, the retrieved triples, a short path, their community."""
        direct = self.view.edges_between(source.id, target.id) or self.view.edges_between(
            target.id, source.id
        )
        if direct:
            return self.edge(direct[0], "links the two already")
        steps = shortest(source.id, target.id, _ContextNeighbours(self._context), CONTEXT_PATH)
        if steps:
            return self._path("context", "In the retrieved triples: ", steps)
        steps = shortest(source.id, target.id, _StoreNeighbours(self.view), MAX_PATH)
        if steps:
            return self._path("path", "", steps)
        if source.community is not None and source.community == target.community:
            return Evidence(kind="nearby", text=f"Both are in community {source.community}.", weak=True)
        return None

    def alias(self, entity: Entity, name: str) -> Evidence | None:
        """Find a name among the former and the other names of an entity."""
        norm = norm_label(name)
        if entity.id in self.view.alias(norm).ids:
            return Evidence(kind="alias", text=f"{name!r} is a former name of {entity.label!r}.")
        others = read_object(self.view.object_text(entity)).get("aliases")
        if isinstance(others, list) and norm in {norm_label(o) for o in others if isinstance(o, str)}:
            return Evidence(kind="alias", text=f"{name!r} is among the aliases of {entity.label!r}.")
        return None

    def label(self, entity_id: str) -> str:
        """Give an entity's label, or the id of one that is not there."""
        entity = self.view.entity(entity_id)
        return entity.label if entity is not None else entity_id

    def _namesakes(self, reader: Entity, named: Entity) -> int:
        """Count the other entities that a mention may mean as well; none when they are of one file."""
        if reader.source_file and reader.source_file == named.source_file:
            return 0
        names = self.view.names(norm_label(named.label))
        return sum(
            label == named.label and i != named.id for i, label in zip(names.ids, names.labels, strict=True)
        )

    def _own_text(self, entity: Entity) -> Excerpt | None:
        if self._sources is None:
            return None
        if entity.file_type != "code" or is_file(entity):
            return self._sources.excerpt(entity)
        excerpt = self._sources.excerpt(entity, CODE_LINES)
        return excerpt.own() if excerpt is not None else None

    def _path(self, kind: str, before: str, steps: Sequence[Step]) -> Evidence:
        shown = self.label(steps[0][0])
        at = steps[0][0]
        for source, relation, target, _ in steps:
            forward = source == at
            at = target if forward else source
            shown += f" -{relation}-> {self.label(at)}" if forward else f" <-{relation}- {self.label(at)}"
        return Evidence(
            kind="context" if kind == "context" else "path",
            text=before + shown,
            weak=True,
            edges=tuple(key for *_, key in steps if key),
        )


class _StoreNeighbours:
    """Steps around an entity in the graph, for a limited number of entities."""

    def __init__(self, view: GraphView) -> None:
        self._view = view
        self._reads = 0

    def __call__(self, entity_id: str) -> Iterator[Step]:
        self._reads += 1
        if self._reads > MAX_READS:
            return
        for edge in self._view.neighbours(entity_id, PATH_NEIGHBOURS):
            yield edge.src, edge.relation, edge.tgt, edge.key


class _ContextNeighbours:
    """Steps around an entity among some triples."""

    def __init__(self, triples: Iterable[Triple]) -> None:
        self._steps: dict[str, list[Step]] = {}
        for triple in triples:
            if triple.subject_id and triple.object_id:
                step = (triple.subject_id, triple.relation, triple.object_id, triple.key)
                for end in dict.fromkeys((triple.subject_id, triple.object_id)):
                    self._steps.setdefault(end, []).append(step)

    def __call__(self, entity_id: str) -> Iterator[Step]:
        yield from self._steps.get(entity_id, ())


def shortest(
    start: str, goal: str, steps_at: _StoreNeighbours | _ContextNeighbours, limit: int
) -> list[Step]:
    """Give the steps of a shortest path of at most ``limit`` steps, searched from both ends; empty when none."""
    if start == goal:
        return []
    reached: dict[str, dict[str, list[Step]]] = {start: {start: []}, goal: {goal: []}}
    edges: dict[str, list[str]] = {start: [start], goal: [goal]}
    for _ in range(limit):
        side = min((start, goal), key=lambda end: (len(edges[end]), end != start))
        other = reached[goal if side == start else start]
        following: list[str] = []
        for at in edges[side]:
            for step in steps_at(at):
                to = step[2] if step[0] == at else step[0]
                if to in reached[side]:
                    continue
                reached[side][to] = [*reached[side][at], step]
                following.append(to)
        met = [at for at in following if at in other]
        if met:
            best = min(met, key=lambda at: (len(reached[side][at]) + len(other[at]), at))
            return reached[start][best] + reached[goal][best][::-1]
        if not following:
            return []
        edges[side] = following
    return []
