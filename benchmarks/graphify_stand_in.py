#!/usr/bin/env python3
"""A stand-in for ``graphify update``: the same small change of graph.json at each run, at its raw text.

A file of source comes anew, ten entities with an edge each; twenty objects stand at another line; ten links are gone.
Everything else keeps its bytes, and little memory is used, so that what is measured is this program's.
"""

from __future__ import annotations

import json
import os
import re
from pathlib import Path

GRAPH = Path("graphify-out/graph.json")
NEW = 10
MOVED = 20
GONE = 10
LONGEST_LINK = 20_000
_LOCATION = re.compile(rb'"source_location":\s*"L')
_LINK = re.compile(rb'\{\s*"source":')
_LISTS = {name: re.compile(rb'"%s":\s*\[(?=\s*\{)' % name) for name in (b"nodes", b"links")}
_COMMA = re.compile(rb"\s*,")
_ID = re.compile(rb'"id":\s*"((?:[^"\\]|\\.)*)"')


def main() -> None:
    """Rewrite the graph of the folder that this runs in."""
    data = GRAPH.read_bytes()
    run = data.count(b'"id":"arrived_') // NEW
    cuts = [*_arrived(data, run), *_moved(data), *_gone(data)]
    written = GRAPH.with_suffix(".tmp")
    with written.open("wb") as stream:
        at = 0
        for start, end, text in sorted(cuts):
            stream.write(memoryview(data)[at:start])
            stream.write(text)
            at = end
        stream.write(memoryview(data)[at:])
    os.replace(written, GRAPH)


Cut = tuple[int, int, bytes]
"""From where to where bytes go, and what comes instead."""


def _arrived(data: bytes, run: int) -> list[Cut]:
    known = _ID.search(data)
    if known is None:
        raise ValueError(f"{GRAPH} has no node.")
    names = [f"arrived_{run}_{n}" for n in range(NEW)]
    file = f"src/arrived_{run}.py"
    nodes = [
        {"id": name, "label": name.title(), "file_type": "code", "source_file": file, "_origin": "ast"}
        for name in names
    ]
    links = [
        {"source": name, "target": json.loads(b'"%s"' % known[1]), "relation": "uses", "source_file": file}
        for name in names
    ]
    return [_put(data, b"nodes", nodes), _put(data, b"links", links)]


def _put(data: bytes, name: bytes, objects: list[dict[str, str]]) -> Cut:
    at = _start(data, name)
    text = b"".join(json.dumps(each, separators=(",", ":")).encode() + b"," for each in objects)
    return at, at, text


def _start(data: bytes, name: bytes) -> int:
    found = _LISTS[name].search(data)
    if found is None:
        raise ValueError(f"{GRAPH} has no {name.decode()}.")
    return found.end()


def _moved(data: bytes) -> list[Cut]:
    found = (_LOCATION.search(data, len(data) * n // MOVED) for n in range(MOVED))
    ends = {match.end() for match in found if match is not None}
    return [(end, end, b"1") for end in ends]


def _gone(data: bytes) -> list[Cut]:
    first = _start(data, b"links")
    room = len(data) - first
    cuts = {_link(data, first + room * n // (GONE + 1) + room // (2 * GONE)) for n in range(GONE)}
    return [(start, end, b"") for start, end in cuts if end > start]


def _link(data: bytes, near: int) -> tuple[int, int]:
    """Give where the next link begins and where the one behind it does; the last link of a file is kept."""
    match = _LINK.search(data, near)
    if match is None:
        return near, near
    text = data[match.start() : match.start() + LONGEST_LINK].decode("utf-8", "ignore")
    length = len(text[: json.JSONDecoder().raw_decode(text)[1]].encode())
    comma = _COMMA.match(data, match.start() + length)
    return (match.start(), comma.end()) if comma is not None else (near, near)


if __name__ == "__main__":
    main()
