"""Whatever the order of commands, the store holds what deriving all active refinements from its base gives.

``pytest tests/project/test_random_histories.py --fuzz-seeds 60`` drives it further.
"""

from __future__ import annotations

import json
import random
from contextlib import suppress
from pathlib import Path
from typing import Any, get_args

import pytest

from deeprefine_graphdb.grammar.actions import format_actions
from deeprefine_graphdb.model.actions import Action, DeleteEdge, InsertEdge, ReplaceNode
from deeprefine_graphdb.model.errors import ActionRefused, NothingToDo, RebaseConflict
from deeprefine_graphdb.project.conflicts import Keep, conflicts, resolve_conflict
from deeprefine_graphdb.project.doctor import check
from deeprefine_graphdb.project.export import export
from deeprefine_graphdb.project.knowledge_base import KnowledgeBase
from deeprefine_graphdb.project.sync import sync
from deeprefine_graphdb.project.undo import undo
from tests.support.derived import assert_derived
from tests.support.jobs import apply, make_root

pytestmark = pytest.mark.engine
STEPS = 12
IDS = ("a", "b", "c", "d", "x")
NAMES = ("A", "B", "C", "D", "X")
RELATIONS = ("r", "s")
FILES = ("f.py", "g.py", "")
COMMANDS = {"apply": 6, "undo": 3, "cascade": 1, "redo": 4, "resolve": 3, "rebase": 2, "rebase an export": 1}


def pytest_generate_tests(metafunc: pytest.Metafunc) -> None:
    if "seed" in metafunc.fixturenames:
        metafunc.parametrize("seed", range(metafunc.config.getoption("--fuzz-seeds")))


def random_graph(rng: random.Random) -> dict[str, Any]:
    """Draw a graph in which an id may stand for any name, and links may dangle or be there twice."""
    ids = rng.sample(IDS, rng.randrange(2, len(IDS) + 1))
    nodes = [{"id": i, "label": rng.choice(NAMES), "source_file": rng.choice(FILES)} for i in ids]
    links = [
        {"source": rng.choice(ids), "target": rng.choice(IDS), "relation": rng.choice(RELATIONS), "weight": n}
        for n in range(rng.randrange(7))
    ]
    return {"directed": False, "multigraph": False, "graph": {}, "nodes": nodes, "links": links}


def changed_graph(rng: random.Random, graph: dict[str, Any]) -> dict[str, Any]:
    """Do what another run of graphify may do to a file: take objects out, give some other names, add some."""
    more = random_graph(rng)
    nodes = [node for node in graph["nodes"] if rng.random() < 0.8]
    for node in nodes:
        if rng.random() < 0.2:
            node["label"] = rng.choice(NAMES)
    known = {node["id"] for node in nodes}
    nodes += [node for node in more["nodes"] if node["id"] not in known and rng.random() < 0.5]
    links = [link for link in [*graph["links"], *more["links"]] if rng.random() < 0.7]
    return {**graph, "nodes": nodes, "links": links}


def random_answer(rng: random.Random) -> str:
    """Draw one to three actions on names that may or may not be there."""
    return format_actions([_random_action(rng) for _ in range(rng.randrange(1, 4))])


def _random_action(rng: random.Random) -> Action:
    one, other = (rng.choice((*NAMES, *IDS, "New", "Newer")) for _ in range(2))
    relation = rng.choice(RELATIONS)
    return rng.choice((
        InsertEdge(subject=one, relation=relation, object=other),
        DeleteEdge(subject=one, relation=relation, object=other),
        ReplaceNode(old=one, new=other),
    ))


class History:
    """A knowledge base and the undos that can be taken back."""

    def __init__(self, base: KnowledgeBase, rng: random.Random) -> None:
        self.base, self.rng = base, rng
        self.undos: list[str] = []
        self.done = 0

    def step(self, command: str) -> None:
        """Do one command; one that is refused has to leave everything as it was, which the caller sees."""
        with suppress(ActionRefused, NothingToDo, RebaseConflict):
            if command == "apply":
                self.done += 1
                apply(self.base, random_answer(self.rng), name=f"p{self.done}")
            elif command in {"undo", "cascade"} and self.base.log().active():
                chosen = self.rng.choice(self.base.log().active())
                self.undos.append(undo(self.base, [chosen], by="t", cascade=command == "cascade").id)
            elif command == "redo" and self.undos:
                chosen = self.rng.choice(self.undos)
                undo(self.base, [chosen], by="t")
                self.undos.remove(chosen)
            elif command == "resolve" and (open_now := conflicts(self.base)):
                keep = self.rng.choice(get_args(Keep))
                resolve_conflict(self.base, self.rng.choice(open_now).id, keep, by="t")
            elif command == "rebase":
                self.put(random_graph(self.rng))
            elif command == "rebase an export":
                export(self.base)
                self.put(changed_graph(self.rng, json.loads(self.base.project.graph_json.read_bytes())))

    def put(self, graph: dict[str, Any]) -> None:
        """Have another file as graph.json, and take it in."""
        self.base.project.graph_json.write_text(json.dumps(graph), encoding="utf-8")
        sync(self.base)


def test_after_every_command_the_store_is_what_derive_gives(seed: int, tmp_path: Path) -> None:
    rng = random.Random(seed)
    base = make_root(tmp_path / "kb", random_graph(rng))
    sync(base)
    history, said = History(base, rng), []
    for _ in range(STEPS):
        said.append(rng.choices(list(COMMANDS), list(COMMANDS.values()))[0])
        records = len(base.log().records)
        before = assert_derived(base)
        history.step(said[-1])
        where = f"seed {seed}: {', '.join(said)}"
        if assert_derived(base, where) != before:
            assert len(base.log().records) > records, where
    assert check(base).healthy
