"""A file that is no graph is refused with one sentence that names the file and the place."""

from __future__ import annotations

import json
import os
from pathlib import Path

import pytest

from deeprefine_loaders.basefile import BaseFile, write_base
from deeprefine_loaders.errors import FormatError
from deeprefine_loaders.graphfile import parse_graph, read_graph
from deeprefine_loaders.objects import edit_object, read_object

REFUSED = {
    "empty": (b"", "is empty"),
    "blank": (b" \r\n\t", "is empty"),
    "only a byte order mark": (b"\xef\xbb\xbf", "cut off"),
    "text": (b"hello", "not JSON: Expecting value at byte 0"),
    "a list": (b'[{"id":"a"}]', "its top level is a list"),
    "a string": (b'"nodes"', "its top level is no object"),
    "truncated in a string": (b'{"nodes":[{"id":"a', "cut off"),
    "truncated in a list": (b'{"nodes":[{"id":"a"},', "cut off"),
    "truncated behind a list": (b'{"nodes":[{"id":"a"}]', "cut off"),
    "trailing comma": (b'{"nodes":[{"id":"a"},]}', "not JSON: Expecting value at byte 21"),
    "two files in one": (b'{"nodes":[]}{"nodes":[]}', "not JSON: Extra data at byte 12"),
    "zeros behind the end": (b'{"nodes":[]}\x00\x00', "Extra data at byte 12"),
    "a detect result": (b'{"files":{"code":["a.py"]},"total_files":1,"total_words":9}', "detect"),
    "no graph": (b'{"directed":false,"graph":{"nodes":[]}}', "none of nodes, links and edges"),
    "nodes as an object": (b'{"nodes":{"a":{}}}', "nodes (at byte 9) is not a list"),
    "links null": (b'{"nodes":[],"links":null}', "links (at byte 20) is not a list"),
    "nodes twice": (b'{"nodes":[],"nodes":[]}', "the list nodes twice"),
    "node a string": (b'{"nodes":[{"id":"a"},"b"]}', "element 1 of nodes (at byte 21) is not an object"),
    "link a list": (b'{"nodes":[],"links":[["a","b"]]}', "element 0 of links (at byte 21) is not an object"),
    "edge null": (b'{"nodes":[],"edges":[null]}', "element 0 of edges (at byte 21) is not an object"),
    "no id": (b'{"nodes":[{"label":"a"}]}', "element 0 of nodes (at byte 10) has no id"),
    "null id": (b'{"nodes":[{"id":null}]}', "has no id"),
    "duplicate id": (
        b'{"nodes":[{"id":"a"},{"id":"b"},{"id":"a"}]}',
        "two nodes with the id 'a' (the second at byte 32)",
    ),
    "duplicate escaped id": ('{"nodes":[{"id":"é"},{"id":"\\u00e9"}]}'.encode(), "two nodes with the id 'é'"),
    "latin-1": (b'{"nodes":[{"id":"caf\xe9"}]}', "not UTF-8 (near byte 20)"),
    "cut in a character": ('{"nodes":[{"id":"é'.encode()[:-1], "not UTF-8"),
    "UTF-16": ('{"nodes":[]}'.encode("utf-16"), "not UTF-8"),
    "a raw newline in a string": (b'{"nodes":[{"id":"a\nb"}]}', "not JSON: Invalid control character at"),
    "single quotes": (b"{'nodes':[]}", "not JSON"),
    "nested too deep": (b'{"nodes":[{"id":"a","x":' + b"[" * 100_000 + b"]" * 100_000 + b"}]}", "too deep"),
}


@pytest.mark.parametrize("name", REFUSED)
def test_what_is_no_graph_is_refused_by_name_and_place(name: str, tmp_path: Path) -> None:
    data, told = REFUSED[name]
    path = tmp_path / "graph.json"
    path.write_bytes(data)
    with pytest.raises(FormatError) as refused:
        read_graph(path)
    assert told in refused.value.message
    assert str(path) in refused.value.message
    assert "\n" not in str(refused.value)
    with pytest.raises(FormatError, match="other name"):
        parse_graph(data, "other name")


def test_every_cut_of_a_file_is_refused() -> None:
    whole = json.dumps({"nodes": [{"id": "é", "n": [1.5, True]}], "links": [], "hyperedges": []}).encode()
    for length in range(len(whole)):
        with pytest.raises(FormatError):
            parse_graph(whole[:length])


def test_a_real_graph_cut_in_the_middle_is_refused(real_graph: dict[str, bytes]) -> None:
    whole = real_graph["requests"]
    for length in range(1, len(whole), len(whole) // 23):
        with pytest.raises(FormatError, match=r"graph\.json"):
            parse_graph(whole[:length])


def test_a_list_of_nodes_alone_is_a_graph() -> None:
    graph = parse_graph(b'{"nodes":[{"id":"a"}]}')
    assert graph.nodes.id == graph.nodes.label == ["a"]
    assert graph.header.links_section == "links"
    assert parse_graph(b'{"edges":[]}').header.links_section == "edges"


def test_a_number_of_many_digits_is_no_obstacle() -> None:
    raw = '{"id":"a","n":' + "7" * 6000 + "}"
    graph = parse_graph(f'{{"nodes":[{raw}]}}'.encode())
    assert graph.slice("node", "a") == raw
    assert edit_object(raw, {"id": "b"}) == raw.replace('"a"', '"b"')


def test_a_missing_file_is_an_os_error(tmp_path: Path) -> None:
    with pytest.raises(FileNotFoundError):
        read_graph(tmp_path / "graph.json")


@pytest.mark.parametrize("raw", ["[1]", "{", '"a"', ""])
def test_what_is_no_object_is_refused(raw: str) -> None:
    with pytest.raises(FormatError):
        read_object(raw)
    with pytest.raises(FormatError):
        edit_object(raw, {"a": 1})


def test_an_index_of_another_base_is_refused(tmp_path: Path) -> None:
    write_base(parse_graph(b'{"nodes":[{"id":"a"}]}'), tmp_path)
    index = (tmp_path / "base.idx").read_bytes()
    (tmp_path / "base.json").write_bytes(b'{"nodes":[]}')
    with pytest.raises(FormatError, match="does not belong"):
        BaseFile.open(tmp_path)
    for damaged in (
        b"",
        index[:10],
        index[:-1],
        index + b"x",
        b"x" + index[1:],
        index[:40] + b"\0" * 40 + index[80:],
    ):
        (tmp_path / "base.idx").write_bytes(damaged)
        with pytest.raises(FormatError, match=r"base\.idx"):
            BaseFile.open(tmp_path)


@pytest.mark.skipif(not hasattr(os, "pread"), reason="the base is read through its map there")
def test_a_base_that_is_cut_while_it_is_open_is_an_error(tmp_path: Path) -> None:
    write_base(parse_graph(b'{"nodes":[{"id":"a"}]}'), tmp_path)
    base = BaseFile.open(tmp_path)
    os.truncate(tmp_path / "base.json", 10)
    with pytest.raises(OSError, match="shorter"):
        list(base.chunks())
    base.close()
