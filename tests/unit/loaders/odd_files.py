"""Hypothesis strategies for graph.json files of every kind that was seen in the wild."""

from __future__ import annotations

import json
import os
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from hypothesis import settings
from hypothesis import strategies as st

few = settings(max_examples=int(os.environ.get("DEEPREFINE_TEST_EXAMPLES", "25")), deadline=None)
"""How often a property is tried: seldom in every run, often when the environment says so."""

ODD_TEXTS = [
    "",
    "a",
    "json:1",
    "x::y",
    "a\\b",
    'say "hi"',
    "two\nlines",
    "<b>&'+`",
    "straße",
    "日本",
    "\u2028",
    "😀",
    "a/b",
    "\x7f",
    "}],[{",
    "\u00ef\u00bb\u00bf",
]
LONE = "\ud83d"
NUMBERS = [
    "0",
    "-0",
    "1.10",
    "1e2",
    "1E+400",
    "-2.50e-3",
    "NaN",
    "Infinity",
    "-Infinity",
    "9" * 40,
    "7" * 4500,
]

texts = st.sampled_from(ODD_TEXTS) | st.text(max_size=6)
lone_texts = texts | texts.map(lambda text: text + LONE)


class Raw(float):
    """A number with the very text that it is to be written with."""

    text: str

    @staticmethod
    def of(text: str) -> Raw:
        number = Raw(text)
        number.text = text
        return number


numbers = st.sampled_from(NUMBERS).map(Raw.of)
scalars = st.none() | st.booleans() | st.integers(-9, 9) | numbers | lone_texts
values = st.recursive(
    scalars,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(texts, inner, max_size=3),
    max_leaves=6,
)
extras = st.dictionaries(
    st.sampled_from(["metadata", "weight", "context", "aliases", "naïve", "_ts"]), values
)
ids = st.sampled_from(["n1", "n2", "n3", "n::4", "ünï", "json:n", LONE, 5, 6, 2.5, True])


def _some(required: dict[str, Any], **optional: Any) -> st.SearchStrategy[dict[str, Any]]:
    return st.builds(
        lambda first, more: {**first, **more}, st.fixed_dictionaries(required, optional=optional), extras
    )


nodes = _some(
    {"id": ids},
    label=lone_texts | st.none() | st.integers(),
    norm_label=texts,
    file_type=st.sampled_from(["code", "concept"]),
    source_file=texts | st.none(),
    source_location=st.sampled_from(["L1", None, 7]),
    community=st.integers(0, 3) | texts,
    _origin=st.sampled_from(["ast", "semantic"]),
)
links = _some(
    {"source": ids, "target": ids},
    relation=st.sampled_from(["calls", "USES", "", None, 3]),
    relationship=st.just("knows"),
    type=st.just("t"),
    _src=ids | st.none(),
    _tgt=ids,
    confidence=st.sampled_from(["EXTRACTED", 0.5, None, "CURATED"]),
    key=st.integers(),
)
hyperedges = _some(
    {}, id=st.sampled_from(["h", "h2", 3]), nodes=st.lists(ids, max_size=4), members=st.lists(ids, max_size=3)
)


@st.composite
def documents(draw: st.DrawFn) -> dict[str, Any]:
    """Make the value of a graph.json whose node ids are unique."""
    members: dict[str, Any] = {}
    if draw(st.booleans()):
        members["directed"] = draw(st.booleans())
    if draw(st.booleans()):
        members["multigraph"] = draw(st.booleans())
    if draw(st.booleans()):
        members["graph"] = draw(st.dictionaries(st.sampled_from(["schema_version", "nodes", "x"]), values))
        if draw(st.booleans()):
            members["graph"]["hyperedges"] = draw(st.lists(hyperedges, max_size=3))
    unique: Callable[[dict[str, Any]], str] = lambda node: json.dumps(node["id"])  # noqa: E731
    members["nodes"] = draw(st.lists(nodes, max_size=5, unique_by=unique))
    which = draw(st.sampled_from([("links",), ("edges",), ("links", "edges"), ()]))
    for name in which:
        members[name] = draw(st.lists(links, max_size=5))
    if draw(st.booleans()):
        members["hyperedges"] = draw(st.lists(hyperedges, max_size=3))
    members |= draw(st.dictionaries(st.sampled_from(["built_at_commit", "area", "ärea"]), values))
    names = draw(st.permutations(list(members)))
    return {name: members[name] for name in names}


@dataclass(frozen=True)
class Writer:
    """One program's way to write JSON."""

    indent: int | None = None
    separators: tuple[str, str] = (",", ":")
    newline: str = "\n"
    ascii: bool = True
    escapes: str = ""
    upper: bool = False
    final: str = ""
    bom: bool = False

    def write(self, value: Any) -> bytes:
        """Give the file."""
        text = self.value(value, 0) + self.final
        return b"\xef\xbb\xbf" * self.bom + text.replace("\n", self.newline).encode("utf-8")

    def value(self, value: Any, depth: int) -> str:
        """Write one value that stands ``depth`` levels deep."""
        if isinstance(value, str):
            return self.string(value)
        if isinstance(value, Raw):
            return value.text
        if isinstance(value, list):
            return self._container("[]", [self.value(item, depth + 1) for item in value], depth)
        if isinstance(value, dict):
            colon = self.separators[1]
            pairs = [self.string(k) + colon + self.value(v, depth + 1) for k, v in value.items()]
            return self._container("{}", pairs, depth)
        return json.dumps(value)

    def string(self, text: str) -> str:
        """Write a string, character by character."""
        out = []
        for char in text:
            own = json.dumps(char, ensure_ascii=self.ascii or "\ud800" <= char < "\ue000")[1:-1]
            if char in self.escapes:
                own = f"\\u{ord(char):04x}"
            if self.upper and own.startswith("\\u"):
                own = "".join("\\u" + digits.upper() for digits in own.split("\\u")[1:])
            out.append(own)
        return '"' + "".join(out) + '"'

    def _container(self, brackets: str, items: list[str], depth: int) -> str:
        if not items:
            return brackets
        if self.indent is None:
            return brackets[0] + self.separators[0].join(items) + brackets[1]
        line = "\n" + " " * self.indent * (depth + 1)
        return brackets[0] + line + f",{line}".join(items) + "\n" + " " * self.indent * depth + brackets[1]


@st.composite
def writers(draw: st.DrawFn) -> Writer:
    """Choose a way to write."""
    indent = draw(st.sampled_from([None, 0, 1, 2]))
    return Writer(
        indent=indent,
        separators=(",", ": ") if indent is not None else draw(st.sampled_from([(",", ":"), (", ", ": ")])),
        newline=draw(st.sampled_from(["\n", "\r\n"])),
        ascii=draw(st.booleans()),
        escapes=draw(st.sampled_from(["", "<>&", "<>&'+`\""])),
        upper=draw(st.booleans()),
        final=draw(st.sampled_from(["", "\n"])),
        bom=draw(st.booleans()),
    )
