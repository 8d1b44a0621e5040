#!/usr/bin/env python3
"""A stand-in for ``graphify update``: what it makes of a graph.json is always the same, and made twice nothing more.

It adds an entity with an edge, fills in a field of another one, and takes an entity out that nobody refined. With
``DEEPREFINE_TEST_KILL`` it kills the process that started it: ``after`` it wrote, or ``torn`` with half a file written,
with which it ends.
"""

from __future__ import annotations

import json
import os
import signal
from pathlib import Path

GRAPH = Path("graphify-out/graph.json")


def main() -> None:
    """Rewrite the graph of the folder that this runs in."""
    kill = os.environ.get("DEEPREFINE_TEST_KILL")
    graph = json.loads(GRAPH.read_bytes())
    nodes = [node for node in graph["nodes"] if node["id"] not in {"late", "idle"}]
    links = [link for link in graph["links"] if link["source"] != "late"]
    nodes.append({"id": "late", "label": "Late", "community": 1, "source_file": "src/Late.py"})
    links.append({"source": "late", "target": "server", "relation": "inherits", "confidence": "EXTRACTED"})
    for node in nodes:
        if node["id"] == "queue":
            node["source_location"] = "L7"
    data = json.dumps({**graph, "nodes": nodes, "links": links}, separators=(",", ":")).encode()
    if kill == "torn":
        GRAPH.write_bytes(data[: len(data) // 2])
        os.kill(os.getppid(), signal.SIGKILL)
        return
    written = GRAPH.with_suffix(".tmp")
    written.write_bytes(data)
    written.replace(GRAPH)
    if kill == "after":
        os.kill(os.getppid(), signal.SIGKILL)


if __name__ == "__main__":
    main()
