"""From a name to the one entity that it stands for. The only resolver: review, apply and what-if all use it."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable
from functools import lru_cache

from deeprefine_graphdb.graph.view import GraphView
from deeprefine_graphdb.model.errors import ActionRefused, AmbiguousName
from deeprefine_graphdb.model.graph import Entity
from deeprefine_loaders.identity import column_text, norm_label

MAX_CANDIDATES_NAMED = 8


class UnknownName(ActionRefused):
    """No entity has this name."""


def resolve(view: GraphView, name: str) -> Entity:
    """Give the entity that a name stands for.

    The tiers, in order: exact id; exact label; ``file::label`` with the file part matched on whole path segments from
    the right; label by normal form; alias. The first tier that knows the name decides. A name with blanks around it
    that none knows is tried without them. Raises :class:`AmbiguousName` with candidates when a tier gives more than
    one, and :class:`UnknownName` when none knows the name.
    """
    entity = _first(view, name, candidates)
    if entity is None:
        raise UnknownName(f"No entity is called {name!r}.", "Try `deeprefine-db search` to find its name.")
    return entity


def _first(
    view: GraphView, name: str, below_id: Callable[[GraphView, str], tuple[str, ...]]
) -> Entity | None:
    for written in dict.fromkeys((name, name.strip())):
        text = column_text(written) or ""
        entity = view.entity(text)
        if entity is not None and not (below_id is present and _is_former_name(view, entity, text)):
            return entity
        found = below_id(view, text)
        if len(found) == 1:
            entity = view.entity(found[0])
            if entity is not None:
                return entity
        if found:
            raise ambiguous(view, name, found)
    return None


def _is_former_name(view: GraphView, entity: Entity, name: str) -> bool:
    return entity.label != name and entity.id in view.alias(norm_label(name)).ids


def find(view: GraphView, name: str) -> Entity | None:
    """Give the entity that a name stands for, or ``None`` when no entity has it; raises :class:`AmbiguousName`."""
    try:
        return resolve(view, name)
    except UnknownName:
        return None


def find_present(view: GraphView, name: str) -> Entity | None:
    """Give the entity that has a name now, or ``None``; one that had it formerly does not take it.

    Raises :class:`AmbiguousName`.
    """
    return _first(view, name, present)


def candidates(view: GraphView, name: str) -> tuple[str, ...]:
    """Give the ids of the first tier below the id that knows the name, ordered by id."""
    return present(view, name) or _by_alias(view, norm_label(name))


def present(view: GraphView, name: str) -> tuple[str, ...]:
    """Give what :func:`candidates` gives, former names left out."""
    rows = view.names(norm_label(name))
    exact = [i for i, label in zip(rows.ids, rows.labels, strict=True) if label == name]
    return tuple(exact) or _qualified(view, name) or rows.ids


def rivals(view: GraphView, entity_id: str, label: str) -> tuple[str, ...]:
    """Give the other ids that have a label, or had it until a refinement renamed them."""
    rows = view.names(norm_label(label))
    having = {i for i, known in zip(rows.ids, rows.labels, strict=True) if known == label}
    return tuple(sorted({*having, *view.alias(rows.norm).ids} - {entity_id}))


def ambiguous(view: GraphView, name: str, ids: tuple[str, ...]) -> AmbiguousName:
    """Make the refusal of a name that stands for several entities, with names that would resolve."""
    rows = view.names(norm_label(name))
    named = set(ids[:MAX_CANDIDATES_NAMED])
    known = {i: (rows.labels[n], rows.files[n]) for n, i in enumerate(rows.ids) if i in named}
    shown = []
    for entity_id in ids[:MAX_CANDIDATES_NAMED]:
        label, file = known.get(entity_id) or _label_and_file(view, entity_id)
        qualified = f"{file}::{label}" if file else entity_id
        shown.append(qualified if candidates(view, qualified) == (entity_id,) else entity_id)
    more = f" and {len(ids) - len(shown)} more" if len(ids) > len(shown) else ""
    return AmbiguousName(
        f"{name!r} stands for {len(ids)} entities: {', '.join(shown)}{more}.",
        tuple(shown),
        "Use one of these names.",
    )


def _label_and_file(view: GraphView, entity_id: str) -> tuple[str, str]:
    entity = view.entity(entity_id)
    return (entity.label, entity.source_file or "") if entity is not None else ("", "")


def follow_merges(view: GraphView, entity_id: str) -> Entity | None:
    """Give the live entity that an id has become through merges, or ``None`` when it is gone."""
    seen = set()
    row = view.entity_row(entity_id)
    while (
        row is not None
        and not row.live
        and row.retired_as == "merged"
        and row.successor
        and row.id not in seen
    ):
        seen.add(row.id)
        row = view.entity_row(row.successor)
    return row if row is not None and row.live else None


def _qualified(view: GraphView, name: str) -> tuple[str, ...]:
    at = name.find("::")
    while at != -1:
        file, label = name[:at], name[at + 2 :]
        if file and label:
            rows = view.names(norm_label(label))
            asked = _segments(file)
            near = _by_file_name(rows.files).get(asked[-1], ()) if asked else range(len(rows.ids))
            found = [n for n in near if rows.labels[n] == label and _ends_with(rows.files[n], asked)]
            if found:
                # One whose whole path is the given one goes before others that merely end with it.
                whole = [n for n in found if _segments(rows.files[n]) == asked]
                return tuple(rows.ids[n] for n in whole or found)
        at = name.find("::", at + 1)
    return ()


@lru_cache(maxsize=16)
def _by_file_name(files: tuple[str, ...]) -> dict[str, list[int]]:
    """Give the places of paths by their last segment: a label may stand in some thousands of files."""
    places: defaultdict[str, list[int]] = defaultdict(list)
    for place, file in enumerate(files):
        places[file.replace("\\", "/").rstrip("/").rpartition("/")[2]].append(place)
    return places


def _ends_with(file: str, asked: list[str]) -> bool:
    have = _segments(file)
    return len(asked) <= len(have) and have[len(have) - len(asked) :] == asked


def _segments(path: str) -> list[str]:
    return [part for part in path.replace("\\", "/").split("/") if part]


def _by_alias(view: GraphView, norm: str) -> tuple[str, ...]:
    living = {
        entity.id
        for entity_id in view.alias(norm).ids
        if (entity := follow_merges(view, entity_id)) is not None
    }
    return tuple(sorted(living))
