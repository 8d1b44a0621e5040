"""Refinements carried to another copy of the knowledge base by a file of the log."""

from __future__ import annotations

import contextlib
import hashlib
import json
import os
import shutil
import tempfile
from pathlib import Path
from typing import Any

import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st

from deeprefine_graphdb.graph.render import graph_digest
from deeprefine_graphdb.model.errors import DeepRefineError, NothingToDo, UsageError
from deeprefine_graphdb.project.doctor import check
from deeprefine_graphdb.project.exchange import apply_log, export_log
from deeprefine_graphdb.project.export import export
from deeprefine_graphdb.project.knowledge_base import KnowledgeBase
from deeprefine_graphdb.project.sync import sync
from deeprefine_graphdb.project.undo import undo
from tests.project.test_rebase import BASE, LINKS, NODES, written
from tests.support.jobs import apply, make_root

pytestmark = pytest.mark.engine


def quiet(_text: str) -> None:
    """Say nothing."""


def digest(base: KnowledgeBase) -> str:
    with base.open("read") as store:
        return graph_digest(store)


@pytest.fixture
def first(tmp_path: Path) -> KnowledgeBase:
    made = make_root(tmp_path / "first", BASE)
    sync(made)
    for number, text in enumerate(
        ('insert_edge("Cache", "serves", "Client")', 'replace_node("Server", "Backend")'), start=1
    ):
        apply(made, text, name=f"p{number}")
    export(made)
    return made


@pytest.fixture
def log(first: KnowledgeBase, tmp_path: Path) -> Path:
    report = export_log(first, tmp_path / "log.jsonl")
    assert len(report.refinements) == 2
    return tmp_path / "log.jsonl"


def test_on_the_same_base_the_other_copy_is_the_same_graph(
    first: KnowledgeBase, log: Path, tmp_path: Path
) -> None:
    second = make_root(tmp_path / "second", BASE)
    sync(second)
    assert apply_log(second, log, by="t", say=quiet, dry_run=True).dry_run
    report = apply_log(second, log, by="t", say=quiet)
    assert report.refinements == first.log().active()
    assert digest(second) == digest(first)
    assert check(second).healthy
    with pytest.raises(NothingToDo):
        apply_log(second, log, by="t", say=quiet)


def test_the_base_may_be_the_file_that_they_were_exported_to(
    first: KnowledgeBase, log: Path, tmp_path: Path
) -> None:
    second = make_root(tmp_path / "second", first.project.graph_json.read_bytes())
    sync(second)
    apply_log(second, log, by="t", say=quiet)
    assert digest(second) == digest(first)
    assert check(second).healthy
    undo(second, list(second.log().active()), by="t")
    export(second)
    assert second.project.graph_json.read_bytes() == BASE


def rewritten(base: KnowledgeBase, **more: Any) -> bytes:
    """Give graph.json as another program writes it: other bytes, and perhaps something more."""
    data = json.loads(base.project.graph_json.read_bytes())
    data["nodes"] += more.get("nodes", [])
    return json.dumps(data, indent=1).encode()


def content(data: bytes) -> dict[str, Any]:
    found: dict[str, Any] = json.loads(data)
    return {
        name: sorted(json.dumps(each, sort_keys=True) for each in value) if isinstance(value, list) else value
        for name, value in found.items()
    }


def test_what_another_program_made_of_an_exported_file_is_taken_back_first(
    first: KnowledgeBase, log: Path, tmp_path: Path
) -> None:
    disk = {"id": "disk", "label": "Disk"}
    second = make_root(tmp_path / "second", rewritten(first, nodes=[disk]))
    sync(second)
    would = apply_log(second, log, by="t", say=quiet, dry_run=True)
    report = apply_log(second, log, by="t", say=quiet)
    assert (would.taken_out, report.taken_out, report.suspended) == (2, 2, ())
    assert check(second).healthy
    undo(second, list(second.log().active()), by="t")
    export(second)
    assert content(second.project.graph_json.read_bytes()) == content(written([*NODES, disk], LINKS))


def test_a_file_with_the_same_echo_again_is_un_echoed_by_the_sync(
    first: KnowledgeBase, log: Path, tmp_path: Path
) -> None:
    second = make_root(tmp_path / "second", rewritten(first))
    sync(second)
    apply_log(second, log, by="t", say=quiet)
    disk = {"id": "disk", "label": "Disk"}
    second.project.graph_json.write_bytes(rewritten(first, nodes=[disk]))
    sync(second)
    undo(second, list(second.log().active()), by="t")
    export(second)
    assert content(second.project.graph_json.read_bytes()) == content(written([*NODES, disk], LINKS))


def test_a_removal_is_taken_back_by_the_manifest_that_came_with_the_file(
    first: KnowledgeBase, tmp_path: Path
) -> None:
    undo(first, list(first.log().active()), by="t")
    apply(first, 'delete_edge("Client", "calls", "Server")', name="p9")
    export(first)
    export_log(first, tmp_path / "log.jsonl")
    second = make_root(tmp_path / "second", rewritten(first))
    second.project.sidecar.parent.mkdir(parents=True)
    shutil.copy(first.project.sidecar, second.project.sidecar)
    sync(second)
    report = apply_log(second, tmp_path / "log.jsonl", by="t", say=quiet)
    assert (report.taken_out, report.unconfirmed) == (1, 1)
    undo(second, list(second.log().active()), by="t")
    export(second)
    assert content(second.project.graph_json.read_bytes()) == content(BASE)


def test_what_was_undone_there_is_taken_out_here_though_nothing_is_taken_in(
    first: KnowledgeBase, tmp_path: Path
) -> None:
    second = make_root(tmp_path / "second", rewritten(first))
    sync(second)
    undo(first, list(first.log().active()), by="t")
    export_log(first, tmp_path / "log.jsonl")
    report = apply_log(second, tmp_path / "log.jsonl", by="t", say=quiet)
    assert (report.refinements, report.taken_out) == ((), 2)
    export(second)
    assert content(second.project.graph_json.read_bytes()) == content(BASE)
    assert check(second).healthy
    with pytest.raises(NothingToDo):
        apply_log(second, tmp_path / "log.jsonl", by="t", say=quiet)


NAMES = ("Cache", "Client", "Server", "Proxy", "Front")
names = st.sampled_from(NAMES)
actions = st.one_of(
    st.builds('insert_edge("{}", "{}", "{}")'.format, names, st.sampled_from(["serves", "uses"]), names),
    st.sampled_from(['delete_edge("Client", "calls", "Server")', 'delete_edge("Server", "uses", "Cache")']),
    st.builds('replace_node("{}", "{}")'.format, names, names),
)


@settings(max_examples=int(os.environ.get("DEEPREFINE_TEST_EXAMPLES", "2")), deadline=None)
@given(st.lists(actions, min_size=1, max_size=5), st.integers(0, 2))
def test_taking_a_log_in_is_the_same_graph_on_a_copy_of_the_base_and_once_is_enough(
    answers: list[str], undone: int
) -> None:
    with tempfile.TemporaryDirectory() as folder:
        root = Path(folder)
        there = make_root(root / "there", BASE)
        sync(there)
        for number, answer in enumerate(answers):
            with contextlib.suppress(DeepRefineError):
                apply(there, answer, name=f"p{number}")
        for one in there.log().active()[:undone]:
            with contextlib.suppress(DeepRefineError):
                undo(there, [one], by="t")
        assume(there.log().active())
        export(there)
        export_log(there, root / "log.jsonl")
        for at, content_ in enumerate((BASE, there.project.graph_json.read_bytes())):
            here = make_root(root / f"here {at}", content_)
            sync(here)
            apply_log(here, root / "log.jsonl", by="t", say=quiet)
            assert digest(here) == digest(there)
            with pytest.raises(NothingToDo):
                apply_log(here, root / "log.jsonl", by="t", say=quiet)
            assert digest(here) == digest(there)
            undo(here, list(here.log().active()), by="t", cascade=True)
            assert digest(here) == hashlib.sha256(BASE).hexdigest()


def test_on_another_branch_they_are_judged_as_in_a_rebase(
    first: KnowledgeBase, log: Path, tmp_path: Path
) -> None:
    second = make_root(tmp_path / "second", written(NODES[:1] + NODES[2:], LINKS[1:]))
    sync(second)
    report = apply_log(second, log, by="t", say=quiet)
    assert report.suspended == (first.log().active()[0],)
    assert [conflict.kind for conflict in report.opened] == ["target-missing"]
    assert check(second).healthy


@pytest.mark.parametrize("lines", ["all but one", "the other way round"])
def test_a_log_that_is_not_whole_is_refused(
    first: KnowledgeBase, log: Path, tmp_path: Path, lines: str
) -> None:
    second = make_root(tmp_path / "second", BASE)
    sync(second)
    before = digest(second)
    whole = log.read_bytes().splitlines(keepends=True)
    for at in range(len(whole) - 1) if lines == "all but one" else (None,):
        log.write_bytes(b"".join(whole[::-1] if at is None else whole[:at] + whole[at + 1 :]))
        with pytest.raises(DeepRefineError, match="does not follow the line before it"):
            apply_log(second, log, by="t", say=quiet)
    assert digest(second) == before


def test_a_file_that_was_edited_is_refused(first: KnowledgeBase, log: Path, tmp_path: Path) -> None:
    second = make_root(tmp_path / "second", BASE)
    sync(second)
    before = digest(second)
    log.write_text(log.read_text(encoding="ascii").replace("serves", "deserves"), encoding="ascii")
    with pytest.raises(DeepRefineError, match="was edited"):
        apply_log(second, log, by="t", say=quiet)
    with pytest.raises(UsageError):
        apply_log(second, tmp_path / "none.jsonl", by="t", say=quiet)
    assert digest(second) == before
    assert digest(first) != before
