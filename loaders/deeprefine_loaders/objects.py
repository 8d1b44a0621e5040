"""Read, change and write single objects as text, in the layout of the file that they stand in."""

from __future__ import annotations

import json
from collections.abc import Collection, Mapping
from typing import Any

from .errors import FormatError
from .header import Header, Layout, Style
from .scan import Member, ScanError, items_of, members_of, scan_value
from .splice import Container, Cut, apply_cuts, cuts_for
from .style import layout_at, measure, style_of_raw, unit_of, write_inside, write_string, write_value


def read_object(raw: str) -> dict[str, Any]:
    """Parse an object's text; of a name that stands twice the last counts. Raises :class:`FormatError`."""
    try:
        value, _ = scan_value(raw, 0)
    except ScanError as error:
        raise FormatError(
            f"An object's text is not JSON: {error.reason} at character {error.position}."
        ) from None
    if not isinstance(value, dict):
        raise FormatError("An object's text is JSON, but no object.")
    return value


def edit_object(
    raw: str,
    changes: Mapping[str, Any],
    drop: Collection[str] = (),
    *,
    header: Header | None = None,
) -> str:
    """Set and drop top-level members of an object's text, and keep every other character.

    A member whose value is already the wanted one keeps its text, a number's spelling too; a new member goes
    last. ``header`` tells the style of the file for what is written anew; without it the text itself does. Of
    a name that stands twice the last is changed, and all are dropped. Raises :class:`FormatError` for what is
    no object.
    """
    read_object(raw)
    members, end = members_of(raw)
    style = header.style if header else style_of_raw(raw)
    layout = _layout_of(raw, members, end, style, header)
    unit = unit_of(layout, style)
    last = {member.name: at for at, member in enumerate(members)}
    cuts: list[Cut] = []
    appended: list[str] = []
    for name, value in changes.items():
        if name in drop:
            continue
        if name in last:
            member = members[last[name]]
            text = _changed(raw[member.start : member.end], value, style, layout, unit)
            cuts.append(Cut(member.start, member.end, text))
        else:
            appended.append(_member(name, value, style, layout, unit))
    removed = [at for at, member in enumerate(members) if member.name in drop]
    container = Container(0, end, len(members), lambda at: (members[at].key_start, members[at].end), layout)
    return apply_cuts(raw, cuts + cuts_for(container, removed, appended))


def new_object(members: Mapping[str, Any], header: Header, section: str) -> str:
    """Write a new object as the file would write one in this section."""
    found = header.section(section)
    layout = (
        found.object_layout if found else layout_at(header.style, 4 if section == "graph.hyperedges" else 3)
    )
    unit = unit_of(layout, header.style)
    items = [_member(name, value, header.style, layout, unit) for name, value in members.items()]
    return "{" + layout.open + layout.separator.join(items) + layout.close + "}" if items else "{}"


def _member(name: str, value: Any, style: Style, layout: Layout, unit: str) -> str:
    return write_string(name, style) + layout.colon + write_value(value, style, layout, unit)


def _layout_of(raw: str, members: list[Member], end: int, style: Style, header: Header | None) -> Layout:
    colon = raw[members[-1].key_end : members[-1].start] if members else style.colon
    separator = style.separator if header else ", " if colon.endswith(" ") else ","
    items = [(member.key_start, member.end) for member in members]
    return measure(raw, 0, end, items, Layout("", separator, "", colon))


def _changed(old: str, value: Any, style: Style, layout: Layout, unit: str) -> str:
    """Write a value in the place of an old one: as it stood when equal, laid out as the old one was."""
    before, _ = scan_value(old, 0)
    if json.dumps(before) == json.dumps(value):
        return old
    if isinstance(before, dict | list) and before:
        flat = Layout("", style.separator, "", layout.colon)
        layout = measure(old, 0, len(old), items_of(old), flat)
        return write_inside(value, style, layout, unit_of(layout, style))
    return write_value(value, style, layout, unit)
