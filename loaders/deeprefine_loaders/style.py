"""Find out how a file is written, and write values the same way."""

from __future__ import annotations

import json
from collections.abc import Sequence
from typing import Any

from .header import Layout, Style

_SHORT = {'"': '\\"', "\\": "\\\\", "\n": "\\n", "\r": "\\r", "\t": "\\t", "\b": "\\b", "\f": "\\f"}
_MOST_ESCAPES = 4000
"""Escapes that are looked at to learn a file's habits; a habit shows long before."""
_FAR_ENOUGH = 1 << 23
"""Characters that are searched for a habit that costs a search of its own."""


def measure(text: str, start: int, end: int, items: Sequence[tuple[int, int]], fallback: Layout) -> Layout:
    """Read the layout of the container ``text[start:end]`` from its items' spans; ``fallback`` when empty."""
    if not items:
        return fallback
    opening = text[start + 1 : items[0][0]]
    close = text[items[-1][1] : end - 1]
    if len(items) > 1:
        separator = text[items[-2][1] : items[-1][0]]
    elif "\n" in opening:
        separator = f",{opening}"
    elif "\n" in fallback.separator:
        separator = ", " if fallback.colon.endswith(" ") else ","
    else:
        separator = fallback.separator
    return Layout(opening, separator, close, fallback.colon)


def layout_at(style: Style, depth: int) -> Layout:
    """Give the layout of a container whose items stand ``depth`` levels deep, as the file's style has it."""
    if style.indent is None:
        return Layout("", style.separator, "", style.colon)
    inside = style.newline + style.indent * depth
    return Layout(inside, f",{inside}", style.newline + style.indent * (depth - 1), style.colon)


def style_of(text: str, start: int, layout: Layout, inner: Layout | None) -> Style:
    """Work out the style of a file from the layout of its top-level object and of one that lies deeper.

    ``text`` is the file as latin-1, its top-level object begins at ``start``.
    """
    indent: str | None = None
    newline = "\n"
    separator = layout.separator
    if "\n" in layout.open:
        before, _, indent = layout.open.rpartition("\n")
        newline = "\r\n" if before.endswith("\r") else "\n"
    if "\n" in separator:
        separator = inner.separator if inner and "\n" not in inner.separator else ", "
    escapes, upper = escapes_in(text)
    ascii_only = text.isascii() or (start > 0 and text[start:].isascii())
    return Style(indent, newline, separator, layout.colon, ascii_only, escapes, upper)


def escapes_in(text: str) -> tuple[tuple[tuple[str, str], ...], bool]:
    """Give the printable ASCII characters that a text escapes, each with its escape.

    Also tells whether hex digits are written upper case.
    """
    found: dict[str, str] = {}
    upper = False
    position = text.find("\\u")
    for _ in range(_MOST_ESCAPES):
        if position < 0:
            break
        start = position
        while start and text[start - 1] == "\\":
            start -= 1
        if (position - start) % 2 == 0:
            digits = text[position + 2 : position + 6]
            code = int(digits, 16)
            upper = upper or digits != digits.lower()
            if 0x20 <= code < 0x7F:
                found.setdefault(chr(code), f"\\u{digits}")
        position = text.find("\\u", position + 2)
    if (slash := text.find("\\/", 0, _FAR_ENOUGH)) > 0 and text[slash - 1] != "\\":
        found.setdefault("/", "\\/")
    return tuple(sorted(found.items())), upper


def style_of_raw(raw: str) -> Style:
    """Guess the style of a piece of properly decoded text that stands alone."""
    escapes, upper = escapes_in(raw)
    newline = "\r\n" if "\r\n" in raw else "\n"
    return Style(None, newline, ",", ":", raw.isascii(), escapes, upper)


def write_string(text: str, style: Style) -> str:
    """Write a string as JSON. Lone surrogates are always escaped, since UTF-8 cannot hold them."""
    written = json.dumps(text, ensure_ascii=style.ascii)
    own = dict(style.escapes)
    plain = not own and not style.upper_hex
    if plain and (written.isascii() or not any("\ud800" <= char <= "\udfff" for char in text)):
        return written
    hex_digits = "04X" if style.upper_hex else "04x"
    parts = []
    for char in text:
        code = ord(char)
        if char in own:
            parts.append(own[char])
        elif char in _SHORT:
            parts.append(_SHORT[char])
        elif code < 0x20 or 0xD800 <= code < 0xE000 or (style.ascii and 0x7F <= code < 0x10000):
            parts.append(f"\\u{code:{hex_digits}}")
        elif code >= 0x10000 and style.ascii:
            code -= 0x10000
            parts.append(f"\\u{0xD800 + (code >> 10):{hex_digits}}\\u{0xDC00 + (code & 0x3FF):{hex_digits}}")
        else:
            parts.append(char)
    return f'"{"".join(parts)}"'


def write_value(value: Any, style: Style, layout: Layout, unit: str = "") -> str:
    """Write any JSON value that stands among items of ``layout``; ``unit`` is one level of indentation.

    Where items stand on lines of their own, what is inside the value does too. Raises ``TypeError`` for a
    value that JSON does not have.
    """
    return write_inside(value, style, deeper(layout, unit), unit)


def write_inside(value: Any, style: Style, layout: Layout, unit: str = "") -> str:
    """Write any JSON value; if it is a container its own items have ``layout``."""
    if isinstance(value, str):
        return write_string(value, style)
    if isinstance(value, dict):
        pairs = [
            write_string(str(name), style) + layout.colon + write_value(item, style, layout, unit)
            for name, item in value.items()
        ]
        return _join("{", pairs, "}", layout)
    if isinstance(value, list | tuple):
        return _join("[", [write_value(item, style, layout, unit) for item in value], "]", layout)
    return json.dumps(value)


def deeper(layout: Layout, unit: str) -> Layout:
    """Give the layout one level further in; what is on one line stays so."""
    line = layout.separator.removeprefix(",")
    if "\n" not in line:
        return Layout("", layout.separator, "", layout.colon)
    return Layout(line + unit, f",{line}{unit}", line, layout.colon)


def unit_of(layout: Layout, style: Style) -> str:
    """Give one level of indentation, from how far a container's items stand in from its bracket."""
    inside, outside = layout.open.rpartition("\n"), layout.close.rpartition("\n")
    if inside[1] and outside[1] and inside[2].startswith(outside[2]):
        return inside[2][len(outside[2]) :]
    return style.indent or ""


def _join(opening: str, items: list[str], closing: str, layout: Layout) -> str:
    if not items:
        return opening + closing
    return opening + layout.open + layout.separator.join(items) + layout.close + closing
