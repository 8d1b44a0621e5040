"""Stamps on objects whose ids got a prefix: ``graphify merge-graphs`` puts the repository's tag before every id.

A stamp names the identity of the object that it was made for, so one that was carried along with a prefixed object
does not fit it any more. Here it is told from a stamp that bled onto another object, and made anew for the identity
that the object has now.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, replace
from functools import partial
from typing import Any

from deeprefine_graphdb.graph.manifest import ManifestEntry, manifest_between
from deeprefine_graphdb.graph.texts import MEMBER_LISTS, STAMP, stamp
from deeprefine_graphdb.graph.unecho import unecho
from deeprefine_graphdb.graph.unecho_found import Found
from deeprefine_graphdb.graph.unecho_model import Images, Unechoed, no_images
from deeprefine_loaders.basefile import BaseFile
from deeprefine_loaders.graphfile import GraphFile, parse_graph
from deeprefine_loaders.objects import edit_object, read_object

SEPARATOR = "::"
_ENDS = ("id", "source", "target", "_src", "_tgt")


@dataclass(frozen=True)
class Restamped:
    """A file whose carried stamps are made anew, the same to the letter but for these.

    ``original`` gives for each new stamp the one that stands in the file, ``prefix`` what its object's ids begin with.
    """

    graph: GraphFile
    original: Mapping[str, str]
    prefix: Mapping[str, str]

    def taken_back(self, graph: GraphFile) -> GraphFile:
        """Give a file made of this one with the stamps that are left in it as they were."""
        text = graph.text
        for new, old in self.original.items():
            text = text.replace(f'"{new}"', f'"{old}"')
        return graph if text == graph.text else parse_graph(text.encode("latin-1"), graph.source)


def restamped(found: GraphFile) -> Restamped:
    """Make stamps anew that were carried along with a prefixed object; a file without such is given as it is."""
    original: dict[str, str] = {}
    prefixes: dict[str, str] = {}
    pieces: list[str] = []
    done = 0
    spots = []
    for mark in Found(found).marks:
        prefix = None if mark.valid else prefix_of(mark.stamp, mark.members, kind=mark.object)
        if prefix is not None:
            start = found.spans[mark.place.section].starts[mark.place.ordinal]
            spots.append((start, mark, prefix))
    for start, mark, prefix in sorted(spots, key=lambda spot: spot[0]):
        new = stamp(mark.by, mark.members, kind=mark.object)
        original[new], prefixes[new] = mark.stamp, prefix
        end = found.spans[mark.place.section].ends[mark.place.ordinal]
        text = edit_object(mark.raw, {STAMP: new}).encode("utf-8").decode("latin-1")
        pieces += [found.text[done:start], text]
        done = end
    if not spots:
        return Restamped(found, {}, {})
    pieces.append(found.text[done:])
    return Restamped(parse_graph("".join(pieces).encode("latin-1"), found.source), original, prefixes)


def prefix_of(mark: str, members: Mapping[str, Any], *, kind: str) -> str | None:
    """Give the prefix without which a stamp names the identity of an object, or ``None`` when there is none."""
    by = mark.rpartition(":")[0]
    for prefix in _prefixes(members):
        if stamp(by, renamed(members, partial(_without, prefix)), kind=kind) == mark:
            return prefix
    return None


def renamed(members: Mapping[str, Any], rename: Callable[[Any], Any]) -> dict[str, Any]:
    """Give members with every id in them, and every id of a hyperedge's members, under another name."""
    changed = dict(members)
    for name in _ENDS:
        if members.get(name) is not None:
            changed[name] = rename(members[name])
    for name in MEMBER_LISTS:
        if isinstance(members.get(name), list):
            changed[name] = [rename(each) for each in members[name]]
    return changed


def unecho_prefixed(
    base: BaseFile,
    manifest: Iterable[ManifestEntry],
    found: GraphFile,
    images: Images = no_images,
    *,
    written: str | None = None,
) -> Unechoed:
    """Do what :func:`unecho` does, with stamps that were carried along with prefixed objects made anew for it."""
    entries = list(manifest)
    anew = restamped(found) if found.digest != written else Restamped(found, {}, {})
    if not anew.original:
        return unecho(base, entries, found, images, written=written)
    result = unecho(base, [_entry(entry) for entry in entries], anew.graph, images)
    graph = anew.taken_back(result.base)
    return replace(result, base=graph, manifest=manifest_to(graph, found, result.manifest))


def manifest_to(
    graph: GraphFile, found: GraphFile, told: Iterable[ManifestEntry]
) -> tuple[ManifestEntry, ...]:
    """Give the exact difference between two files, with the actions that these entries name for it."""
    by = {(entry.object, entry.key): entry.by for entry in told}
    return tuple(
        entry if entry.by else entry.model_copy(update={"by": by.get((entry.object, entry.key), "")})
        for entry in manifest_between(graph, found)
    )


def _entry(entry: ManifestEntry) -> ManifestEntry:
    """Make the stamp anew in the image of an object that was written with a prefix."""
    if entry.disk is None or entry.object == "header":
        return entry
    members = read_object(entry.disk) if entry.disk.startswith("{") else {}
    mark = members.get(STAMP)
    if not isinstance(mark, str) or prefix_of(mark, members, kind=entry.object) is None:
        return entry
    new = stamp(mark.rpartition(":")[0], members, kind=entry.object)
    return entry.model_copy(update={"disk": edit_object(entry.disk, {STAMP: new})})


def _prefixes(members: Mapping[str, Any]) -> Iterator[str]:
    """Give what may be a prefix of the ids that are named here, the longest last."""
    values = [members.get(name) for name in _ENDS]
    for name in MEMBER_LISTS:
        listed = members.get(name)
        values += listed if isinstance(listed, list) else []
    seen: dict[str, None] = {}
    for value in values:
        at = value.find(SEPARATOR) if isinstance(value, str) else -1
        while at >= 0:
            at += len(SEPARATOR)
            seen[str(value)[:at]] = None
            at = str(value).find(SEPARATOR, at)
    yield from seen


def _without(prefix: str, value: Any) -> Any:
    return value[len(prefix) :] if isinstance(value, str) and value.startswith(prefix) else value
