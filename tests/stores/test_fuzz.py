"""Random histories of writes, aborts, kills, folds and reopenings leave a store as an in-memory model says.

``pytest tests/stores/test_fuzz.py --fuzz-seeds 500`` drives it further.
"""

from __future__ import annotations

import random
from collections.abc import Callable
from typing import Any

import pytest

from deeprefine_graphdb import stores
from deeprefine_graphdb.model.errors import RevisionMoved, WriteFailed
from deeprefine_graphdb.model.graph import Edge, Entity, Names
from deeprefine_graphdb.model.write import WritePlan
from deeprefine_graphdb.stores.engine import Transaction
from deeprefine_graphdb.stores.protocol import GraphStore
from deeprefine_loaders.identity import edge_key
from tests.contract.harness import Harness, added_entity, put
from tests.stores.model import Model, check, random_plan, state_of
from tests.stores.victim import run_and_kill

pytestmark = pytest.mark.engine
STEPS = 14
IDS = ("a", "b", "c", "d")
BASE = {
    "nodes": [{"id": key, "label": key.upper()} for key in IDS],
    "links": [
        {"source": source, "target": target, "relation": "to"}
        for source in IDS
        for target in IDS
        if source <= target
    ],
}


def fresh(harness: Harness) -> Model:
    harness.load(BASE)
    model = Model(seq=1)
    for key in IDS:
        model.entities[key] = Entity(id=key, label=key.upper())
        model.names[key] = Names(norm=key, ids=(key,), labels=(key.upper(),), files=("",))
    for link in BASE["links"]:
        key = edge_key(link["source"], "to", link["target"])
        model.edges[key] = Edge(
            key=key, origin_key=key, src=link["source"], tgt=link["target"], relation="to"
        )
    return model


def pytest_generate_tests(metafunc: pytest.Metafunc) -> None:
    if "seed" in metafunc.fixturenames:
        metafunc.parametrize("seed", range(metafunc.config.getoption("--fuzz-seeds")))


def test_random_histories(harness: Harness, seed: int, monkeypatch: pytest.MonkeyPatch) -> None:
    rng = random.Random(seed)
    model = fresh(harness)
    for _ in range(STEPS):
        act = rng.choices((_writes, _killed_write, _reload, _fold, _killed_fold), (12, 2, 1, 1, 1))[0]
        model = act(rng, harness, model, monkeypatch)
        with harness.open("read" if rng.random() < 0.5 else "write") as store:
            check(store, model)
        assert harness.journal.verify() is None
        last = harness.journal.last()
        assert last is not None
        assert last.seq == model.seq


def _writes(rng: random.Random, harness: Harness, model: Model, patch: pytest.MonkeyPatch) -> Model:
    """Write a few plans with one handle; some are aborted, some refused, and it is used on."""
    with harness.open() as store:
        for _ in range(rng.randrange(1, 6)):
            plan, after = random_plan(rng, model)
            fate = rng.random()
            if fate < 0.6:
                store.write(plan)
                model = after
            elif fate < 0.75:
                _aborted(rng, store, plan, patch)
            elif fate < 0.9:
                _refused(rng, store, plan, model)
            else:
                with pytest.raises(RevisionMoved):
                    store.write(plan.model_copy(update={"revision": model.revision - 1}))
            if rng.random() < 0.3:
                check(store, model)
    return model


def _aborted(rng: random.Random, store: GraphStore, plan: WritePlan, patch: pytest.MonkeyPatch) -> None:
    at = rng.randrange(len(plan.statements) + 1)
    steps = iter(range(1000))
    original: Callable[..., None] = Transaction.run

    def run(self: Transaction, *args: Any) -> None:
        if next(steps) == at:
            raise rng.choice((RuntimeError("injected"), KeyboardInterrupt()))
        original(self, *args)

    with patch.context() as context:
        context.setattr(Transaction, "run", run)
        with pytest.raises((WriteFailed, KeyboardInterrupt)):
            store.write(plan)


def _refused(rng: random.Random, store: GraphStore, plan: WritePlan, model: Model) -> None:
    twice = put("entity_add", added_entity(rng.choice(list(model.entities))))
    at = rng.randrange(len(plan.statements) + 1)
    statements = (*plan.statements[:at], twice, *plan.statements[at:])
    with pytest.raises(WriteFailed):
        store.write(plan.model_copy(update={"statements": statements}))


def _killed_write(rng: random.Random, harness: Harness, model: Model, _: pytest.MonkeyPatch) -> Model:
    plan, after = random_plan(rng, model)
    done = run_and_kill(harness, rng.randrange(1, len(plan.statements) + 14), plan)
    with harness.open("read") as store:
        written = store.state().seq == after.seq
    assert written or not done
    return after if written else model


def _killed_fold(rng: random.Random, harness: Harness, model: Model, _: pytest.MonkeyPatch) -> Model:
    run_and_kill(harness, rng.randrange(1, 130), None)
    return model


def _fold(_rng: random.Random, harness: Harness, model: Model, _: pytest.MonkeyPatch) -> Model:
    stores.fold(harness.url, log_dir=harness.log_dir)
    return model


def _reload(_rng: random.Random, harness: Harness, model: Model, _: pytest.MonkeyPatch) -> Model:
    """Load a new generation of the same base and the rows that were touched; names are those of live entities then."""
    with harness.open("read") as store:
        state = store.state()
    after = model.copy()
    after.seq += 1
    aliases = list(after.aliases.values())
    harness.load(BASE, after.touched(), aliases, state_of(after, state))
    after.names = {}
    return after
