"""Real graphify works with what we export: its readers find what was refined, its update takes the file."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import pytest

from tests.acceptance.harness import Base, Done, environment, lantern, real_graph

pytestmark = pytest.mark.slow

INSERTED = (".get_connection()", "pools_through", "Transport pool registry")
DELETED = (".raise_for_status()", "calls", "HTTPError")
RENAMED = ("merge_hooks()", "fold_hooks()")
MERGED = ("SOCKSProxyManager()", ".proxy_headers()")
REFINEMENT = "|".join((
    'insert_edge("{}", "{}", "{}")'.format(*INSERTED),
    'delete_edge("{}", "{}", "{}")'.format(*DELETED),
    'replace_node("{}", "{}")'.format(*RENAMED),
    'replace_node("{}", "{}")'.format(*MERGED),
))


def graphify(base: Base, *arguments: str, code: int = 0) -> Done:
    """Run the graphify that is installed beside this Python."""
    folder = Path(sys.executable).parent
    program = next(path for path in (folder / "graphify", folder / "graphify.exe") if path.exists())
    done = subprocess.run(
        [program, *arguments],
        cwd=base.root,
        env=environment(NO_COLOR="1"),
        capture_output=True,
        encoding="utf-8",
        timeout=120,
        check=False,
    )
    assert done.returncode == code, f"graphify {arguments}: {done.stdout}\n{done.stderr}"
    assert "Traceback" not in done.stderr
    return Done(done.returncode, done.stdout, done.stderr)


def test_graphify_reads_what_a_refinement_made_of_a_real_graph(tmp_path: Path) -> None:
    base = real_graph(tmp_path / "kb")
    before = base.triples()
    assert DELETED in before
    assert DELETED[2] in graphify(base, "explain", DELETED[0]).out
    base("sync")
    applied = base.apply(REFINEMENT, "--export").data["refinement"]
    assert [each["outcome"] for each in applied["actions"]] == ["applied"] * 4

    assert INSERTED[2] in graphify(base, "query", "which Transport pool registry is there?").out
    hop = graphify(base, "path", INSERTED[0], INSERTED[2]).out
    assert f"{INSERTED[0]} --{INSERTED[1]} [INFERRED]--> {INSERTED[2]}" in hop
    assert f"<-- {INSERTED[0]} [{INSERTED[1]}] [INFERRED]" in graphify(base, "explain", INSERTED[2]).out

    explained = graphify(base, "explain", DELETED[0]).out
    assert f"Node: {DELETED[0]}" in explained
    assert DELETED[2] not in explained.replace(f":class:`{DELETED[2]}`", "")
    assert "1 hop" not in graphify(base, "path", DELETED[0], DELETED[2]).out

    renamed = graphify(base, "explain", RENAMED[1]).out
    assert f"Node: {RENAMED[1]}" in renamed
    assert "merge_setting() [calls]" in renamed
    assert f"NODE {RENAMED[1]}" in graphify(base, "query", "hooks", "--seed", RENAMED[1]).out

    assert "No node matching" in graphify(base, "explain", MERGED[0], code=4).out
    assert ".proxy_manager_for()" in graphify(base, "explain", MERGED[1]).out

    after = base.triples()
    assert INSERTED in after
    assert DELETED not in after
    untouched = {each for each in before if not {*RENAMED, *MERGED} & {each[0], each[2]}} - {DELETED}
    assert untouched <= after


def test_graphify_update_takes_an_exported_graph(tmp_path: Path) -> None:
    base = lantern(tmp_path)
    graphify(base, "update", ".")
    base("sync")
    base.apply(
        'insert_edge("place_order()", "triggers", "charge_customer()")'
        '|insert_edge("daily_report()", "counts_in", "Evening ledger")|replace_node("Psp", "PaymentProvider")'
        '|delete_edge("daily_report()", "calls", "total()")',
        "--export",
    )
    for arguments in (("query", "Evening ledger"), ("explain", "PaymentProvider"), ("update", ".")):
        graphify(base, *arguments)
    graph = json.loads(base.graph.read_bytes())
    assert not [node for node in graph["nodes"] if ".deeprefine" in str(node.get("source_file"))]
    assert ("place_order()", "triggers", "charge_customer()") in base.triples()
    assert "changed" in base("status").out
