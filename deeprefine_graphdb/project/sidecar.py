"""The manifest beside graph.json (``.deeprefine/export.json``), so that a copy of both tells what in it is ours."""

from __future__ import annotations

import json
from collections.abc import Iterable
from pathlib import Path

from deeprefine_graphdb.graph.ancestor import State
from deeprefine_graphdb.graph.manifest import ManifestEntry

FORMAT = 1


def sidecar_bytes(
    store_id: str, file_digest: str, base_digest: str, manifest: Iterable[ManifestEntry]
) -> bytes:
    """Write the manifest of a file. ``store_id`` is the store that wrote it, ``""`` for a merge of several."""
    told = {
        "format": FORMAT,
        "store_id": store_id,
        "file_digest": file_digest,
        "base_digest": base_digest,
        "manifest": [entry.model_dump(mode="json", exclude_none=True) for entry in manifest],
    }
    return (json.dumps(told, ensure_ascii=True, indent=1) + "\n").encode("ascii")


def parse_sidecar(data: bytes) -> State | None:
    """Give the state that such a file tells of, or ``None`` when it cannot be read."""
    try:
        told = json.loads(data)
        entries = [ManifestEntry.model_validate(entry) for entry in told["manifest"]]
        return State(str(told["file_digest"]), str(told["base_digest"]), lambda: entries)
    except (ValueError, KeyError, TypeError, RecursionError):
        return None


def read_sidecar(path: Path) -> State | None:
    """Give the state that the file beside graph.json tells of, or ``None`` when there is none that can be read."""
    try:
        return parse_sidecar(path.read_bytes())
    except OSError:
        return None


def says_the_same(path: Path, data: bytes) -> bool:
    """Tell whether a sidecar tells of the same state, whichever store wrote it."""
    try:
        there, new = json.loads(path.read_bytes()), json.loads(data)
        return bool({**there, "store_id": ""} == {**new, "store_id": ""})
    except (OSError, ValueError, TypeError, RecursionError):
        return False
