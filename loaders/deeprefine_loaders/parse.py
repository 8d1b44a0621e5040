"""Parse the text of a graph.json: sections, columns, header, and what makes a file be refused."""

from __future__ import annotations

import codecs
import json
from collections.abc import Callable
from typing import Any, NamedTuple

from .columns import (
    HyperedgeColumns,
    HyperedgeReader,
    LinkColumns,
    LinkReader,
    NodeColumns,
    NodeReader,
    Spans,
)
from .errors import FormatError
from .header import KIND_OF_SECTION, Header, Layout, Section, Style, TopMember
from .scan import Member, ScanError, members_of, scan_array, scan_object, scan_value, skip_space, utf8
from .style import layout_at, measure, style_of

BOM = "\u00ef\u00bb\u00bf"
"""The byte order mark of UTF-8, read as latin-1."""
_CHUNK = 1 << 22
_SORT_SAMPLE = 4000
_AGAIN = "Run graphify again, or put a backup in its place."


class Parsed(NamedTuple):
    """All that is known of a file besides its text."""

    header: Header
    nodes: NodeColumns
    links: LinkColumns
    hyperedges: HyperedgeColumns
    spans: dict[str, Spans]
    warnings: list[str]


def parse_text(text: str, digest: Callable[[], str], source: str) -> Parsed:
    """Parse a file that was decoded as latin-1; its digest is asked for at the end. Raises :class:`FormatError`."""
    _check_utf8(text, source)
    parser = Parser(text, source)
    try:
        parser.run()
    except ScanError as error:
        raise _not_json(text, source, error) from None
    except (ValueError, UnicodeError) as error:
        if isinstance(error, FormatError):
            raise
        raise FormatError(f"{source} cannot be read: {error}.", _AGAIN) from error
    return parser.result(digest())


class Parser:
    """Reads one file; :meth:`run`, then :meth:`result`."""

    def __init__(self, text: str, source: str) -> None:
        self.text = text
        self.source = source
        self.bom = text.startswith(BOM)
        self.start = 0
        self.end = 0
        self.members: list[Member] = []
        self.arrays: dict[str, tuple[int, int]] = {}
        self.values: dict[str, Any] = {}
        self.spans: dict[str, Spans] = {}
        self.nodes = NodeReader(source)
        self.links = LinkReader(source)
        self.hyperedges = HyperedgeReader(text)

    def run(self) -> None:
        """Read it all. Raises :class:`FormatError`, and :class:`ScanError` for what is not JSON."""
        text = self.text
        self.start = skip_space(text, len(BOM) if self.bom else 0)
        if not text.startswith("{", self.start):
            value, _ = scan_value(text, self.start)
            kind = "a list" if isinstance(value, list) else "no object"
            raise FormatError(f"{self.source} is not a graph: its top level is {kind}.", _AGAIN)
        self.members, self.end = scan_object(text, self.start, self._member)
        rest = skip_space(text, self.end)
        if rest < len(text):
            raise ScanError(rest, "Extra data")
        if not self.arrays.keys() & {"nodes", "links", "edges"}:
            raise self._no_graph()
        self.parallel = self.links.finish(self.nodes.places)

    def _member(self, name: str, start: int) -> int:
        if name in {"nodes", "links", "edges", "hyperedges"}:
            if self.text.startswith("[", start):
                if name in self.arrays:
                    raise FormatError(
                        f"{self.source} has the list {name} twice (again at byte {start}).", _AGAIN
                    )
                return self.array(name, start)
            if name != "hyperedges":
                raise FormatError(f"{self.source}: {name} (at byte {start}) is not a list.", _AGAIN)
        if name == "graph" and self.text.startswith("{", start):
            return self._graph(start)
        value, end = scan_value(self.text, start)
        self.values[name] = value if isinstance(value, bool) else None
        return end

    def _graph(self, start: int) -> int:
        places: list[int] = []

        def value_end(name: str, position: int) -> int:
            if name == "hyperedges" and self.text.startswith("[", position):
                places.append(position)
            return scan_value(self.text, position)[1]

        _, end = scan_object(self.text, start, value_end)
        if places and "graph.hyperedges" not in self.arrays:
            self.array("graph.hyperedges", places[-1])
        return end

    def array(self, name: str, start: int) -> int:
        """Read the section that begins here, and give where it ends."""
        spans = self.spans[name] = Spans()
        if KIND_OF_SECTION[name] == "link":
            self.links.know(self.nodes.columns.id)
        readers = {"node": self.nodes.taker, "link": self.links.taker, "hyperedge": self.hyperedges.taker}
        end = scan_array(self.text, start, readers[KIND_OF_SECTION[name]](name, spans))
        self.arrays[name] = (start, end)
        return end

    def _no_graph(self) -> FormatError:
        names = {member.name for member in self.members}
        if {"files", "total_files"} & names:
            return FormatError(
                f"{self.source} is the result of graphify's detect step, not a graph.",
                "Run graphify to build the graph.",
            )
        return FormatError(
            f"{self.source} is not a graph: it has none of nodes, links and edges.",
            "Run graphify to build the graph.",
        )

    def result(self, digest: str) -> Parsed:
        """Put together what was found."""
        style, layout = self._style()
        sections = tuple(
            self._section(name, style) for name in sorted(self.arrays, key=lambda name: self.arrays[name][0])
        )
        top: dict[str, TopMember] = {}
        for member in self.members:
            name = scan_value(utf8(self.text[member.key_start : member.key_end]), 0)[0]
            top[name] = TopMember(name, member.start, member.end)
        relations = self.links.relation_members
        links = [name for name in ("links", "edges") if name in self.arrays]
        header = Header(
            digest=digest,
            size=len(self.text),
            start=self.start,
            end=self.end,
            bom=self.bom,
            final_newline=self.text.endswith("\n"),
            directed=self.values.get("directed") is True,
            multigraph=self.values.get("multigraph") is True,
            has_multigraph="multigraph" in top,
            links_section=links[0] if links else "links",
            relation_member=max(relations, key=lambda name: relations[name]) if relations else "relation",
            nodes_have_norm_label=2 * self.nodes.with_norm_label > len(self.nodes.places),
            nodes_have_community=2 * self.nodes.with_community > len(self.nodes.places),
            nodes_sorted=self._sorted("nodes"),
            links_sorted=self._sorted(links[0] if links else "links"),
            parallel_pairs=self.parallel,
            sections=sections,
            members=tuple(top.values()),
            layout=layout,
            style=style,
        )
        warnings = []
        if self.bom:
            warnings.append(
                f"{self.source} begins with a byte order mark, on which every graphify command fails."
            )
        columns = (self.nodes.columns, self.links.columns, self.hyperedges.columns)
        return Parsed(header, *columns, self.spans, warnings)

    def _style(self) -> tuple[Style, Layout]:
        text = self.text
        last = self.members[-1]
        colon = text[last.key_end : last.start]
        spans = [(member.key_start, member.end) for member in self.members]
        layout = measure(
            text, self.start, self.end, spans, Layout("", ", " if colon.endswith(" ") else ",", "", colon)
        )
        inner = next(
            (self._object_layout(name, layout) for name, span in self.spans.items() if span.starts), None
        )
        if len(spans) == 1 and "\n" not in layout.open and inner and "\n" not in inner.separator:
            layout = Layout(layout.open, inner.separator, layout.close, layout.colon)
        return style_of(text, self.start, layout, inner), layout

    def _section(self, name: str, style: Style) -> Section:
        depth = 3 if name == "graph.hyperedges" else 2
        spans, (start, end) = self.spans[name], self.arrays[name]
        count = len(spans.starts)
        ends = sorted({0, 1, count - 1} & set(range(count)))
        items = [(spans.starts[at], spans.ends[at]) for at in ends]
        # Measured up to the second item, since what lies between that and the end is the whole section.
        measured = end if count <= 2 else items[1][1] + 1
        layout = measure(self.text, start, measured, items[:2], layout_at(style, depth))
        if count > 2:
            layout = Layout(layout.open, layout.separator, self.text[items[-1][1] : end - 1], layout.colon)
        object_layout = self._object_layout(name, layout_at(style, depth + 1))
        if not count and name != "graph.hyperedges":
            rich = max(self.spans, key=lambda other: len(self.spans[other].starts))
            object_layout = self._object_layout(rich, object_layout)
        return Section(name, start, end, count, layout, object_layout)

    def _object_layout(self, name: str, fallback: Layout) -> Layout:
        """Measure the first object of a section that has two members."""
        spans = self.spans[name]
        for start, end in zip(spans.starts[:20], spans.ends[:20], strict=True):
            if self.text[start] != "{":
                continue
            members, _ = members_of(self.text, start)
            if len(members) > 1:
                colon = self.text[members[0].key_end : members[0].start]
                items = [(member.key_start, member.end) for member in members]
                measured = measure(self.text, start, end, items, fallback)
                return Layout(measured.open, measured.separator, measured.close, colon)
        return fallback

    def _sorted(self, name: str) -> bool:
        """Tell whether a section is sorted by canonical JSON; a long one is judged by samples."""
        spans = self.spans.get(name)
        if spans is None:
            return False
        count = len(spans.starts)
        step = max(1, count // _SORT_SAMPLE)
        before = ""
        for at in range(0, count, step):
            value = scan_value(utf8(self.text[spans.starts[at] : spans.ends[at]]), 0)[0]
            try:
                text = json.dumps(value, ensure_ascii=False, sort_keys=True, separators=(",", ":"))
            except ValueError:
                return False
            if text < before:
                return False
            before = text
        return True


def _check_utf8(text: str, source: str) -> None:
    if text.isascii():
        return
    decoder = codecs.getincrementaldecoder("utf-8")()
    for start in range(0, len(text), _CHUNK):
        chunk = text[start : start + _CHUNK]
        if chunk.isascii() and not decoder.getstate()[0]:
            continue
        try:
            decoder.decode(chunk.encode("latin-1"), final=start + _CHUNK >= len(text))
        except UnicodeDecodeError as error:
            place = start + max(error.start - len(decoder.getstate()[0]), 0)
            raise FormatError(f"{source} is not UTF-8 (near byte {place}).", "Save it as UTF-8.") from None


def _not_json(text: str, source: str, error: ScanError) -> FormatError:
    place = error.position
    if place >= len(text.rstrip(" \t\r\n")):
        return FormatError(
            f"{source} is cut off: it ends at byte {len(text)} in the middle of a value.", _AGAIN
        )
    if error.reason.startswith("Unterminated string"):
        return FormatError(f"{source} is cut off inside the string that begins at byte {place}.", _AGAIN)
    line = text.count("\n", 0, place) + 1
    return FormatError(f"{source} is not JSON: {error.reason} at byte {place} (line {line}).", _AGAIN)
