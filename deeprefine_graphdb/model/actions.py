"""The three actions of a refinement, and what is recorded about each of them."""

from __future__ import annotations

from typing import Annotated, Literal

from pydantic import BaseModel, ConfigDict, Field

MAX_ACTIONS = 10


class Frozen(BaseModel):
    """A record that never changes once made."""

    model_config = ConfigDict(frozen=True, extra="forbid", defer_build=True)


class InsertEdge(Frozen):
    """Add the triple; an end that does not exist is created."""

    action: Literal["insert_edge"] = "insert_edge"
    subject: str
    relation: str
    object: str


class DeleteEdge(Frozen):
    """Remove exactly this triple; ``edge_key`` picks one of several equal ones."""

    action: Literal["delete_edge"] = "delete_edge"
    subject: str
    relation: str
    object: str
    edge_key: str | None = None


class ReplaceNode(Frozen):
    """Rename ``old`` to ``new``, or merge it into the entity that has that name."""

    action: Literal["replace_node"] = "replace_node"
    old: str
    new: str


Action = Annotated[InsertEdge | DeleteEdge | ReplaceNode, Field(discriminator="action")]


class Intent(Frozen):
    """What an action is for; never changes, whatever base it is replayed on.

    For an insert or delete ``subject``, ``relation`` and ``object`` are the texts as proposed; for a rename or merge
    ``subject`` is the old label and ``object`` the new one.
    """

    kind: Literal["insert", "delete", "rename", "merge"]
    subject: str
    relation: str = ""
    object: str


class Reference(Frozen):
    """What an end of an action stood for when it was bound, kept so that it can be bound again on another base.

    ``label`` is the one that was shown, ``base_label`` the one in the base. ``rivals`` are the other ids that had one
    of the two; at the object of a rename they are the others that had the new name. ``created_by`` is the
    ``<refinement>.<action>`` that made the entity, if one did; ``creates`` says that this very action creates it.
    """

    id: str
    label: str
    base_label: str
    norm_label: str
    source_file: str | None = None
    file_type: str | None = None
    rivals: tuple[str, ...] = ()
    created_by: str | None = None
    creates: bool = False


class Fingerprint(Frozen):
    """What a deleted edge looked like; tells equal triples apart on another base.

    ``count`` is how many were equal, ``rivals`` are the raw digests of the others.
    """

    raw_digest: str
    source_file: str | None = None
    source_location: str | None = None
    context: str | None = None
    origin: str | None = None
    confidence: str | None = None
    count: int = 1
    rivals: tuple[str, ...] = ()


class BoundAction(Frozen):
    """An action whose names have been resolved; intent and references are immutable from here on.

    ``id`` is ``<refinement>.<n>`` with n counted from 1. ``edge_key`` is the origin key of the edge that a delete
    with scope ``occurrence`` means.
    """

    id: str
    action: Action
    intent: Intent
    subject: Reference
    object: Reference
    scope: Literal["triple", "occurrence"] | None = None
    fingerprint: Fingerprint | None = None
    edge_key: str | None = None


class ObjectChange(Frozen):
    """One object before and after an action, as rows; ``None`` for a row that is not there.

    ``how`` says what happened to it in the words of a manifest.
    """

    table: Literal["Entity", "RELATES", "Alias", "Loose"]
    key: str
    how: Literal["added", "changed", "removed", "moved", "folded", "merged", "collapsed", "revived"]
    before: dict[str, object] | None = None
    after: dict[str, object] | None = None


class Effect(Frozen):
    """What an action did on the present base: rewritten by every derive, and not part of the hash chain.

    ``outcome`` is ``applied`` when first written, then ``reapplied``, ``already``, ``dropped``, ``held`` or a
    conflict's kind. ``witness`` is the key of what makes an action ``already`` so. ``bound`` maps
    ``subject``/``object`` to ids. For a conflict ``ground`` is the digest of the base objects that it is about, and
    ``cause`` the refinement or action that stands in the way, if one does. ``reads`` are the questions (named as in a
    footprint's ``seen``) whose answers decided the effect; what an earlier action of the same refinement asked is not
    repeated.
    """

    id: str
    action: str
    outcome: str = "applied"
    note: str = ""
    witness: str | None = None
    bound: dict[str, str] = Field(default_factory=dict)
    changes: tuple[ObjectChange, ...] = ()
    ground: str = ""
    cause: str = ""
    reads: tuple[str, ...] = ()


class Resolution(Frozen):
    """A person's word on one conflict of one action, given to every derive from then on.

    ``ours`` carries the action out all the same: the end is created again, the name forced, the identity accepted;
    ``choice`` is then the id or edge key that was picked among several, if one was. ``theirs`` leaves the action out.
    Both answer the conflict of this ``kind`` and ``ground`` (as its effect has them) and no other, so they hold for
    as long as the base objects that it is about keep their text. ``drop`` leaves the action out for good. Of several
    words the last one counts.
    """

    action: str
    keep: Literal["ours", "theirs", "drop"]
    kind: str = ""
    ground: str = ""
    choice: str | None = None


class Footprint(Frozen):
    """Every id and every name (in normal form) that was read or written while planning.

    ``seen`` maps each question that was asked of the committed graph (``entity:<id>``, ``names:<norm>`` …) to a digest
    of the answer, so that it can be told later what moved.
    """

    ids: tuple[str, ...] = ()
    names: tuple[str, ...] = ()
    seen: dict[str, str] = Field(default_factory=dict)
