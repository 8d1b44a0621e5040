"""Several processes on one store: writers take turns and lose nothing, readers go on meanwhile."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from threading import Event

import pytest

from tests.acceptance.harness import Base, lantern

pytestmark = [pytest.mark.slow, pytest.mark.engine]

EACH = 10
WAIT = ("--wait", "60")


def applies(base: Base, writer: str) -> list[str]:
    """Apply ten proposals of one writer's own, one process after another; give the refinements' ids."""
    ids = []
    for number in range(EACH):
        action = f'insert_edge("{writer} {number}", "belongs_to", "{writer} shelf")'
        done = base.apply(action, *WAIT, name=f"{writer}-{number}.txt")
        ids.append(done.data["refinement"]["id"])
    return ids


def reads(base: Base, ended: Event) -> list[int]:
    """Read with one process after another until the writers have ended; give how many refinements each saw."""
    seen = []
    while not ended.is_set():
        seen.append(len(base("log", "--json").data))
        base("search", "place_order", "--json", *WAIT)
        statement = (
            "MATCH (:Entity)-[r:RELATES]->(:Entity) WHERE r.relation = 'belongs_to' RETURN count(r) AS n"
        )
        seen.append(base("cypher", statement, "--json", *WAIT).data[0]["n"])
    return seen


def test_two_processes_apply_ten_proposals_each_and_none_is_lost(tmp_path: Path) -> None:
    base = lantern(tmp_path)
    base("sync")
    ended = Event()
    with ThreadPoolExecutor(3) as pool:
        reader = pool.submit(reads, base, ended)
        writers = [pool.submit(applies, base, name) for name in ("north", "south")]
        try:
            ids = [identity for writer in writers for identity in writer.result()]
        finally:
            ended.set()
        seen = reader.result()
    assert len(set(ids)) == 2 * EACH
    logged = base("log", "--json").data
    assert sorted(entry["id"] for entry in logged) == sorted(ids)
    assert seen == sorted(seen)
    assert len(seen) >= 4
    base("export")
    links = {triple for triple in base.triples() if triple[1] == "belongs_to"}
    assert links == {
        (f"{name} {number}", "belongs_to", f"{name} shelf")
        for name in ("north", "south")
        for number in range(EACH)
    }
    assert base("audit", "verify", "--json").data["ok"] is True
    base.healthy()
