"""Take the echo of our export out of a file: the graph as it would be had we never exported, and the difference."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from deeprefine_graphdb.graph.manifest import ManifestEntry
from deeprefine_graphdb.graph.unecho_case import Case
from deeprefine_graphdb.graph.unecho_found import Found, key_at
from deeprefine_graphdb.graph.unecho_links import unecho_links
from deeprefine_graphdb.graph.unecho_loose import HEADER, unecho_header, unecho_hyperedges
from deeprefine_graphdb.graph.unecho_model import (
    Draft,
    EchoNote,
    EchoText,
    Images,
    Kept,
    Unconfirmed,
    Unechoed,
    no_images,
)
from deeprefine_graphdb.graph.unecho_nodes import unecho_nodes
from deeprefine_graphdb.graph.unecho_place import Placed, place_all
from deeprefine_graphdb.graph.unecho_stubs import settle_stubs
from deeprefine_graphdb.graph.unecho_text import is_ast
from deeprefine_loaders.amend import Amendments, amend, without_section
from deeprefine_loaders.basefile import BaseFile
from deeprefine_loaders.collector import collector_paused
from deeprefine_loaders.graphfile import GraphFile, parse_graph
from deeprefine_loaders.header import KIND_OF_SECTION
from deeprefine_loaders.objects import read_object

MULTIGRAPH = "multigraph"


def unecho(
    base: BaseFile,
    manifest: Iterable[ManifestEntry],
    found: GraphFile,
    images: Images = no_images,
    *,
    written: str | None = None,
) -> Unechoed:
    """Give the new base that a file stands for, and the exact difference between the two.

    ``base`` and ``manifest`` are those of the export that is the file's ancestor; ``written`` is the digest of the
    file that this export wrote. ``images`` tell what other actions of the log did. A file without stamps and without
    a manifest is the new base as it stands; the very file that was written gives the former base as it was.
    """
    with collector_paused():
        return _unecho(base, list(manifest), found, images, written)


def _unecho(
    base: BaseFile, entries: list[ManifestEntry], found: GraphFile, images: Images, written: str | None
) -> Unechoed:
    if found.digest == written:
        return Unechoed(
            parse_graph(base.bytes(), found.source), tuple(entries), echoes=tuple(_texts(entries))
        )
    read = Found(found)
    if not entries and not read.marks:
        return Unechoed(found)
    draft, placed = _differences(Case(base, entries, read, images))
    del read
    if draft.is_empty:
        return Unechoed(found, notes=tuple(draft.notes))
    amended = amend(found, placed.amendments)
    graph = _less_our_sections(_as_graphify_says(amended.graph, draft, base), found, base)
    return Unechoed(
        base=graph,
        manifest=_manifest(draft, placed, graph, amended.inserted),
        unconfirmed=_unconfirmed(draft, placed, graph, amended.inserted),
        echoes=tuple(
            EchoText(object=echo.object, key=echo.key, by=echo.by, raw=echo.raw)
            for echo in draft.echoes
            if echo.added
        ),
        notes=tuple(draft.notes),
    )


def _texts(entries: Iterable[ManifestEntry]) -> Iterator[EchoText]:
    """Give the texts of what an export added, which stand in the file that it wrote as the manifest has them."""
    for entry in entries:
        if entry.kind == "added" and entry.object != "header" and entry.disk is not None:
            yield EchoText(object=entry.object, key=entry.key, by=entry.by, raw=entry.disk)


def _differences(case: Case) -> tuple[Draft, Placed]:
    """Go through the rules. What they look things up in is large, and not needed any more when this is done."""
    unecho_nodes(case)
    matches = unecho_links(case)
    settle_stubs(case)
    unecho_hyperedges(case)
    unecho_header(case)
    _drop_the_placeless(case)
    return case.draft, place_all(case, matches)


def _drop_the_placeless(case: Case) -> None:
    """Let go of what the base would keep in a section of which the file has none of its kind."""
    draft, header = case.draft, case.found.graph.header
    placeless = [kept for kept in draft.kept if not header.of_kind(KIND_OF_SECTION[kept.base_place[0]])]
    for kept in placeless:
        draft.kept.remove(kept)
        text = f"The {kept.object} {kept.key} is gone: the file has no {kept.object}s at all."
        draft.note("gone", kept.object, kept.key, kept.by, text)


def _as_graphify_says(graph: GraphFile, draft: Draft, base: BaseFile) -> GraphFile:
    """Let the header say ``multigraph`` where the file says so and the new base alone has parallel links now."""
    said = next((entry for entry in draft.header_entries if entry.key == HEADER + MULTIGRAPH), None)
    if said is None or said.disk != "true" or not graph.header.parallel_pairs or base.header.parallel_pairs:
        return graph
    draft.header_entries.remove(said)
    return amend(graph, Amendments(header={MULTIGRAPH: said.disk})).graph


def _less_our_sections(graph: GraphFile, found: GraphFile, base: BaseFile) -> GraphFile:
    """Take out a list that the file has for our objects alone: a file may come without any list of links."""
    for section in found.header.sections:
        left = graph.header.section(section.name)
        if left is not None and section.count and not left.count and base.header.section(left.name) is None:
            graph = without_section(graph, left.name, base.member(left.name))
    return graph


def _manifest(
    draft: Draft, placed: Placed, graph: GraphFile, inserted: dict[str, list[int]]
) -> tuple[ManifestEntry, ...]:
    entries = [
        ManifestEntry(kind="added", object=echo.object, key=echo.key, by=echo.by, disk=echo.raw)
        for echo in draft.echoes
    ]
    entries += draft.header_entries
    for section, items in placed.items.items():
        for item, ordinal in zip(items, inserted[section], strict=True):
            entries.append(
                ManifestEntry(
                    kind="removed" if isinstance(item, Kept) else "moved" if item.moved else "changed",
                    object=item.object,
                    key=key_at(graph, section, ordinal),
                    by=item.by,
                    base=item.text,
                    disk=None if isinstance(item, Kept) else item.raw,
                    place=(section, ordinal),
                )
            )
    return tuple(sorted(entries, key=lambda entry: (entry.object, entry.key, entry.by)))


def _unconfirmed(
    draft: Draft, placed: Placed, graph: GraphFile, inserted: dict[str, list[int]]
) -> tuple[Unconfirmed, ...]:
    unconfirmed: list[Unconfirmed] = []
    for section, items in placed.items.items():
        for item, ordinal in zip(items, inserted[section], strict=True):
            if not item.why:
                continue
            key = key_at(graph, section, ordinal)
            ast = is_ast(read_object(item.text))
            unconfirmed.append(Unconfirmed(object=item.object, key=key, by=item.by, ast=ast, raw=item.text))
            text = f"The {item.object} {key} is not in the file: {item.why}. The base keeps it, unconfirmed."
            draft.notes.append(
                EchoNote(kind="unconfirmed", object=item.object, key=key, by=item.by, text=text)
            )
    return tuple(unconfirmed)
