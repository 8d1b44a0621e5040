"""A manifest taken back on the very file that it is of: the base that the file was written from."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable

from deeprefine_graphdb.graph.manifest import ManifestEntry
from deeprefine_graphdb.graph.texts import STAMP
from deeprefine_loaders.amend import Amendments, amend, without_section
from deeprefine_loaders.errors import FormatError
from deeprefine_loaders.graphfile import GraphFile
from deeprefine_loaders.scan import utf8

HEADER = "header:"


def reversed_manifest(
    file: GraphFile, entries: Iterable[ManifestEntry], base_digest: str
) -> GraphFile | None:
    """Give the base with this digest, or ``None`` when the file and the manifest do not lead to it."""
    told = list(entries)
    if not told:
        return file if file.digest == base_digest else None
    stamped = _stamped(file)
    amendments = Amendments()
    back: defaultdict[str, list[tuple[int, str]]] = defaultdict(list)
    for entry in told:
        if entry.object == "header":
            amendments.header[entry.key.removeprefix(HEADER)] = entry.base
            continue
        if entry.disk is not None:
            places = stamped.get(entry.disk)
            if not places:
                return None
            amendments.removed.add(places.pop())
        if entry.base is not None:
            if entry.place is None:
                return None
            back[entry.place[0]].append((entry.place[1], entry.base))
    for section, items in back.items():
        found = file.header.section(section)
        if found is None:
            return None
        amendments.inserted[section] = _before(items, section, found.count, amendments.removed)
    try:
        base = amend(file, amendments).graph
    except (FormatError, KeyError):
        return None
    if base.digest == base_digest:
        return base
    for links in base.header.of_kind("link"):
        # The export makes a list of links for a file that has none, and only the digest tells that it did.
        if not links.count and links.name in {name for name, _ in amendments.removed}:
            for raw in (None, "null"):
                less = without_section(base, links.name, raw)
                if less.digest == base_digest:
                    return less
    return None


def _stamped(file: GraphFile) -> dict[str, list[tuple[str, int]]]:
    """Give where the objects with our stamp stand, by their text."""
    places: defaultdict[str, list[tuple[str, int]]] = defaultdict(list)
    mark = f'"{STAMP}"'
    for section, spans in file.spans.items():
        for ordinal, (start, end) in enumerate(zip(spans.starts, spans.ends, strict=True)):
            if file.text.find(mark, start, end) >= 0:
                places[utf8(file.text[start:end])].append((section, ordinal))
    return places


def _before(
    items: list[tuple[int, str]], section: str, count: int, removed: set[tuple[str, int]]
) -> list[tuple[int, str]]:
    """Turn ordinals in the base into those of the file's elements before which the texts go."""
    kept = [ordinal for ordinal in range(count) if (section, ordinal) not in removed]
    placed = []
    for number, (ordinal, text) in enumerate(sorted(items)):
        at = ordinal - number
        placed.append((kept[at] if at < len(kept) else count, text))
    return placed
