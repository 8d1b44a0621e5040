"""One parsed object as :mod:`columns` has it in its columns."""

from __future__ import annotations

from typing import Any, NamedTuple

from .fields import relation_member
from .identity import column_text, shown_label, storable_text


class NodeRow(NamedTuple):
    """A node's entries in the node columns, without the id."""

    label: str
    norm_label: str | None
    file_type: str | None
    source_file: str | None
    source_location: str | None
    community: str | None
    origin: str | None


class LinkRow(NamedTuple):
    """A link's entries in the link columns, without key and ``dangling``."""

    source: str
    target: str
    relation: str
    confidence: str | None


def node_row(node: dict[str, Any]) -> NodeRow:
    """Give a node's entries in the node columns."""
    return NodeRow(
        label=shown_label(node),
        norm_label=column_text(node.get("norm_label")),
        file_type=column_text(node.get("file_type")),
        source_file=column_text(node.get("source_file")),
        source_location=column_text(node.get("source_location")),
        community=column_text(node.get("community")),
        origin=column_text(node.get("_origin")),
    )


def link_row(link: dict[str, Any]) -> LinkRow:
    """Give a link's entries in the link columns."""
    member = relation_member(link)
    return LinkRow(
        source=_end(link, "_src", "source"),
        target=_end(link, "_tgt", "target"),
        relation=(column_text(link[member]) or "") if member is not None else "",
        confidence=column_text(link.get("confidence")),
    )


def _end(link: dict[str, Any], true_name: str, name: str) -> str:
    given = link.get(true_name)
    return storable_text(link.get(name) if given is None else given) or ""
