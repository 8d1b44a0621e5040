"""Real ``graphify merge-graphs`` on two exported graphs: each log takes its refinements out of the result."""

from __future__ import annotations

import json
import os
import random
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path

import pytest

from tests.acceptance.harness import Base, environment
from tests.acceptance.test_unecho_graphify import header, objects
from tests.unit.graph.echoes import Export, Json, parsed, written
from tests.unit.graph.test_unecho_foreign import has_stamp, log_of, of_another, without
from tests.unit.graph.test_unecho_laws import refined

pytestmark = pytest.mark.slow

RUN = """
import contextlib, io, json, sys
import graphify.__main__ as program
for first, second, target in json.load(sys.stdin):
    sys.argv = ["graphify", "merge-graphs", first, second, "--out", target]
    said = io.StringIO()
    with contextlib.redirect_stdout(said), contextlib.redirect_stderr(said):
        try:
            program.main()
        except SystemExit as end:
            if end.code not in (0, None):
                sys.exit(said.getvalue())
"""
"""Runs graphify's command many times in one process."""
WORDS = ("Parser", "Reader", "Writer", "Queue", "Cache", "Index", "Shell", "Clock")
SHARED = {"id": "ext_json", "label": "json", "external": True, "type": "external", "file_type": "code"}


def merge_graphs(*jobs: Sequence[Path]) -> None:
    subprocess.run(
        [sys.executable, "-c", RUN],
        input=json.dumps([[str(path) for path in job] for job in jobs]),
        env=environment(NO_COLOR="1", PYTHONHASHSEED="0"),
        check=True,
        encoding="utf-8",
        timeout=300,
    )


def repository(chance: random.Random, tag: str) -> bytes:
    """Make a graph as graphify writes one, with one link a pair, a stub that all share, and a hyperedge."""
    labels = [f"{word} {tag}" for word in chance.sample(WORDS, chance.randrange(3, 7))]
    nodes: list[Json] = [
        {
            "id": label.lower().replace(" ", "_"),
            "label": label,
            "_origin": chance.choice(["ast", "semantic"]),
            "source_file": f"{chance.choice('ab')}.py",
            "community": chance.randrange(3),
            "norm_label": label.lower(),
        }
        for label in labels
    ]
    ids = [each["id"] for each in nodes]
    pairs = {tuple(sorted(chance.sample(ids, 2))) for _ in range(8)}
    links: list[Json] = [
        {
            "source": source,
            "target": target,
            "relation": chance.choice(["calls", "uses"]),
            "source_file": "a.py",
            "_origin": "ast",
            "weight": 1.0,
        }
        for source, target in sorted(pairs)
    ]
    links.append({"source": ids[0], "target": SHARED["id"], "relation": "imports", "weight": 1.0})
    hyperedges = [{"id": "flow", "label": "Flow", "nodes": chance.sample(ids, 2)}]
    head: Json = {"directed": False, "multigraph": False, "graph": {"hyperedges": hyperedges}}
    return written({**head, "nodes": [*nodes, SHARED], "links": links, "hyperedges": hyperedges})


def refined_by_chance(base: bytes, chance: random.Random) -> Export:
    data = parsed(base)
    names = {each["id"]: each["label"] for each in data["nodes"]}
    ours = [label for label in names.values() if label != SHARED["label"]]
    answers = []
    for number in range(chance.randrange(1, 5)):
        each = chance.choice(data["links"])
        one, other = chance.sample(ours, 2)
        answers.append(
            chance.choice([
                f'insert_edge("{one}", "feeds", "New thing {number}")',
                f'insert_edge("{one}", "feeds", "{other}")',
                f'delete_edge("{names[each["source"]]}", "{each["relation"]}", "{names[each["target"]]}")',
                f'replace_node("{one}", "Renamed {number}")',
                f'replace_node("{one}", "{other}")',
            ])
        )
    return refined(base, answers)


def put(root: Path, name: str, data: bytes) -> Path:
    path = root / name / "graphify-out" / "graph.json"
    path.parent.mkdir(parents=True)
    path.write_bytes(data)
    return path


def pairs_of_ours(made: Export, tag: str) -> set[frozenset[str]]:
    """Give the pairs on which an export wrote a link: graphify keeps one link a pair, and may keep that one."""
    links = [json.loads(each.disk) for each in made.manifest if each.object == "link" and each.disk]
    return {frozenset(f"{tag}::{each[end]}" for end in ("source", "target")) for each in links}


def test_less_both_logs_the_merged_exports_are_the_merged_bases(tmp_path: Path) -> None:
    chance = random.Random(int(os.environ.get("DEEPREFINE_TEST_SEED", "5")))
    cases: list[tuple[Export, Export, Path, Path]] = []
    jobs = []
    for number in range(int(os.environ.get("DEEPREFINE_TEST_EXAMPLES", "25"))):
        made = [refined_by_chance(repository(chance, tag), chance) for tag in ("one", "two")]
        made[1] = of_another(made[1], "q")
        files = []
        for what in ("base", "file"):
            root = tmp_path / f"{number} {what}"
            paths = [put(root, tag, getattr(each, what)) for tag, each in zip("AB", made, strict=True)]
            jobs.append((*paths, root / "merged.json"))
            files.append(root / "merged.json")
        cases.append((made[0], made[1], files[0], files[1]))
    merge_graphs(*jobs)
    for number, (first, second, on_bases, on_exports) in enumerate(cases):
        theirs = objects(parsed(on_bases.read_bytes()))
        graph = without(on_exports.read_bytes(), log_of(first), log_of(second, letter="q"))
        data = parsed(graph.text.encode("latin-1"))
        ours = objects(data)
        if not has_stamp(first.file) or not has_stamp(second.file):
            continue
        fused = pairs_of_ours(first, "A") | pairs_of_ours(second, "B")
        for name in theirs.keys() - ours.keys():
            assert frozenset({name[0], name[-1]}) in fused, name
        assert not set(ours.keys() - theirs.keys()), number
        for name in ours.keys() & theirs.keys():
            if len(name) < 3 or frozenset({name[0], name[2]}) not in fused:
                assert less(ours[name]) == less(theirs[name])
        assert header(data) == header(parsed(on_bases.read_bytes()))


def less(members: Json) -> Json:
    """Leave out what says which communities the whole graph has."""
    return {name: value for name, value in members.items() if name != "local_community"}


@pytest.fixture
def both(tmp_path: Path) -> tuple[Base, Base]:
    """Give two knowledge bases, each with a refinement that is exported."""
    chance = random.Random(1)
    made = []
    for tag in ("one", "two"):
        data = parsed(repository(chance, tag))
        labels = [each["label"] for each in data["nodes"]]
        base = Base(tmp_path / tag)
        put(tmp_path, tag, written(data))
        put(tmp_path / "plain", tag, written(data))
        base("sync")
        base.apply(
            f'replace_node("{labels[0]}", "Renamed {tag}")|insert_edge("{labels[1]}", "feeds", "{tag} thing")'
        )
        base("export")
        base("export-log", tmp_path / f"{tag}.jsonl")
        made.append(base)
    return made[0], made[1]


def test_two_people_s_refinements_live_on_in_the_merged_graph(
    both: tuple[Base, Base], tmp_path: Path
) -> None:
    one, two = both
    merged = Base(tmp_path / "merged")
    plain = [tmp_path / "plain" / tag / "graphify-out" / "graph.json" for tag in ("one", "two")]
    merged.out.mkdir(parents=True)
    merge_graphs((one.graph, two.graph, merged.graph), (*plain, tmp_path / "plain.json"))
    merged("sync")
    for tag in ("one", "two"):
        report = merged("apply-log", tmp_path / f"{tag}.jsonl", "--json").data
        assert report["taken_out"] >= 3
        assert report["suspended"] == []
    merged("export")
    labels = {each["label"] for each in parsed(merged.graph.read_bytes())["nodes"] if "label" in each}
    assert {"Renamed one", "Renamed two", "one thing", "two thing"} <= labels
    merged("doctor")

    merge_graphs((one.graph, two.graph, merged.graph))
    synced = merged("sync", "--json").data
    assert (synced["outcome"], synced["suspended"]) == (
        "rebased" if synced["outcome"] != "unchanged" else "unchanged",
        [],
    )
    ids = [each["id"] for each in merged("log", "--json").data]
    merged("undo", *ids)
    merged("export")
    found, wanted = (
        objects(parsed(merged.graph.read_bytes())),
        objects(parsed((tmp_path / "plain.json").read_bytes())),
    )
    assert {name: less(each) for name, each in found.items()} == {
        name: less(each) for name, each in wanted.items()
    }
