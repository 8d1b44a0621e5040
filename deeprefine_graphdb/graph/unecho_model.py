"""What taking our echo out of a file needs to know, and what it gives."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Literal

from deeprefine_graphdb.graph.manifest import ManifestEntry
from deeprefine_graphdb.model.actions import Frozen

if TYPE_CHECKING:
    from deeprefine_loaders.graphfile import GraphFile

ObjectKind = Literal["node", "link", "hyperedge", "header"]

Images = Callable[[str], Sequence[ManifestEntry] | None]
"""Gives what an action (``<refinement>.<action>``) of our log did to objects, each with its text without us and as
written. ``None`` for an action of a refinement that the log does not know."""


def no_images(_action: str) -> None:
    """Know no action: the images of an empty log."""


class EchoNote(Frozen):
    """One thing that a person should hear of, in words. ``by`` is the action that it is about, ``""`` for none.

    ``adopted``: it was ours and the base owns it now; ``gone``: it is in the base no more; ``unconfirmed``: the file
    lacks it, perhaps because of our export, and the base keeps it; ``foreign``: stamped by a refinement that the log
    does not know; ``stripped``: a stamp that belonged to another object was taken off; ``returned``: what we had
    removed or re-pointed is in the file again as it was.
    """

    kind: Literal["adopted", "gone", "unconfirmed", "foreign", "stripped", "returned"]
    object: ObjectKind
    key: str
    by: str = ""
    text: str


class Unconfirmed(Frozen):
    """An object that the base keeps although the file lacks it. ``key`` is the one in the new base."""

    object: ObjectKind
    key: str
    by: str = ""
    ast: bool
    raw: str


class EchoText(Frozen):
    """The file's text of an object that an action added, to be its image when it is added again.

    It belongs to the identity (object and key) and the action together, never to the key alone.
    """

    object: ObjectKind
    key: str
    by: str
    raw: str


@dataclass(frozen=True)
class Unechoed:
    """A file less our echo. ``base`` is the new base; its bytes are ``base.text`` as latin-1.

    ``manifest`` is the exact difference between the new base and the file.
    """

    base: GraphFile
    manifest: tuple[ManifestEntry, ...] = ()
    unconfirmed: tuple[Unconfirmed, ...] = ()
    echoes: tuple[EchoText, ...] = ()
    notes: tuple[EchoNote, ...] = ()


@dataclass(frozen=True)
class Place:
    """Where an element stands: section and ordinal."""

    section: str
    ordinal: int


@dataclass(frozen=True)
class Echo:
    """An object of the file that is in the base in no form. ``added``: an action made it, and may make it again."""

    object: ObjectKind
    place: Place
    key: str
    by: str
    raw: str
    added: bool = True


@dataclass(frozen=True)
class Restored:
    """An object of the file that is in the base in another form.

    ``stood`` is where it stood in the former base, ``base_place`` the same if it is to go back there. ``why`` says why
    it is unconfirmed, if it is.
    """

    object: ObjectKind
    place: Place
    by: str
    raw: str
    text: str
    moved: bool = False
    stood: tuple[str, int] | None = None
    base_place: tuple[str, int] | None = None
    why: str = ""


@dataclass(frozen=True)
class Kept:
    """An object that the file lacks and the base keeps."""

    object: ObjectKind
    key: str
    by: str
    text: str
    base_place: tuple[str, int]
    why: str


@dataclass
class Draft:
    """The differences between the file and the new base, as they are found."""

    echoes: list[Echo] = field(default_factory=list)
    restored: list[Restored] = field(default_factory=list)
    kept: list[Kept] = field(default_factory=list)
    header: dict[str, str | None] = field(default_factory=dict)
    header_entries: list[ManifestEntry] = field(default_factory=list)
    notes: list[EchoNote] = field(default_factory=list)

    @property
    def is_empty(self) -> bool:
        """Whether the new base is the file as it stands."""
        return not (self.echoes or self.restored or self.kept or self.header)

    def places(self) -> Iterator[Place]:
        """Give the places of all objects that the file has and the new base has not, or has otherwise."""
        yield from (echo.place for echo in self.echoes)
        yield from (item.place for item in self.restored)

    def note(
        self,
        kind: Literal["adopted", "gone", "unconfirmed", "foreign", "stripped", "returned"],
        obj: ObjectKind,
        key: str,
        by: str,
        text: str,
    ) -> None:
        """Note something about an object."""
        self.notes.append(EchoNote(kind=kind, object=obj, key=key, by=by, text=text))
