"""An in-memory model of a store, and random writes that are good for it and for the store alike."""

from __future__ import annotations

import random
from dataclasses import dataclass, field

from deeprefine_graphdb.model.graph import Alias, Edge, Entity, Loose, Names
from deeprefine_graphdb.model.write import Statement, StoreState, WritePlan
from deeprefine_graphdb.stores.protocol import GraphStore, Touched
from tests.contract.harness import put, record

TEXTS = ("plain", "", "with 'quotes' \"and\" \\", "漢字 $id; //", "line\nbreak", "x" * 5000)
HOW = ("removed", "folded", "collapsed")


@dataclass
class Model:
    """Every row of the graph by key, and where the log stands."""

    entities: dict[str, Entity] = field(default_factory=dict)
    edges: dict[str, Edge] = field(default_factory=dict)
    loose: dict[str, Loose] = field(default_factory=dict)
    names: dict[str, Names] = field(default_factory=dict)
    aliases: dict[str, Alias] = field(default_factory=dict)
    revision: int = 0
    seq: int = 0

    def copy(self) -> Model:
        """Give a copy to plan on; rows are immutable."""
        return Model(
            dict(self.entities),
            dict(self.edges),
            dict(self.loose),
            dict(self.names),
            dict(self.aliases),
            self.revision,
            self.seq,
        )

    def touched(self) -> Touched:
        """Give the rows that a new generation is given beside its base."""
        return Touched(
            [row for row in self.entities.values() if row.touched],
            [row for row in self.edges.values() if row.touched],
            [row for row in self.loose.values() if row.touched],
        )


def check(store: GraphStore, model: Model) -> None:
    """Compare every answer of a store with the model's."""
    state = store.state()
    assert (state.revision, state.seq) == (model.revision, model.seq)
    for entity_id, entity in model.entities.items():
        assert store.entity(entity_id) == entity
        live = [edge for edge in model.edges.values() if edge.live and entity_id in {edge.src, edge.tgt}]
        assert store.edges_of(entity_id) == sorted(live, key=lambda edge: edge.key)
    for edge in model.edges.values():
        pair = [other for other in model.edges.values() if (other.src, other.tgt) == (edge.src, edge.tgt)]
        assert store.edges_between(edge.src, edge.tgt) == sorted(pair, key=lambda other: other.key)
    for key, loose in model.loose.items():
        assert store.loose(key) == loose, (store.loose(key), loose)
    for norm, names in model.names.items():
        assert store.names(norm) == names
    for norm, alias in model.aliases.items():
        assert store.alias(norm) == alias
    touched, expected = store.touched(), model.touched()
    assert list(touched.entities) == sorted(expected.entities, key=lambda row: row.id)
    assert list(touched.edges) == sorted(expected.edges, key=lambda row: row.key)
    assert list(touched.loose) == sorted(expected.loose, key=lambda row: row.key)


def random_plan(rng: random.Random, model: Model) -> tuple[WritePlan, Model]:
    """Make a plan of up to a dozen statements, and the model as it is after it. Each row is written once."""
    after = model.copy()
    by = f"r{model.seq + 1}"
    statements = _move_all(rng, after, by) if rng.random() < 0.2 else []
    written = {edge.key for edge in after.edges.values() if edge != model.edges[edge.key]}
    sets: list[Statement] = []
    adds: list[Statement] = []
    for number in range(rng.randrange(1, 12)):
        stamp = f"{by}.{number}"
        make = rng.choice((_add_entity, _set_entity, _add_edge, _set_edge, _set_edge, _loose, _names, _alias))
        for statement, row in make(rng, after, stamp):
            key = f"{type(row).__name__}:{key_of(row)}"
            if key in written or key_of(row) in written:
                continue
            written.add(key)
            _keep(after, row)
            (sets if statement.name in {"graph/edge_set", "graph/entity_set"} else adds).append(statement)
    after.revision += 1
    after.seq += 1
    program = (*statements, *sets, *adds)
    return WritePlan(
        statements=program, records=(record("refinement", by=by),), revision=model.revision
    ), after


Made = list[tuple[Statement, Entity | Edge | Loose | Names | Alias]]


def _add_entity(rng: random.Random, model: Model, by: str) -> Made:
    row = Entity(
        id=f"e{by}", label=rng.choice(TEXTS), raw=rng.choice(TEXTS), added_by=by, seq=len(model.entities)
    )
    return [(put("entity_add", row), row)]


def _set_entity(rng: random.Random, model: Model, by: str) -> Made:
    row = rng.choice(list(model.entities.values()))
    if row.added_by and row.added_by.split(".")[0] == by.split(".")[0]:
        return []
    changes = rng.choice((
        {"label": rng.choice(TEXTS), "raw": "{}", "changed_by": by},
        {"retired_by": by, "retired_as": rng.choice(HOW)},
        {"retired_by": None, "retired_as": None},
    ))
    row = row.model_copy(update=changes)
    return [(put("entity_set", row), row)]


def _add_edge(rng: random.Random, model: Model, by: str) -> Made:
    known = [key for key, row in model.entities.items() if not _of_this(row.added_by, by)]
    src, tgt = rng.choice(known), rng.choice(known)
    row = Edge(
        key=f"k{by}", origin_key=f"k{by}", src=src, tgt=tgt, relation=rng.choice(TEXTS), raw="{}", added_by=by
    )
    return [(put("edge_add", row), row)]


def _set_edge(rng: random.Random, model: Model, by: str) -> Made:
    known = [row for row in model.edges.values() if not _of_this(row.added_by, by)]
    if not known:
        return []
    row = rng.choice(known)
    retire = {"retired_by": by, "retired_as": rng.choice(HOW), "successor": rng.choice(TEXTS)}
    row = row.model_copy(
        update=retire if row.live else {"retired_by": None, "retired_as": None, "successor": None}
    )
    return [(put("edge_set", row), row)]


def _loose(rng: random.Random, model: Model, by: str) -> Made:
    if model.loose and rng.random() < 0.5:
        row = rng.choice(list(model.loose.values()))
        if _of_this(row.added_by, by):
            return []
        row = row.model_copy(update={"members": tuple(rng.choices("abcd", k=rng.randrange(3))), "raw": by})
        return [(put("loose_set", row), row)]
    row = Loose(key=f"l{by}", kind="hyperedge", members=("a",), raw="[]", added_by=by)
    return [(put("loose_add", row), row)]


def _names(rng: random.Random, model: Model, by: str) -> Made:
    some = tuple(rng.choices("abc", k=rng.randrange(4)))
    row = Names(norm=rng.choice("xyz"), ids=some, labels=some, files=tuple("" for _ in some))
    return [(put("names_set", row), row)]


def _alias(rng: random.Random, model: Model, by: str) -> Made:
    row = Alias(norm=rng.choice("xyz"), ids=tuple(rng.choices("abc", k=rng.randrange(4))))
    return [(put("alias_set", row), row)]


def _move_all(rng: random.Random, model: Model, by: str) -> list[Statement]:
    """Move all edges of an entity, as a merge does, before anything is created."""
    entity_id = rng.choice(list(model.entities))
    others = [key for key in model.edges if rng.random() < 0.2] or [""]
    for edge in list(model.edges.values()):
        if edge.live and entity_id in {edge.src, edge.tgt} and edge.key not in others:
            successor = f"{edge.origin_key}@{by}"
            moved = {"retired_by": by, "retired_as": "moved", "successor": successor}
            model.edges[edge.key] = edge.model_copy(update=moved)
    params = {"id": entity_id, "retired_by": by, "others": others}
    return [Statement(name=f"graph/edges_move_{way}", params=params) for way in ("out", "in")]


def key_of(row: Entity | Edge | Loose | Names | Alias) -> str:
    """Give the primary key of a row."""
    match row:
        case Entity():
            return row.id
        case Names() | Alias():
            return row.norm
        case _:
            return row.key


def _of_this(added_by: str | None, by: str) -> bool:
    return added_by is not None and added_by.split(".")[0] == by.split(".")[0]


def _keep(model: Model, row: Entity | Edge | Loose | Names | Alias) -> None:
    match row:
        case Entity():
            model.entities[row.id] = row
        case Edge():
            model.edges[row.key] = row
        case Loose():
            model.loose[row.key] = row
        case Names():
            model.names[row.norm] = row
        case Alias():
            model.aliases[row.norm] = row


def state_of(model: Model, state: StoreState) -> StoreState:
    """Give the state that a generation with the model's rows is loaded with."""
    return state.model_copy(update={"revision": model.revision})
