"""Exported files with their base and manifest, and what becomes of them."""

from __future__ import annotations

import copy
import json
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import Any

from deeprefine_graphdb.graph.base_view import ParsedBase
from deeprefine_graphdb.graph.manifest import ManifestEntry, manifest_of
from deeprefine_graphdb.graph.render import graph_bytes
from deeprefine_graphdb.graph.unecho import unecho
from deeprefine_graphdb.graph.unecho_model import Images, Unechoed, no_images
from deeprefine_graphdb.graph.view import GraphView
from deeprefine_graphdb.stores.protocol import Touched
from deeprefine_loaders.basefile import BaseFile
from deeprefine_loaders.graphfile import parse_graph
from tests.unit.graph.small import plan

Json = dict[str, Any]


@dataclass(frozen=True)
class Export:
    """A base, the file that an export of a refined graph over it wrote, and its manifest."""

    base: bytes
    file: bytes
    manifest: list[ManifestEntry]

    @property
    def data(self) -> Json:
        """The file, parsed."""
        return parsed(self.file)

    def unecho(self, found: Json | bytes, images: Images = no_images) -> Unechoed:
        """Take the echo out of a file that came of this export."""
        data = found if isinstance(found, bytes) else written(found)
        return unecho(BaseFile.of(parse_graph(self.base)), self.manifest, parse_graph(data), images)

    def entry(self, kind: str, obj: str | None = None) -> ManifestEntry:
        """Give the one entry of a kind."""
        (entry,) = [each for each in self.manifest if each.kind == kind and obj in {None, each.object}]
        return entry


def export(base: bytes, *refinements: str) -> Export:
    """Carry out refinements ``r1``, ``r2`` … on a base and export."""
    view = GraphView(ParsedBase(parse_graph(base)))
    for number, answer in enumerate(refinements, start=1):
        plan(view, answer, f"r{number}", number)
    return exported(base, view)


def exported(base: bytes, view: GraphView) -> Export:
    """Export a view over a base."""
    laid = view.overlay
    touched = Touched(tuple(laid.entities.values()), tuple(laid.edges.values()), tuple(laid.loose.values()))
    return Export(base, b"".join(graph_bytes(view.base, touched)), manifest_of(view.base, touched))


def written(data: Json) -> bytes:
    """Write a graph as graphify does, in the order that it is in."""
    return json.dumps(data, separators=(",", ":")).encode()


def by_graphify(data: Json) -> bytes:
    """Write a graph as graphify does, sorted."""
    data = copy.deepcopy(data)
    for name, lead in (("nodes", ("id", "label")), ("links", ("source", "target", "relation"))):
        objects = [
            {key: each[key] for key in (*[k for k in lead if k in each], *sorted(each.keys() - set(lead)))}
            for each in data[name]
        ]
        data[name] = sorted(objects, key=_canonical)
    if "hyperedges" in data:
        data["hyperedges"] = sorted(data["hyperedges"], key=_canonical)
    return written(data)


def _canonical(each: Json) -> str:
    return json.dumps(each, ensure_ascii=False, sort_keys=True, separators=(",", ":"))


def parsed(data: bytes | str) -> Json:
    value: Json = json.loads(data)
    return value


def base_of(result: Unechoed) -> Json:
    """Give the new base, parsed, having held that its columns are those of a parse of its bytes."""
    data = result.base.text.encode("latin-1")
    fresh = parse_graph(data)
    assert (fresh.nodes, fresh.links, fresh.hyperedges) == (
        result.base.nodes,
        result.base.links,
        result.base.hyperedges,
    )
    assert (fresh.header, fresh.digest) == (result.base.header, result.base.digest)
    return parsed(data)


def without(objects: Iterable[Json], test: Callable[[Json], bool]) -> list[Json]:
    return [each for each in objects if not test(each)]


def notes(result: Unechoed, kind: str) -> list[str]:
    return [note.key for note in result.notes if note.kind == kind]
