"""Large graphs come back byte for byte, in the processor time and memory that is planned for them."""

from __future__ import annotations

import json
import lzma
import subprocess
import sys
from pathlib import Path

import pytest

GRAPHS = Path(__file__).parents[3].parent / "shared" / "graphs"

PROGRAM = """
import json, resource, sys, time
from pathlib import Path
from deeprefine_loaders.basefile import BaseFile, write_base
from deeprefine_loaders.graphfile import read_graph
from deeprefine_loaders.objects import edit_object
from deeprefine_loaders.render import Edits, render, render_digest

path = Path(sys.argv[1])
step, times = time.process_time(), {}
graph = read_graph(path)
times["read"] = time.process_time() - step
step = time.process_time()
write_base(graph, path.parent)
times["write"] = time.process_time() - step
counts = len(graph.nodes.id), len(graph.links.key)
keys, digest = graph.links.key[:: counts[1] // 9], graph.digest
del graph
memory = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss >> 10
step = time.process_time()
base = BaseFile.open(path.parent)
edits = Edits()
for key in keys:
    edits.replaced["link", key] = edit_object(base.slice("link", key), {"weight": 2}, header=base.header)
times["open"] = time.process_time() - step
step = time.process_time()
changed = render_digest(base, edits)
times["render"] = time.process_time() - step
with path.open("rb") as stream:
    same = all(stream.read(len(chunk)) == chunk for chunk in render(base, Edits())) and not stream.read(1)
print(json.dumps({"times": times, "memory": memory, "same": same, "changed": changed != digest, "counts": counts}))
"""


@pytest.mark.slow
@pytest.mark.parametrize(
    ("name", "nodes", "links", "seconds", "megabytes"),
    [
        ("networkx", 11_525, 19_118, 4.0, 150),
        ("django", 51_254, 122_127, 10.0, 300),
        ("large", 145_802, 397_276, 16.0, 650),
    ],
)
def test_a_large_graph_is_read_and_given_back(
    name: str, nodes: int, links: int, seconds: float, megabytes: int, tmp_path: Path
) -> None:
    packed = GRAPHS / f"{name}.graph.json.xz"
    if not packed.is_file():
        pytest.skip(f"{packed} is not here")
    path = tmp_path / "graph.json"
    with lzma.open(packed) as source, path.open("wb") as target:
        while chunk := source.read(1 << 22):
            target.write(chunk)
    run = subprocess.run(
        [sys.executable, "-c", PROGRAM, str(path)], capture_output=True, text=True, check=True
    )
    told = json.loads(run.stdout)
    assert told["same"]
    assert told["changed"]
    assert told["counts"] == [nodes, links]
    assert sum(told["times"].values()) < seconds, told
    assert told["times"]["open"] < 0.2, told
    assert told["memory"] < megabytes, told
