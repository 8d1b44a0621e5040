"""Real graphify on an exported file and on its base: less our echo, the one is the other, or a rule says why not."""

from __future__ import annotations

import json
import os
import random
import shutil
import subprocess
import sys
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from deeprefine_graphdb.graph.unecho import unecho
from deeprefine_graphdb.graph.unecho_model import Unechoed
from deeprefine_loaders.basefile import BaseFile
from deeprefine_loaders.graphfile import parse_graph
from tests.acceptance.harness import environment
from tests.unit.graph.echoes import Export, Json, base_of, export
from tests.unit.graph.test_unecho_laws import refined

pytestmark = pytest.mark.slow

SOURCES = {
    "pkg/__init__.py": "",
    "pkg/store.py": '''
import json


class Store:
    """Keeps rows."""

    def __init__(self, path):
        self.path = path

    def read(self):
        if os.path.exists(self.path):
            return json.loads(open(self.path).read())
        return []

    def write(self, rows):
        open(self.path, "w").write(json.dumps(rows))


def open_store(path):
    return Store(path)


def close_store(store):
    return store.write([])
''',
    "pkg/report.py": """
from pkg.store import close_store, open_store


def daily(path):
    store = open_store(path)
    total = summarise(store.read())
    close_store(store)
    return total


def summarise(rows):
    return count(rows)


def count(rows):
    return len(rows)
""",
    "pkg/cli.py": """
import sys
from pkg.report import daily, summarise


class Command:
    def run(self):
        return daily(sys.argv[1])

    def check(self):
        return summarise([])


def main():
    return Command().run()
""",
    "notes.md": "# Notes\n\nThe report reads the [store](pkg/store.py).\n",
}
IDEAS = {"ledger": "Ledger idea", "rows": "Row idea", "storage": "Storage idea", "audit": "Audit idea"}
THOUGHTS = [
    ("ledger", "describes", "pkg_store_store"),
    ("rows", "part_of", "ledger"),
    ("storage", "describes", "pkg_store"),
    ("audit", "uses", "ledger"),
    ("audit", "uses", "rows"),
    ("storage", "explains", "rows"),
]
HYPEREDGES: list[Json] = [
    {"id": "flow", "label": "Reporting", "nodes": ["pkg_report_daily", "pkg_report_count", "rows"]},
    {"label": "Nameless", "members": ["storage", "ledger"]},
]
REFINEMENTS = (
    'insert_edge("Ledger idea", "backs", "Cash book")|insert_edge("daily()", "feeds", "Cash book")'
    '|insert_edge("daily()", "delegates", "summarise()")|insert_edge("Row idea", "refines", "Ledger idea")',
    'delete_edge("summarise()", "calls", "count()")|delete_edge("Audit idea", "uses", "Ledger idea")'
    '|delete_edge("cli.py", "imports", "sys")',
    'replace_node("close_store()", "shut_store()")|replace_node("Storage idea", "Storage notion")',
    'replace_node("Row idea", "Audit idea")|replace_node(".check()", ".run()")',
)

RUN = """
import contextlib, io, json, os, sys
from pathlib import Path
import graphify.__main__ as program
from graphify.watch import _rebuild_code
for root, kind, arguments in json.load(sys.stdin):
    os.chdir(root)
    said = io.StringIO()
    with contextlib.redirect_stdout(said), contextlib.redirect_stderr(said):
        if kind == "hook":
            done = _rebuild_code(Path("."), changed_paths=[Path(path) for path in arguments])
        else:
            sys.argv = ["graphify", kind, *arguments]
            try:
                program.main()
                done = True
            except SystemExit as end:
                done = end.code in (0, None)
    if not done:
        sys.exit(f"{root} {kind}: {said.getvalue()}")
"""
"""Runs graphify as its command and as its hook does, many times in one process; it pins the hash seed itself."""

Job = tuple[Path, str, tuple[str, ...]]


def graphify(*jobs: Job) -> None:
    data = json.dumps([(str(root), kind, arguments) for root, kind, arguments in jobs])
    subprocess.run(
        [sys.executable, "-c", RUN],
        input=data,
        env=environment(NO_COLOR="1", PYTHONHASHSEED="0"),
        check=True,
        encoding="utf-8",
        timeout=300,
    )


def unchanged(_root: Path) -> None:
    """Change nothing."""


def edited(root: Path) -> None:
    path = root / "pkg/report.py"
    path.write_text(path.read_text() + "\n\ndef extra(rows):\n    return count(rows)\n")


def cut(root: Path) -> None:
    """Take a method away that a merge took away before."""
    path = root / "pkg/cli.py"
    path.write_text(
        path.read_text().replace(
            "check(self):\n        return summarise([])", "verify(self):\n        return 1"
        )
    )


def moved(root: Path) -> None:
    (root / "pkg/report.py").rename(root / "pkg/reports.py")
    path = root / "pkg/cli.py"
    path.write_text(path.read_text().replace("pkg.report ", "pkg.reports "))


def removed(root: Path) -> None:
    (root / "pkg/cli.py").unlink()


@dataclass(frozen=True)
class Way:
    """A change of the sources and a run of graphify. ``lost`` are links that no rule can give back."""

    change: Callable[[Path], None]
    kind: str
    arguments: tuple[str, ...] = (".",)
    lost: frozenset[tuple[str, ...]] = frozenset()
    unconfirmed: frozenset[tuple[str, ...]] = frozenset()


CHECK = ("pkg_cli_command_check",)
CUT = frozenset({CHECK, ("pkg_cli_command", "method", *CHECK), (*CHECK, "calls", "pkg_report_summarise")})
TO_A_RENAMED = frozenset({
    ("pkg_reports", "imports", "pkg_store_close_store"),
    ("pkg_reports_daily", "calls", "pkg_store_close_store"),
})
"""graphify finds by name what a file that it reads anew refers to, and an entity that we renamed it does not find."""

WAYS = {
    "full": Way(unchanged, "update"),
    "full by force": Way(unchanged, "update", (".", "--force")),
    "full without clusters": Way(unchanged, "update", (".", "--no-cluster")),
    "hook": Way(unchanged, "hook", ("pkg/report.py",)),
    "clusters only": Way(unchanged, "cluster-only"),
    "full after an edit": Way(edited, "update"),
    "hook after an edit": Way(edited, "hook", ("pkg/report.py",)),
    "full after a cut": Way(cut, "update", (".", "--force"), unconfirmed=CUT),
    "hook after a cut": Way(cut, "hook", ("pkg/cli.py",), unconfirmed=CUT),
    "full after a move": Way(moved, "update", (".", "--force")),
    "hook after a move": Way(
        moved, "hook", ("pkg/report.py", "pkg/reports.py", "pkg/cli.py"), lost=TO_A_RENAMED
    ),
    "full after a removal": Way(removed, "update", (".", "--force")),
    "hook after a removal": Way(removed, "hook", ("pkg/cli.py",)),
}


def graph_of(root: Path) -> Path:
    return root / "graphify-out" / "graph.json"


def objects(data: Json) -> dict[tuple[str, ...], Json]:
    """Give all objects by what identifies them, less what clustering says of the graph as a whole."""
    found: dict[tuple[str, ...], Json] = {}
    for section in ("nodes", "links", "hyperedges"):
        for each in data[section]:
            name: tuple[Any, ...] = (each.get("id", each.get("label")),)
            if section == "links":
                name = (each["source"], each["relation"], each["target"])
            found[name] = {key: each[key] for key in each if key not in {"community", "community_name"}}
    return found


def header(data: Json) -> Json:
    """Give the header less the copy of the hyperedges."""
    graph = {key: value for key, value in data.get("graph", {}).items() if key != "hyperedges"}
    return {key: value for key, value in data.items() if not isinstance(value, list)} | {"graph": graph}


@pytest.fixture(scope="module")
def start(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Path]:
    """Give sources with a graph that graphify made of them, and that has what only a model would find as well."""
    root = tmp_path_factory.mktemp("unecho") / "start"
    for name, text in SOURCES.items():
        path = root / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, encoding="utf-8")
    graphify((root, "update", (".",)))
    data = json.loads(graph_of(root).read_bytes())
    common = {"_origin": "semantic", "source_file": "notes.md", "confidence": "INFERRED"}
    data["nodes"] += [
        {"id": each, "label": label, "file_type": "concept", **common} for each, label in IDEAS.items()
    ]
    data["links"] += [
        {"source": source, "relation": relation, "target": target, "weight": 1.0, **common}
        for source, relation, target in THOUGHTS
    ]
    data["hyperedges"] = [{**each, "source_file": "notes.md"} for each in HYPEREDGES]
    graph_of(root).write_text(json.dumps(data), encoding="utf-8")
    graphify((root, "update", (".", "--force")))
    yield root
    shutil.rmtree(root.parent, ignore_errors=True)


def both(start: Path, made: Export, way: Way, name: str) -> tuple[tuple[Path, Path], list[Job]]:
    """Prepare a copy with the base and one with the export, and the runs of graphify on them."""
    roots = start.with_name(f"{name} base"), start.with_name(f"{name} export")
    for root in roots:
        shutil.copytree(start, root)
        way.change(root)
    graph_of(roots[1]).write_bytes(made.file)
    return roots, [(root, way.kind, way.arguments) for root in roots]


@pytest.fixture(scope="module")
def knowledge(start: Path) -> dict[str, tuple[Export, bytes, bytes]]:
    """Give, for every way, the export, what graphify made of its base, and what it made of the export."""
    made = export(graph_of(start).read_bytes(), *REFINEMENTS)
    prepared = {name: both(start, made, way, name) for name, way in WAYS.items()}
    graphify(*(job for _, jobs in prepared.values() for job in jobs))
    return {
        name: (made, graph_of(roots[0]).read_bytes(), graph_of(roots[1]).read_bytes())
        for name, (roots, _) in prepared.items()
    }


def unconfirmed(result: Unechoed) -> set[tuple[str, ...]]:
    return {
        name
        for each in result.unconfirmed
        for name in objects({
            "nodes": [],
            "links": [],
            "hyperedges": [],
            f"{each.object}s": [json.loads(each.raw)],
        })
    }


@pytest.mark.parametrize("name", WAYS)
def test_graphify_on_an_export_is_graphify_on_its_base(
    knowledge: dict[str, tuple[Export, bytes, bytes]], name: str
) -> None:
    (made, on_base, on_export), way = knowledge[name], WAYS[name]
    assert on_export != made.file
    result = made.unecho(on_export)
    without_us, wanted = base_of(result), json.loads(on_base)
    ours, theirs = objects(without_us), objects(wanted)
    assert theirs.keys() - ours.keys() == way.lost
    assert ours.keys() - theirs.keys() == way.unconfirmed
    assert way.unconfirmed <= unconfirmed(result)
    assert {key: ours[key] for key in ours.keys() & theirs.keys()} == {
        key: theirs[key] for key in ours.keys() & theirs.keys()
    }
    assert header(without_us) == header(wanted)
    assert not [note for note in result.notes if note.kind in {"adopted", "foreign"}]


def test_without_clusters_not_a_byte_differs(knowledge: dict[str, tuple[Export, bytes, bytes]]) -> None:
    """Communities are of the graph as a whole, so only a run that does not make any can be compared to the byte."""
    made, on_base, on_export = knowledge["full without clusters"]
    assert made.unecho(on_export).base.text.encode("latin-1") == on_base


def by_chance(base: bytes, chance: random.Random) -> Export:
    """Refine a base in some way that is not refused."""
    data = json.loads(base)
    names = {each["id"]: each["label"] for each in data["nodes"]}
    labels = [*names.values(), "Cash book"]
    answers = []
    for _ in range(chance.randrange(1, 6)):
        each = chance.choice(data["links"])
        one, other, relation = chance.choice(labels), chance.choice(labels), chance.choice(["feeds", "calls"])
        link = f'"{names[each["source"]]}", "{each["relation"]}", "{names[each["target"]]}"'
        answers.append(
            chance.choice([
                f'insert_edge("{one}", "{relation}", "{other}")',
                f"delete_edge({link})",
                f'replace_node("{one}", "Renamed {chance.randrange(9)}")',
                f'replace_node("{one}", "{other}")',
            ])
        )
    return refined(base, answers)


def touched_nodes(made: Export) -> set[str]:
    """Give the entities that were renamed or merged away."""
    return {entry.key for entry in made.manifest if entry.object == "node" and entry.kind != "added"}


def test_whatever_was_refined_nothing_is_lost_but_what_graphify_never_wrote(start: Path) -> None:
    """What graphify reads anew it resolves by the names in the file: by ours, where we renamed or merged."""
    chance = random.Random(int(os.environ.get("DEEPREFINE_TEST_SEED", "3")))
    base = graph_of(start).read_bytes()
    old = objects(json.loads(base)).keys()
    cases = []
    for number in range(int(os.environ.get("DEEPREFINE_TEST_EXAMPLES", "8"))):
        made, way = by_chance(base, chance), chance.choice(list(WAYS.values()))
        cases.append((made, *both(start, made, way, f"case {number}")))
    graphify(*(job for _, _, jobs in cases for job in jobs))
    for made, (base_root, export_root), _ in cases:
        result = made.unecho(graph_of(export_root).read_bytes())
        ours, theirs = objects(base_of(result)), objects(json.loads(graph_of(base_root).read_bytes()))
        for lost in theirs.keys() - ours.keys():
            assert lost not in old
            assert touched_nodes(made) & {lost[0], lost[-1]}
        kept = unconfirmed(result)
        for extra in ours.keys() - theirs.keys() - kept:
            found_anew = extra not in old and touched_nodes(made) & {extra[0], extra[-1]}
            assert found_anew or {(extra[0],), (extra[-1],)} & kept, extra
        for name in ours.keys() & theirs.keys() - kept:
            assert ours[name] == theirs[name]
        again = unecho(
            BaseFile.of(result.base), result.manifest, parse_graph(graph_of(export_root).read_bytes())
        )
        assert (again.base.text, again.manifest) == (result.base.text, result.manifest)
