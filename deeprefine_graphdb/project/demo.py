"""What the demo works on: a copy of the bundled knowledge base, and how a graph.json differs from another."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterator
from importlib import resources
from importlib.resources.abc import Traversable
from pathlib import Path
from typing import Any

from deeprefine_graphdb.model.errors import UsageError

NAME = "lantern"
SKIPPED = frozenset({"__pycache__"})


def copy_demo(target: Path) -> Path:
    """Copy the bundled knowledge base into a folder that is made, and give its root.

    Raises :class:`UsageError` when the folder holds one already.
    """
    root = target / NAME
    if root.exists():
        raise UsageError(f"{root} is there already.", "Give another --dir, or remove it.")
    _copy(resources.files("deeprefine_graphdb") / "demo" / NAME, root)
    return root


def object_diff(before: Path, after: Path) -> list[str]:
    """Give the objects of two graph.json files that are in one only, as lines that begin with ``-`` or ``+``."""
    old, new = _objects(before), _objects(after)
    gone = [f"- {line}" for line in (old - new).elements()]
    come = [f"+ {line}" for line in (new - old).elements()]
    return gone + come


def _copy(source: Traversable, target: Path) -> None:
    target.mkdir(parents=True)
    for entry in source.iterdir():
        if entry.is_dir() and entry.name not in SKIPPED:
            _copy(entry, target / entry.name)
        elif entry.is_file():
            (target / entry.name).write_bytes(entry.read_bytes())


def _objects(path: Path) -> Counter[str]:
    return Counter(_lines(json.loads(path.read_text(encoding="utf-8"))))


def _lines(graph: dict[str, Any]) -> Iterator[str]:
    for key, value in graph.items():
        if isinstance(value, list) and value and all(isinstance(each, dict) for each in value):
            yield from (f"{key}: {json.dumps(each, ensure_ascii=False)}" for each in value)
        else:
            yield f"{key}: {json.dumps(value, ensure_ascii=False)}"
