"""Our part of a file that is somebody else's, between two marks."""

from __future__ import annotations

from pathlib import Path


def read_text(path: Path) -> str:
    """Give a file's text, ``""`` where there is none; whatever its bytes and ends of lines, they are written back."""
    try:
        return path.read_bytes().decode("utf-8", "surrogateescape")
    except FileNotFoundError:
        return ""


def without_part(text: str, start: str, end: str) -> str:
    """Take out the part that begins with the line ``start`` and ends with the line ``end``, if it is there."""
    before, begun, rest = text.partition(start)
    if not begun:
        return text
    _, ended, after = rest.partition(end)
    return before + (after.removeprefix("\n") if ended else "")
