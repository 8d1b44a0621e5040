"""The graph as every layer sees it: entities, edges, names and the loose parts of a file."""

from __future__ import annotations

from typing import Literal

from pydantic import BaseModel, ConfigDict


class Row(BaseModel):
    """A row of the graph; equal rows are equal states."""

    model_config = ConfigDict(frozen=True, extra="forbid", defer_build=True)


class Provenanced(Row):
    """Who added, changed or retired an object.

    ``added_by``, ``changed_by`` and ``retired_by`` are ``<refinement>.<action>`` or ``None``; an object that left the
    base is retired by ``sync:<revision>``. ``raw`` is the JSON text that an export writes, stamp included, or
    ``None`` for an object that is as in the base. ``seq`` orders added objects behind the base (``None``: base).
    ``retired_as`` says how a retired object went, ``successor`` what took its place.
    """

    raw: str | None = None
    added_by: str | None = None
    changed_by: str | None = None
    retired_by: str | None = None
    retired_as: Literal["removed", "moved", "folded", "merged", "collapsed"] | None = None
    successor: str | None = None
    seq: int | None = None

    @property
    def live(self) -> bool:
        """Whether the object is part of the graph now."""
        return self.retired_by is None

    @property
    def touched(self) -> bool:
        """Whether the object differs from the base."""
        return self.raw is not None or self.added_by is not None or self.retired_by is not None


class Entity(Provenanced):
    """A node of the graph. ``label`` is the one that is shown; all texts are in storable form."""

    id: str
    label: str
    norm_label: str | None = None
    file_type: str | None = None
    source_file: str | None = None
    source_location: str | None = None
    community: str | None = None
    origin: str | None = None


class Edge(Provenanced):
    """A link whose two ends are entities. ``src`` and ``tgt`` are entity ids in true direction.

    ``key`` is unique in the store; ``origin_key`` is the key of the base (or inserted) edge that it comes from and
    survives re-pointing.
    """

    key: str
    origin_key: str
    src: str
    tgt: str
    relation: str
    confidence: str | None = None


class Names(Row):
    """All live entities whose label has one normal form; the three tuples run in parallel, ordered by id."""

    norm: str
    ids: tuple[str, ...] = ()
    labels: tuple[str, ...] = ()
    files: tuple[str, ...] = ()


class Alias(Row):
    """A former name (in normal form) and the entities that it may stand for."""

    norm: str
    ids: tuple[str, ...] = ()


class Loose(Provenanced):
    """A part of the file that is no entity and no edge between entities.

    ``kind`` is ``link`` (dangling), ``hyperedge`` or ``header``. ``members`` are the entity ids that it names, in file
    order (source then target for a link).
    """

    key: str
    kind: Literal["link", "hyperedge", "header"]
    members: tuple[str, ...] = ()


class Triple(Row):
    """One edge as a model sees it: names that resolve, and the edge's key."""

    subject: str
    relation: str
    object: str
    key: str = ""
    subject_id: str = ""
    object_id: str = ""

    def line(self) -> str:
        """Give the triple as it stands in a prompt."""
        return f"{self.subject} | {self.relation} | {self.object}"
