"""All that the rules of un-echoing look at: the kept base, the manifest, the images of the log, the file found."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any, Literal

from deeprefine_graphdb.graph.manifest import ManifestEntry
from deeprefine_graphdb.graph.texts import STAMP, stamp
from deeprefine_graphdb.graph.unecho_found import Found, Mark, Pair, pair_of
from deeprefine_graphdb.graph.unecho_model import Draft, Images, ObjectKind, Place
from deeprefine_graphdb.graph.unecho_text import ends_of, is_stub, link_identity
from deeprefine_graphdb.model.actions import MAX_ACTIONS
from deeprefine_loaders.basefile import BaseFile
from deeprefine_loaders.identity import column_text, storable_text
from deeprefine_loaders.objects import read_object

_TAKEN_AWAY = frozenset({"removed", "folded", "moved"})
Whose = Literal["ours", "foreign", "unknown", "stray"]


class Known:
    """A manifest entry with its texts parsed when they are asked for."""

    def __init__(self, entry: ManifestEntry) -> None:
        self.entry = entry

    @property
    def before(self) -> str:
        """The text without our change, ``""`` where it is not in the base."""
        return self.entry.base or ""

    @property
    def after(self) -> str:
        """The text as we wrote it, ``""`` where we wrote none."""
        return self.entry.disk or ""

    @cached_property
    def base(self) -> dict[str, Any]:
        """Members without our change, nothing where it is not in the base."""
        return read_object(self.entry.base) if self.entry.base is not None else {}

    @cached_property
    def disk(self) -> dict[str, Any]:
        """Members as we wrote them, nothing where we wrote none."""
        return read_object(self.entry.disk) if self.entry.disk is not None else {}

    @property
    def stamp(self) -> str:
        """The stamp that we wrote."""
        return str(self.disk.get(STAMP, ""))

    @property
    def stamp_is_own(self) -> bool:
        """Whether what we wrote carries a stamp that was made for it."""
        return self.stamp == stamp(self.stamp.rpartition(":")[0], self.disk, kind=self.entry.object)

    @cached_property
    def base_identity(self) -> tuple[str, str, str]:
        """Source, relation and target of a link in the base."""
        return link_identity(self.base)

    @cached_property
    def disk_identity(self) -> tuple[str, str, str]:
        """Source, relation and target of a link as we wrote it."""
        return link_identity(self.disk)

    @property
    def moves(self) -> bool:
        """Whether a link of the base stands in the file with another end."""
        return bool(self.entry.base and self.entry.disk) and self.base_identity != self.disk_identity


@dataclass(frozen=True)
class Gone:
    """An object of the base that the file lacks and no entry of the manifest is about."""

    members: dict[str, Any]
    text: str
    place: tuple[str, int]


class Case:
    """The question, and the answer as far as it is found (``draft``)."""

    def __init__(
        self, base: BaseFile, manifest: Iterable[ManifestEntry], found: Found, images: Images
    ) -> None:
        self.base = base
        self.found = found
        self.images = images
        self.draft = Draft()
        self.entries: dict[ObjectKind, list[Known]] = {"node": [], "link": [], "hyperedge": [], "header": []}
        self.by_stamp: dict[str, Known] = {}
        for entry in manifest:
            known = Known(entry)
            self.entries[entry.object].append(known)
            if entry.disk is not None and entry.object != "header" and known.stamp_is_own:
                self.by_stamp.setdefault(known.stamp, known)
        self.node_ids: set[str] = set()
        self.lost_stubs: dict[str, Known] = {}
        self._of_action: dict[str, dict[str, Known] | None] = {}
        self._take_in_other_exports()

    def marks(self, kind: ObjectKind) -> Sequence[Mark]:
        """Give the stamps on objects of a kind."""
        return [mark for mark in self.found.marks if mark.object == kind]

    def image(self, mark: Mark) -> tuple[Whose, Known | None]:
        """Tell whose a stamp is, and what we know of the object.

        ``stray`` is a stamp on an object that it was not made for, ``foreign`` one of a refinement that the log does
        not know, ``unknown`` one of our log for which there is no image.
        """
        known = self.by_stamp.get(mark.stamp)
        if mark.object == "hyperedge" and known is not None:
            known = next(
                (
                    each
                    for each in self.entries["hyperedge"]
                    if (each.stamp, each.entry.key) == (mark.stamp, mark.key)
                ),
                known,
            )
        if not mark.valid:
            nameless = mark.object == "hyperedge" and mark.members.get("id") is None
            return ("ours", known) if nameless and known is not None else ("stray", None)
        if known is not None:
            return "ours", known
        images = self._images_of(mark.by)
        if images is None:
            return "foreign", None
        found = images.get(mark.stamp)
        return ("ours", found) if found is not None else ("unknown", None)

    def header_entries(self) -> list[ManifestEntry]:
        """Give what we wrote into the header: in the export at hand, and with actions whose stamps the file carries."""
        entries = {known.entry.key: known.entry for known in self.entries["header"]}
        for action in dict.fromkeys(mark.by for mark in self.found.marks if mark.valid):
            for entry in self.images(action) or ():
                if entry.object == "header":
                    entries.setdefault(entry.key, entry)
        return list(entries.values())

    def is_exact(self, known: Known, place: Place) -> bool:
        """Tell whether an object without a stamp of its own stands in the file as the manifest says, to the letter."""
        return not known.stamp_is_own and self.found.raw(place) == known.entry.disk

    def is_minted(self, known: Known) -> bool:
        """Tell whether the file has a stub in the place of an entity that we merged away.

        graphify makes one when it reads an import of what it does not find.
        """
        number = self.found.node_at.get(known.entry.key)
        if (
            number is None
            or known.entry.disk is not None
            or is_stub(known.base)
            or self.file_is_gone(known.base)
        ):
            return False
        return is_stub(self.found.members(self.found.place("node", number)))

    def source_of(self, mark: Mark) -> Known | None:
        """Give the object that a stray stamp was made for, if we know it."""
        known = self.by_stamp.get(mark.stamp)
        if known is None and mark.stamp:
            known = (self._images_of(mark.by) or {}).get(mark.stamp)
        return known

    def foreign(self, mark: Mark, whose: Whose) -> None:
        """Note a stamp that is left where it stands."""
        why = (
            f"{mark.by} is no refinement of this log"
            if whose == "foreign"
            else f"the log does not say how it was before {mark.by}"
        )
        text = f"The {mark.object} {mark.key} carries a stamp of {mark.by}; {why}, so it is part of the base."
        self.draft.note("foreign", mark.object, mark.key, mark.by, text)

    def file_is_gone(self, members: dict[str, Any]) -> bool:
        """Tell whether a source file left the file as a whole: none of its nodes is left, and others went with it."""
        name = column_text(members.get("source_file"))
        return bool(name) and name not in self.found.unstamped_files and name in self._gone_nodes[1]

    @property
    def gone_stubs(self) -> dict[str, Gone]:
        """Untouched stubs of the base that the file lacks, by id."""
        return self._gone_nodes[0]

    @cached_property
    def _gone_nodes(self) -> tuple[dict[str, Gone], set[str]]:
        """The stubs among the untouched nodes of the base that the file lacks, and the source files of the others."""
        stubs: dict[str, Gone] = {}
        files: set[str] = set()
        touched = {known.entry.place for known in self.entries["node"]}
        for missing in self.base.missing("node", self.found.graph.nodes.id):
            place = (missing.section, missing.ordinal)
            if place not in touched:
                text = self.base.read(missing.start, missing.end).decode("utf-8")
                members = read_object(text)
                files.add(column_text(members.get("source_file")) or "")
                if is_stub(members):
                    stubs[node_id(members)] = Gone(members, text, place)
        return stubs, files

    @cached_property
    def exact_links(self) -> dict[str, str]:
        """What links without a stamp of their own are in the base, by their text in the file that we know."""
        return {
            known.entry.disk: known.entry.base
            for known in self.entries["link"]
            if known.entry.disk is not None and known.entry.base is not None and not known.stamp_is_own
        }

    @cached_property
    def gone_links(self) -> list[Gone]:
        """Links of the base that the file lacks by their key, touched or not, at what we touched."""
        ids = {end for pair in self.our_pairs for end in pair} | self.merged.keys() | self.renamed.keys()
        gone = []
        for missing in self.base.missing("link", self.found.graph.links.key) if ids else ():
            text = self.base.read(missing.start, missing.end).decode("utf-8")
            members = read_object(text)
            if not ids.isdisjoint(ends_of(members)):
                gone.append(Gone(members, text, (missing.section, missing.ordinal)))
        return gone

    @cached_property
    def fused(self) -> dict[Pair, list[dict[str, Any]]]:
        """Links that were on a pair of ours and are not in the file: graphify may have fused them with one that is."""
        fused: dict[Pair, list[dict[str, Any]]] = {pair: [] for pair in self.our_pairs}
        there = {mark.stamp for mark in self.marks("link") if mark.valid}
        for known in self.entries["link"]:
            if known.entry.disk is not None and known.stamp not in there:
                fused[pair_of(*ends_of(known.disk))].append(known.disk)
        for gone in self.gone_links if fused else ():
            if (pair := pair_of(*ends_of(gone.members))) in fused:
                fused[pair].append(gone.members)
        return fused

    @cached_property
    def merged(self) -> dict[str, str]:
        """Entities that are merged away and that the file lacks: the action, by id."""
        return {
            known.entry.key: known.entry.by
            for known in self.entries["node"]
            if known.entry.disk is None
            and (known.entry.key not in self.found.node_at or self.is_minted(known))
        }

    @cached_property
    def renamed(self) -> dict[str, str]:
        """Entities whose rename of ours is live in the file: the action, by id."""
        return {
            mark.key: mark.by
            for mark in self.marks("node")
            if (known := self.image(mark)[1]) is not None and known.entry.base is not None
        }

    @cached_property
    def our_pairs(self) -> dict[Pair, str]:
        """Pairs on which we wrote a link: the action, by pair."""
        return {
            pair_of(*ends_of(known.disk)): known.entry.by
            for known in self.entries["link"]
            if known.entry.disk is not None
        }

    def _take_in_other_exports(self) -> None:
        """Let what a refinement removed count too where the file carries a stamp of it and the manifest does not.

        Such a file comes of an export in which that refinement was active; what it removed bears no stamp.
        """
        others = {
            mark.by.rpartition(".")[0]: None
            for mark in self.found.marks
            if mark.valid and mark.stamp not in self.by_stamp
        }
        known = {(kind, each.entry.key) for kind, entries in self.entries.items() for each in entries}
        for refinement in others:
            for number in range(1, MAX_ACTIONS + 1):
                for entry in self.images(f"{refinement}.{number}") or ():
                    place = self.base.place(entry.object, entry.key) if entry.object != "header" else None
                    text = self.base.slice(entry.object, entry.key) if place is not None else None
                    if (
                        entry.kind in _TAKEN_AWAY
                        and text is not None
                        and (entry.object, entry.key) not in known
                    ):
                        own = entry.model_copy(update={"base": text, "place": place})
                        self.entries[entry.object].append(Known(own))
                        known.add((entry.object, entry.key))

    def _images_of(self, action: str) -> dict[str, Known] | None:
        if action not in self._of_action:
            entries = self.images(action)
            known = [
                Known(entry) for entry in entries or () if entry.object != "header" and entry.disk is not None
            ]
            self._of_action[action] = None if entries is None else {each.stamp: each for each in known}
        return self._of_action[action]


def node_id(members: dict[str, Any]) -> str:
    """Give the id of a node as the columns have it."""
    return storable_text(members.get("id")) or ""
