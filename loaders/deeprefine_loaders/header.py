"""What a file says about itself besides its objects: layout, style and the facts that an export goes by."""

from __future__ import annotations

from dataclasses import asdict, dataclass
from typing import Any

KIND_OF_SECTION = {
    "nodes": "node",
    "links": "link",
    "edges": "link",
    "hyperedges": "hyperedge",
    "graph.hyperedges": "hyperedge",
}
SECTIONS_OF_KIND = {
    "node": ("nodes",),
    "link": ("links", "edges"),
    "hyperedge": ("hyperedges", "graph.hyperedges"),
}


@dataclass(frozen=True)
class Layout:
    """White space and separators of a container: after the opening bracket, between items, before the end.

    ``colon`` is what stands between the name and the value of a member of an object.
    """

    open: str = ""
    separator: str = ","
    close: str = ""
    colon: str = ":"


@dataclass(frozen=True)
class Style:
    r"""How a file writes values.

    ``indent`` is one level of indentation, or ``None`` for everything on one line. ``ascii`` says that
    non-ASCII characters are escaped; ``escapes`` are the printable ASCII characters that are too, each with
    its escape; ``upper_hex`` tells ``\u00E9`` from ``\u00e9``.
    """

    indent: str | None = None
    newline: str = "\n"
    separator: str = ","
    colon: str = ":"
    ascii: bool = True
    escapes: tuple[tuple[str, str], ...] = ()
    upper_hex: bool = False


@dataclass(frozen=True)
class Section:
    """An array of objects: byte span with its brackets, number of elements, layouts of it and its items."""

    name: str
    start: int
    end: int
    count: int
    layout: Layout
    object_layout: Layout


@dataclass(frozen=True)
class TopMember:
    """A member at top level: name and byte span of its value (the last one, if a name stands twice)."""

    name: str
    start: int
    end: int


@dataclass(frozen=True)
class Header:
    """The file as a whole.

    ``start`` and ``end`` are the byte span of the top-level object, ``size`` the file's length.
    ``links_section`` is where a new link goes. ``relation_member`` is the name under which most links have
    their relation. ``nodes_have_…`` is said of most nodes. ``…_sorted`` means by canonical JSON, as graphify
    does it. ``parallel_pairs`` says that some pair of nodes has more than one link, in whatever direction.
    ``sections`` are in file order.
    """

    digest: str
    size: int
    start: int
    end: int
    bom: bool
    final_newline: bool
    directed: bool
    multigraph: bool
    has_multigraph: bool
    links_section: str
    relation_member: str
    nodes_have_norm_label: bool
    nodes_have_community: bool
    nodes_sorted: bool
    links_sorted: bool
    parallel_pairs: bool
    sections: tuple[Section, ...]
    members: tuple[TopMember, ...]
    layout: Layout
    style: Style

    def section(self, name: str) -> Section | None:
        """Give a section by name, or ``None`` when the file has no such array."""
        return next((section for section in self.sections if section.name == name), None)

    def of_kind(self, kind: str) -> list[Section]:
        """Give the sections that hold objects of a kind, in file order."""
        return [section for section in self.sections if KIND_OF_SECTION[section.name] == kind]

    def member(self, name: str) -> TopMember | None:
        """Give a top-level member by name, or ``None``."""
        return next((member for member in self.members if member.name == name), None)

    def to_json(self) -> dict[str, Any]:
        """Give the header as plain JSON values."""
        return asdict(self)

    @classmethod
    def from_json(cls, value: dict[str, Any]) -> Header:
        """Undo :meth:`to_json`."""
        style = dict(value["style"])
        style["escapes"] = tuple((char, escape) for char, escape in style["escapes"])
        return cls(**{
            **value,
            "sections": tuple(_section(section) for section in value["sections"]),
            "members": tuple(TopMember(**member) for member in value["members"]),
            "layout": Layout(**value["layout"]),
            "style": Style(**style),
        })


def _section(value: dict[str, Any]) -> Section:
    layouts = {name: Layout(**value[name]) for name in ("layout", "object_layout")}
    return Section(**{**value, **layouts})
