"""Two people refine one committed knowledge base and merge with git, whose merge driver we are."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
from dataclasses import dataclass
from pathlib import Path

import pytest

from deeprefine_graphdb.graph.render import graph_digest
from deeprefine_graphdb.model.errors import DeepRefineError
from deeprefine_graphdb.project import merge_driver
from deeprefine_graphdb.project.conflicts import conflicts, resolve_conflict
from deeprefine_graphdb.project.doctor import check
from deeprefine_graphdb.project.export import export
from deeprefine_graphdb.project.knowledge_base import KnowledgeBase
from deeprefine_graphdb.project.merge import merge_graphs, merge_logs, merge_sidecars
from deeprefine_graphdb.project.rebuild import rebuild
from deeprefine_graphdb.project.sync import sync
from deeprefine_graphdb.project.undo import undo
from tests.acceptance.harness import environment
from tests.project.test_rebase import BASE, LINKS, NODES, written
from tests.support.jobs import apply, knowledge_base, make_root

pytestmark = [
    pytest.mark.engine,
    pytest.mark.slow,
    pytest.mark.skipif(shutil.which("git") is None, reason="needs git"),
]


@dataclass(frozen=True)
class Person:
    """Somebody's clone, and the knowledge base in it."""

    root: Path

    @property
    def base(self) -> KnowledgeBase:
        return knowledge_base(self.root)

    @property
    def digest(self) -> str:
        with self.base.open("read") as store:
            return graph_digest(store)

    @property
    def triples(self) -> set[tuple[str, str, str]]:
        graph = json.loads(self.base.project.graph_json.read_bytes())
        return {(link["source"], link["relation"], link["target"]) for link in graph["links"]}

    def git(self, *arguments: str, code: int = 0) -> str:
        name = ("-c", "user.name=t", "-c", "user.email=t@example.org", "-c", "commit.gpgsign=false")
        env = environment(GIT_CONFIG_GLOBAL=os.devnull, GIT_CONFIG_NOSYSTEM="1", GIT_EDITOR="true")
        done = subprocess.run(
            ["git", *name, *arguments], cwd=self.root, env=env, capture_output=True, text=True, check=False
        )
        assert done.returncode == code, done.stdout + done.stderr
        return done.stdout + done.stderr

    def commit(self) -> None:
        export(self.base)
        self.git("add", "-A")
        self.git("commit", "-qm", "refined", "--allow-empty")

    def refine(self, *answers: str) -> None:
        """Apply refinements, export and commit."""
        for answer in answers:
            apply(self.base, answer, name=f"{self.root.name}{answer}")
        self.commit()

    def pull(self, other: Person, code: int = 0) -> str:
        return self.git("pull", "-q", "--no-rebase", "--no-edit", str(other.root), "main", code=code)


def clone(person: Person, root: Path) -> Person:
    person.git("clone", "-q", str(person.root), str(root))
    made = Person(root)
    merge_driver.install(made.base.project)
    sync(made.base)
    made.commit()
    return made


@pytest.fixture
def ann(tmp_path: Path) -> Person:
    made = Person(tmp_path / "ann")
    make_root(made.root, BASE)
    made.git("init", "-q", "-b", "main", ".")
    merge_driver.install(made.base.project)
    sync(made.base)
    made.refine('insert_edge("Cache", "serves", "Proxy")')
    return made


@pytest.fixture
def bob(ann: Person, tmp_path: Path) -> Person:
    return clone(ann, tmp_path / "bob")


def agree(*people: Person) -> None:
    first = people[0]
    for each in people:
        assert each.digest == first.digest
        assert each.base.log().active() == first.base.log().active()
        assert sync(each.base).outcome == "unchanged"
        report = check(each.base)
        assert report.healthy, report.findings


def test_a_pull_without_conflicts_needs_a_sync_alone(ann: Person, bob: Person) -> None:
    bob.refine('insert_edge("Client", "reads", "Proxy")')
    ann.pull(bob)
    assert len(sync(ann.base).taken_in) == 1
    agree(ann, bob)
    assert export(ann.base).outcome == "unchanged"
    assert (
        ann.git("status", "--porcelain", "graphify-out/graph.json", "graphify-out/.deeprefine/export.json")
        == ""
    )


def test_two_people_refine_and_merge(ann: Person, bob: Person) -> None:
    ann.refine('replace_node("Server", "Backend")', 'insert_edge("Proxy", "logs_to", "Disk")')
    bob.refine('insert_edge("Client", "reads", "Proxy")', 'delete_edge("Server", "uses", "Cache")')
    ours, theirs = (set(each.base.log().active()) for each in (ann, bob))
    ann.pull(bob)
    merged = ann.base.graph_digest()
    report = sync(ann.base)
    assert (report.suspended, len(report.taken_in)) == ((), 2)
    assert set(ann.base.log().active()) == ours | theirs
    assert ann.digest == merged
    assert export(ann.base).outcome == "unchanged"
    bob.pull(ann)
    assert bob.base.graph_digest() == merged
    assert len(sync(bob.base).taken_in) == 2
    agree(ann, bob)
    ann.commit()
    bob.commit()
    bob.pull(ann)
    assert bob.base.graph_digest() == merged
    ann.pull(bob)
    agree(ann, bob)
    undo(bob.base, list(bob.base.log().active()), by="bob")
    bob.commit()
    assert bob.base.project.graph_json.read_bytes() == BASE
    ann.pull(bob)
    sync(ann.base)
    agree(ann, bob)
    assert {
        each.by
        for one in ann.base.log().refinements()
        for each in ann.base.log().refinement(one.id).events[-1:]
    } == {"bob"}


def test_whoever_merges_gets_the_same(ann: Person, bob: Person, tmp_path: Path) -> None:
    ann.refine('replace_node("Proxy", "Gateway")')
    bob.refine('insert_edge("Client", "reads", "Proxy")', 'delete_edge("Client", "calls", "Server")')
    twin = Person(tmp_path / "twin")
    ann.git("clone", "-q", str(ann.root), str(twin.root))
    merge_driver.install(twin.base.project)
    ann.pull(bob)
    bob.pull(twin)
    assert ann.base.project.graph_json.read_bytes() == bob.base.project.graph_json.read_bytes()
    assert ann.base.project.sidecar.read_bytes() == bob.base.project.sidecar.read_bytes()
    for each in (ann, bob):
        sync(each.base)
        assert each.digest == each.base.graph_digest()
    agree(ann, bob)


@pytest.mark.parametrize("keep", ["ours", "theirs", "drop"])
def test_an_insert_and_a_delete_of_one_edge_are_a_conflict_on_both_sides(
    ann: Person, bob: Person, keep: str
) -> None:
    edge = ("client", "calls", "server")
    ann.refine('delete_edge("Client", "calls", "Server")')
    bob.refine('delete_edge("Client", "calls", "Server")', 'insert_edge("Client", "calls", "Server")')
    said = ann.pull(bob)
    assert "In conflict (opposed)" in said
    assert sync(ann.base).suspended
    bob.pull(ann)
    sync(bob.base)
    agree(ann, bob)
    kinds = [[(one.action, one.kind) for one in conflicts(each.base)] for each in (ann, bob)]
    assert kinds[0] == kinds[1]
    assert [kind for _, kind in kinds[0]] == ["opposed"]
    (conflict,) = conflicts(bob.base)
    resolve_conflict(bob.base, conflict.id, keep, by="bob")  # type: ignore[arg-type]  # the parameters are the words
    bob.commit()
    assert (edge in bob.triples) == (keep == "ours")
    ann.commit()
    ann.pull(bob)
    sync(ann.base)
    agree(ann, bob)
    assert conflicts(ann.base) == conflicts(bob.base) == []
    export(ann.base)
    assert ann.triples == bob.triples


def test_the_work_of_graphify_is_merged_with_the_refinements(ann: Person, bob: Person) -> None:
    for each, name in ((ann, "disk"), (bob, "queue")):
        extra = {"id": name, "label": name.title(), "source_file": f"{name}.py"}
        each.base.project.graph_json.write_bytes(
            written([*NODES, extra], [*LINKS, {**LINKS[0], "target": name}])
        )
        sync(each.base)
    ann.refine('insert_edge("Disk", "holds", "Cache")')
    bob.refine('insert_edge("Queue", "feeds", "Server")')
    ann.pull(bob)
    sync(ann.base)
    assert {
        ("disk", "holds", "cache"),
        ("queue", "feeds", "server"),
        ("cache", "serves", "proxy"),
    } <= ann.triples
    assert {("client", "calls", "disk"), ("client", "calls", "queue")} <= ann.triples
    assert ann.digest == ann.base.graph_digest()
    bob.pull(ann)
    sync(bob.base)
    agree(ann, bob)


def test_a_file_that_graphify_changed_and_nobody_synced_is_merged_too(ann: Person, bob: Person) -> None:
    graph = json.loads(bob.base.project.graph_json.read_bytes())
    graph["nodes"].append({"id": "disk", "label": "Disk"})
    bob.base.project.graph_json.write_bytes(json.dumps(graph).encode())
    bob.git("commit", "-qam", "graphify")
    ann.refine('insert_edge("Client", "reads", "Proxy")')
    ann.pull(bob)
    sync(ann.base)
    export(ann.base)
    assert {("client", "reads", "proxy"), ("cache", "serves", "proxy")} <= ann.triples
    assert len(ann.triples) == len(json.loads(ann.base.project.graph_json.read_bytes())["links"])
    ann.commit()
    bob.pull(ann)
    sync(bob.base)
    agree(ann, bob)


def test_a_rebase_of_git_merges_as_well(ann: Person, bob: Person) -> None:
    ann.refine('insert_edge("Client", "reads", "Proxy")')
    bob.refine('replace_node("Server", "Backend")')
    bob.git("pull", "-q", "--rebase", str(ann.root), "main")
    assert len(sync(bob.base).taken_in) == 1
    assert bob.digest == bob.base.graph_digest()
    ann.pull(bob)
    sync(ann.base)
    agree(ann, bob)


def test_what_cannot_be_merged_is_left_to_a_person(ann: Person, bob: Person) -> None:
    bob.base.project.graph_json.write_bytes(b"{}")
    bob.git("commit", "-qam", "broken")
    ann.refine('insert_edge("Client", "reads", "Proxy")')
    before = ann.base.project.graph_json.read_bytes()
    assert "cannot be merged" in ann.pull(bob, code=1)
    assert ann.base.project.graph_json.read_bytes() == before
    assert "UU graphify-out/graph.json" in ann.git("status", "--porcelain")


def test_a_deleted_store_is_rebuilt_from_what_is_committed(ann: Person, bob: Person) -> None:
    ann.refine('replace_node("Server", "Backend")')
    bob.refine('insert_edge("Client", "reads", "Proxy")')
    ann.pull(bob)
    sync(ann.base)
    ann.commit()
    before, log = ann.digest, ann.base.log().active()
    ann.git("clean", "-qfdX")
    assert not ann.base.has_store()
    assert len(sync(ann.base).taken_in) == len(log)
    assert ann.digest == before
    ann.git("clean", "-qfdX", "-e", "!here.json")
    assert rebuild(ann.base).healthy
    assert (ann.digest, ann.base.log().active()) == (before, log)


def test_the_driver_is_marked_written_once_and_taken_out_again(ann: Person) -> None:
    attributes = ann.root / ".gitattributes"
    merge_driver.uninstall(ann.base.project)
    assert not attributes.exists()
    assert not merge_driver.is_installed(ann.base.project)
    lines = "*.png binary\ngraphify-out/graph.json merge=graphify"
    attributes.write_text(lines, encoding="utf-8")
    merge_driver.install(ann.base.project)
    once = attributes.read_bytes()
    assert once.startswith(lines.encode())
    assert merge_driver.is_installed(ann.base.project)
    merge_driver.install(ann.base.project)
    assert attributes.read_bytes() == once
    attributes.write_text(once.decode() + "graphify-out/graph.json merge=graphify\n", encoding="utf-8")
    assert not merge_driver.is_installed(ann.base.project)
    merge_driver.install(ann.base.project)
    assert merge_driver.is_installed(ann.base.project)
    merge_driver.uninstall(ann.base.project)
    assert attributes.read_text("utf-8").splitlines() == [*lines.splitlines(), lines.splitlines()[1]]
    told = ann.git("check-attr", "merge", "graphify-out/graph.json")
    assert told.rstrip().endswith(": graphify")
    assert ann.git("config", "--get", "merge.deeprefine.driver", code=1) == ""


def test_graphify_may_rebuild_the_merged_file_before_a_sync(ann: Person, bob: Person) -> None:
    ann.refine('replace_node("Server", "Backend")')
    bob.refine('delete_edge("Client", "calls", "Server")')
    ann.pull(bob)
    graph = json.loads(ann.base.project.graph_json.read_bytes())
    graph["nodes"].append({"id": "disk", "label": "Disk"})
    ann.base.project.graph_json.write_bytes(json.dumps(graph).encode())
    report = sync(ann.base)
    assert (report.suspended, len(report.taken_in)) == ((), 1)
    export(ann.base)
    assert ann.triples == {("server", "uses", "cache"), ("cache", "serves", "proxy")}
    undo(ann.base, list(ann.base.log().active()), by="t")
    export(ann.base)
    found = json.loads(ann.base.project.graph_json.read_bytes())
    assert [node["id"] for node in found["nodes"]] == ["cache", "client", "server", "disk"]
    assert found["links"] == LINKS


def test_the_manifests_are_merged_whichever_file_git_comes_to_first(
    ann: Person, bob: Person, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    ann.refine('replace_node("Server", "Backend")')
    bob.refine('delete_edge("Client", "calls", "Server")')
    ann.git("fetch", "-q", str(bob.root), "main")
    path = ann.base.project.shown(ann.base.project.sidecar)
    files = []
    for name in ("HEAD~", "HEAD", "FETCH_HEAD"):
        files.append(tmp_path / name)
        files[-1].write_text(ann.git("show", f"{name}:{path}"), encoding="ascii")
    monkeypatch.chdir(ann.root)
    merge_sidecars(files[0], files[1], files[2], path=path)
    alone = files[1].read_bytes()
    ann.pull(bob)
    assert ann.base.project.sidecar.read_bytes() == alone
    files[1].write_bytes(files[0].read_bytes())
    assert merge_sidecars(files[0], files[1], files[2], path=path).outcome == "theirs"
    assert files[1].read_bytes() == files[2].read_bytes()


def test_a_picked_commit_brings_the_longer_state_of_a_log(ann: Person, bob: Person) -> None:
    bob.refine('insert_edge("Client", "reads", "Proxy")')
    ann.refine('insert_edge("Server", "warms", "Cache")')
    ann.refine('delete_edge("Client", "calls", "Server")')
    bob.git("remote", "add", "ann", str(ann.root))
    bob.git("fetch", "-q", "ann")
    bob.git("cherry-pick", "ann/main")
    sync(bob.base)
    bob.commit()
    bob.git("merge", "-q", "--no-edit", "ann/main")
    sync(bob.base)
    bob.commit()
    ann.pull(bob)
    sync(ann.base)
    ann.commit()
    agree(ann, bob)
    assert len(ann.base.log().active()) == 4


def test_two_states_of_a_log_are_merged_to_the_longer_one(tmp_path: Path) -> None:
    short, long, other = (tmp_path / name for name in ("short", "long", "other"))
    short.write_bytes(b"1\n")
    long.write_bytes(b"1\n2\n")
    other.write_bytes(b"1\n3\n")
    assert merge_logs(long, short, path="log/s.jsonl").outcome == "ours"
    with pytest.raises(DeepRefineError, match="in two places"):
        merge_logs(other, long, path="log/s.jsonl")
    assert other.read_bytes() == b"1\n3\n"
    assert merge_logs(short, long, path="log/s.jsonl").outcome == "theirs"
    assert short.read_bytes() == long.read_bytes()


def test_folders_are_merged_without_git(ann: Person, bob: Person, tmp_path: Path) -> None:
    was = tmp_path / "was.json"
    was.write_bytes(BASE)
    ann.refine('replace_node("Server", "Backend")')
    bob.refine('delete_edge("Client", "calls", "Server")')
    targets = [tmp_path / name / "graphify-out" / "graph.json" for name in ("one", "two")]
    sides = [each.base.project.graph_json for each in (ann, bob)]
    for target, (ours, theirs) in zip(targets, (sides, sides[::-1]), strict=True):
        target.parent.mkdir(parents=True)
        report = merge_graphs(was, ours, theirs, out=target)
        assert (report.outcome, report.active, report.suspended) == ("merged", 3, ())
    assert targets[0].read_bytes() == targets[1].read_bytes()
    ann.pull(bob)
    assert ann.base.project.graph_json.read_bytes() == targets[0].read_bytes()
    shutil.copytree(ann.base.project.log, targets[0].parent / ".deeprefine/log")
    third = knowledge_base(tmp_path / "one")
    assert sync(third).suspended == ()
    sync(ann.base)
    with third.open("read") as store:
        assert graph_digest(store) == ann.digest


def test_branches_that_were_merged_crosswise_are_merged_again(ann: Person, bob: Person) -> None:
    ann.refine('replace_node("Server", "Backend")')
    bob.refine('insert_edge("Client", "reads", "Proxy")')
    alone = ann.git("rev-parse", "HEAD").strip()
    ann.pull(bob)
    bob.git("fetch", "-q", str(ann.root), "main")
    bob.git("merge", "-q", "--no-edit", alone)
    for each, answer in (
        (ann, 'insert_edge("Proxy", "logs_to", "Disk")'),
        (bob, 'delete_edge("Client", "calls", "Backend")'),
    ):
        sync(each.base)
        each.refine(answer)
    bob.git("fetch", "-q", str(ann.root), "main")
    assert len(bob.git("merge-base", "--all", "HEAD", "FETCH_HEAD").split()) == 2
    bob.pull(ann)
    assert sync(bob.base).suspended == ()
    assert bob.digest == bob.base.graph_digest()
    assert len(bob.base.log().active()) == 5
    ann.pull(bob)
    sync(ann.base)
    agree(ann, bob)
