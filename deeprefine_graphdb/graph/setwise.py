"""The edges of a merged entity, written by a few statements: one by one, some thousands would take seconds."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator
from dataclasses import dataclass

from deeprefine_graphdb.graph.overlay import Overlay
from deeprefine_graphdb.model.graph import Edge, Entity
from deeprefine_graphdb.model.write import Statement

SETWISE_FROM = 40
RETIRING = frozenset({"retired_by", "retired_as", "successor"})
_NO_KEY = ""


@dataclass(frozen=True)
class Group:
    """A merged entity, its edges that move as they stood, and those that stand for them at another entity.

    ``remade`` are in the order of the edges that they stand for, all of ``moved`` or none; none means one by one.
    """

    entity: Entity
    moved: tuple[Edge, ...]
    remade: tuple[Edge, ...]


def setwise_groups(overlay: Overlay) -> list[Group]:
    """Find the merged entities that have enough edges for it."""
    moved: defaultdict[str, list[Edge]] = defaultdict(list)
    for edge in overlay.edges.values():
        if _moved_as_it_stood(overlay, edge):
            for end in {edge.src, edge.tgt}:
                entity = overlay.entities.get(end)
                if (
                    entity is not None
                    and entity.retired_as == "merged"
                    and entity.retired_by == edge.retired_by
                ):
                    moved[end].append(edge)
                    break
    return [
        Group(overlay.entities[end], tuple(edges), _remade(overlay, overlay.entities[end], edges))
        for end, edges in moved.items()
        if len(edges) >= SETWISE_FROM
    ]


def retire_all(group: Group, overlay: Overlay) -> Iterator[Statement]:
    """Retire all edges of an entity at once, but for those that go another way and are written one by one."""
    keys = {edge.key for edge in group.moved}
    others = sorted(edge.key for edge in overlay.edges_at(group.entity.id) if edge.key not in keys)
    params = {"id": group.entity.id, "retired_by": group.entity.retired_by, "others": others or [_NO_KEY]}
    yield Statement(name="graph/edges_move_out", params=params)
    yield Statement(name="graph/edges_move_in", params=params)


def remake_all(group: Group) -> Iterator[Statement]:
    """Add the edges that stand for the moved ones, which know all of them but their texts and places."""
    pairs = list(zip(group.moved, group.remade, strict=False))
    for way in ("out", "in"):
        these = [(old, new) for old, new in pairs if (old.src == group.entity.id) == (way == "out")]
        if these:
            params = {
                "id": group.entity.id,
                "survivor": these[0][1].src if way == "out" else these[0][1].tgt,
                "added_by": group.entity.retired_by,
                "keys": [old.key for old, _ in these],
                "raws": [new.raw for _, new in these],
                "seqs": [new.seq for _, new in these],
            }
            yield Statement(name=f"graph/edges_remake_{way}", params=params)


def _moved_as_it_stood(overlay: Overlay, edge: Edge) -> bool:
    stored = overlay.stored.get(("RELATES", edge.key))
    return (
        edge.retired_as == "moved"
        and edge.src != edge.tgt
        and isinstance(stored, Edge)
        and stored.live
        and edge.successor == f"{edge.key}@{edge.retired_by}"
        and edge == stored.model_copy(update={name: getattr(edge, name) for name in RETIRING})
    )


def _remade(overlay: Overlay, entity: Entity, moved: list[Edge]) -> tuple[Edge, ...]:
    """Give the edge that each moved one has become, or none when one of them is not just that.

    An engine must not be asked for the edges of an entity at which its transaction has made one.
    """
    if any(("RELATES", edge.key) not in overlay.stored for edge in overlay.edges_at(entity.id)):
        return ()
    remade: list[Edge] = []
    for edge in moved:
        new = overlay.edges.get(edge.successor or "")
        if new is None or ("RELATES", new.key) in overlay.stored or new.raw is None or new.seq is None:
            return ()
        end = new.src if edge.src == entity.id else new.tgt
        expected = Edge(
            key=f"{edge.key}@{entity.retired_by}",
            origin_key=edge.origin_key,
            src=end if edge.src == entity.id else edge.src,
            tgt=edge.tgt if edge.src == entity.id else end,
            relation=edge.relation,
            confidence=edge.confidence,
            raw=new.raw,
            added_by=entity.retired_by,
            seq=new.seq,
        )
        if new != expected or (remade and end != _end(remade[0], moved[0], entity.id)):
            return ()
        remade.append(new)
    return tuple(remade)


def _end(new: Edge, moved: Edge, entity_id: str) -> str:
    return new.src if moved.src == entity_id else new.tgt
