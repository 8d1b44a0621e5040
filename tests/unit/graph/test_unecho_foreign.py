"""The echo of another log is taken out of a graph that came of its exports, with or without its base at hand."""

from __future__ import annotations

import contextlib
import hashlib
import json
import os
from collections.abc import Sequence
from functools import partial
from typing import Any

from hypothesis import assume, given, settings
from hypothesis import strategies as st

from deeprefine_graphdb.graph.ancestor import State
from deeprefine_graphdb.graph.texts import STAMP
from deeprefine_graphdb.graph.unecho_foreign import OtherLog, has_echo, unecho_foreign
from deeprefine_graphdb.graph.unecho_model import Images, no_images
from deeprefine_loaders.basefile import BaseFile
from deeprefine_loaders.graphfile import GraphFile, parse_graph
from tests.unit.graph.echoes import Export, Json, base_of, by_graphify, export, parsed, written
from tests.unit.graph.small import link, node
from tests.unit.graph.test_unecho_laws import actions, exports, graphs, refined, steps

few = settings(max_examples=int(os.environ.get("DEEPREFINE_TEST_EXAMPLES", "60")), deadline=None)
BASE = written({
    "directed": False,
    "multigraph": False,
    "graph": {},
    "nodes": [
        node("a", "A", source_file="a.py", _origin="ast"),
        node("b", "B", source_file="b.py", _origin="ast"),
        node("c", "C", source_file="c.py", _origin="ast"),
    ],
    "links": [link("a", "calls", "b"), link("b", "uses", "c"), link("c", "has", "a")],
})


def digest(data: bytes) -> str:
    return hashlib.sha256(data).hexdigest()


def knowing_nothing(_base: BaseFile) -> Images:
    return no_images


def log_of(
    *made: Export, known: Sequence[bytes] = (), sidecar: str | None = None, letter: str = "r"
) -> OtherLog:
    """Give the log that wrote these exports; ``known`` are the bases at hand, ids begin with the letter."""
    bases = {digest(data): data for data in known}

    def open_base(wanted: str) -> contextlib.AbstractContextManager[BaseFile] | None:
        data = bases.get(wanted)
        return None if data is None else contextlib.nullcontext(BaseFile.of(parse_graph(data)))

    return OtherLog(
        states=[State(digest(each.file), digest(each.base), partial(list, each.manifest)) for each in made],
        refinements={f"{letter}{number}" for number in range(1, 10)},
        images=knowing_nothing,
        open_base=open_base,
        sidecar=sidecar,
    )


def of_another(made: Export, letter: str) -> Export:
    """Give an export, written compactly, as a log with other ids has it."""
    old, new = f'"{STAMP}":"r', f'"{STAMP}":"{letter}'
    manifest = [
        entry.model_copy(
            update={
                "by": entry.by.replace("r", letter, 1),
                "disk": entry.disk and entry.disk.replace(old, new),
            }
        )
        for entry in made.manifest
    ]
    return Export(made.base, made.file.replace(old.encode(), new.encode()), manifest)


def without(found: GraphFile | bytes, *logs: OtherLog) -> GraphFile:
    graph = parse_graph(found) if isinstance(found, bytes) else found
    for log in logs:
        result = unecho_foreign(graph, log)
        if result is not None:
            base_of(result)
            graph = result.base
    return graph


def content(data: Json | bytes | GraphFile) -> dict[str, Any]:
    """Give what a file says, in whatever order, less what clustering says of the graph as a whole."""
    if isinstance(data, GraphFile):
        data = data.text.encode("latin-1")
    found = data if isinstance(data, dict) else parsed(data)
    leave = {"community", "local_community"}
    return {
        name: sorted(
            json.dumps({key: each[key] for key in each if key not in leave}, sort_keys=True) for each in value
        )
        if isinstance(value, list)
        else value
        for name, value in found.items()
        if name != "multigraph"
    }


def has_stamp(data: bytes) -> bool:
    return STAMP.encode() in data


def merged(*files: bytes) -> bytes:
    """Put graphs beside one another as ``graphify merge-graphs`` does, but for links that it would fuse."""
    data: Json = {
        "directed": False,
        "multigraph": False,
        "graph": {},
        "nodes": [],
        "links": [],
        "hyperedges": [],
    }
    offset = 0
    for tag, file in zip("XYZ", files, strict=False):
        one = parsed(file)

        def name(value: Any, tag: str = tag) -> str:
            return f"{tag}::{value}"

        for each in one["nodes"]:
            more = {"repo": tag, "local_id": each["id"], "id": name(each["id"])}
            if offset and "community" in each:
                more |= {"local_community": each["community"], "community": each["community"] + offset}
            data["nodes"].append({**each, **more})
        offset += 3
        data["links"] += [
            {**each, "source": name(each["source"]), "target": name(each["target"])} for each in one["links"]
        ]
        data["hyperedges"] += [
            {**each, "id": name(each["id"]), "nodes": [name(member) for member in each["nodes"]]}
            for each in one.get("hyperedges", [])
        ]
    return written(data)


@few
@given(exports())
def test_the_very_file_of_an_export_gives_the_bytes_of_its_base(made: Export) -> None:
    assume(made.file != made.base)
    assert without(made.file, log_of(made)).text.encode("latin-1") == made.base


@few
@given(exports(), st.booleans())
def test_a_file_that_graphify_wrote_anew_gives_what_the_base_said(made: Export, at_hand: bool) -> None:
    found = by_graphify(made.data)
    assume(has_stamp(found) and found != made.file)
    graph = without(found, log_of(made, known=[made.base] if at_hand else ()))
    assert content(graph) == content(made.base)
    assert unecho_foreign(graph, log_of(made)) is None


@few
@given(exports())
def test_without_any_stamp_nothing_tells_that_a_graph_came_of_an_export(made: Export) -> None:
    found = by_graphify({**made.data, "extra": 1})
    assume(not has_stamp(found))
    assert unecho_foreign(parse_graph(found), log_of(made)) is None
    assert unecho_foreign(parse_graph(by_graphify(parsed(made.base) | {"extra": 1})), log_of(made)) is None


@st.composite
def two(draw: st.DrawFn) -> tuple[Export, Export]:
    first, second = (
        refined(written(draw(graphs())), draw(st.lists(actions, min_size=1, max_size=5))) for _ in range(2)
    )
    return first, second


@few
@given(two())
def test_of_a_merged_graph_each_log_takes_out_its_own(made: tuple[Export, Export]) -> None:
    first, second = made
    assume(has_stamp(first.file))
    second = of_another(second, "q")
    logs = log_of(first), log_of(second, letter="q")
    for found in (merged(first.file, second.base), merged(first.file, second.file)):
        if has_stamp(second.file) or found == merged(first.file, second.base):
            graph = without(found, *logs)
            assert content(graph) == content(merged(first.base, second.base))
            assert all(unecho_foreign(graph, log) is None for log in logs)


@few
@given(st.data(), exports(), st.booleans())
def test_whatever_became_of_the_file_no_stamp_stays_and_nothing_new_dangles(
    data: st.DataObject, made: Export, at_hand: bool
) -> None:
    found = by_graphify(data.draw(steps(made.data)))
    log = log_of(made, known=[made.base] if at_hand else ())
    result = unecho_foreign(parse_graph(found), log)
    if result is None:
        assert not has_stamp(found)
        return
    base = base_of(result)
    assert STAMP not in result.base.text
    dangling = ends(parsed(found)) - ids(parsed(found)) | ends(parsed(made.base)) - ids(parsed(made.base))
    assert ends(base) - ids(base) <= dangling
    assert unecho_foreign(result.base, log) is None


def ids(data: Json) -> set[str]:
    return {each["id"] for each in data["nodes"]}


def ends(data: Json) -> set[str]:
    return {each[end] for each in data["links"] for end in ("source", "target")}


def test_the_export_is_the_one_whose_stamps_the_graph_has() -> None:
    early = export(BASE, 'insert_edge("A", "knows", "C")')
    late = export(
        BASE, 'insert_edge("A", "knows", "C")', 'delete_edge("B", "uses", "C")|insert_edge("C", "knows", "B")'
    )
    found = by_graphify(early.data | {"extra": 1})
    graph = without(found, log_of(early, late))
    assert content(graph) == content(parsed(BASE) | {"extra": 1})
    gone = by_graphify(
        early.data | {"links": [each for each in early.data["links"] if each["source"] != "b"]}
    )
    assert ("b", "uses", "c") not in {
        (each["source"], each["relation"], each["target"])
        for each in parsed(without(gone, log_of(early, late)).text)["links"]
    }


def test_an_older_refinement_that_the_last_export_has_not_is_taken_out_too() -> None:
    both = export(BASE, 'replace_node("B", "Bee")', 'insert_edge("A", "knows", "C")')
    later = export(BASE, 'insert_edge("C", "knows", "B")')
    found = by_graphify(both.data | {"extra": 1})
    assert content(without(found, log_of(both, later))) == content(parsed(BASE) | {"extra": 1})


def test_the_manifest_beside_the_file_tells_of_an_export_that_only_removed() -> None:
    made = export(BASE, 'delete_edge("B", "uses", "C")')
    found = by_graphify(made.data | {"extra": 1})
    assert not has_stamp(found)
    assert unecho_foreign(parse_graph(found), log_of(made)) is None
    graph = without(found, log_of(made, sidecar=digest(made.file)))
    assert content(graph) == content(parsed(BASE) | {"extra": 1})


def test_what_the_graph_has_again_is_not_doubled() -> None:
    made = export(BASE, 'delete_edge("B", "uses", "C")|replace_node("A", "First")')
    found = by_graphify(made.data | {"links": parsed(BASE)["links"]})
    assert content(without(found, log_of(made))) == content(BASE)


def test_stamps_of_a_third_log_stay_as_they_are() -> None:
    first, second = export(BASE, 'replace_node("A", "First")'), export(BASE, 'replace_node("B", "Second")')
    theirs = second.file.replace(b"r1.1", b"q1.1")
    found = merged(first.file, theirs)
    result = unecho_foreign(parse_graph(found), log_of(first))
    assert result is not None
    assert content(result.base) == content(merged(BASE, theirs))
    assert [(note.kind, note.by) for note in result.notes] == [("foreign", "q1.1")]


def test_whether_a_base_has_stamps_of_a_log_is_seen_without_parsing_it() -> None:
    made = export(BASE, 'replace_node("A", "First")')
    for indent in (None, 2):
        file = BaseFile.of(parse_graph(json.dumps(made.data, indent=indent).encode()))
        assert has_echo(file, {"r1", "r2"})
        assert not has_echo(file, {"r2", "r"})
    assert not has_echo(BaseFile.of(parse_graph(BASE)), {"r1"})
