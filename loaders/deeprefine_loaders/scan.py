"""Walk JSON text by position: every value with the place where it stands.

Positions are character offsets. A file is scanned as latin-1, so that an offset in it is a byte offset too.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

_skip = re.compile(r"[ \t\n\r]*").match
_BATCH = 4096
_LONGEST_INT = 4000
"""Digits of an integer that Python converts without complaint (its own limit is 4300)."""


class ScanError(Exception):
    """The text is not JSON at ``position``."""

    def __init__(self, position: int, reason: str) -> None:
        super().__init__(f"{reason} at {position}")
        self.position = position
        self.reason = reason


@dataclass(frozen=True, slots=True)
class Member:
    """A member of an object: its name and where key (quotes included) and value stand."""

    name: str
    key_start: int
    key_end: int
    start: int
    end: int


def _integer(digits: str) -> int | float:
    return int(digits) if len(digits) < _LONGEST_INT else float(digits)


_Scanner = Callable[[str, int], tuple[Any, int]]
_scan: _Scanner = json.JSONDecoder().scan_once  # type: ignore[attr-defined]
_scan_long: _Scanner = json.JSONDecoder(parse_int=_integer).scan_once  # type: ignore[attr-defined]


def skip_space(text: str, position: int) -> int:
    """Give the first position from here on that is no white space."""
    match = _skip(text, position)
    return match.end() if match else position


def scan_value(text: str, position: int) -> tuple[Any, int]:
    """Read the value that begins here; give it and the position behind it. Raises :class:`ScanError`."""
    try:
        return _scan(text, position)
    except StopIteration as stop:
        raise ScanError(stop.value, "Expecting value") from None
    except json.JSONDecodeError as error:
        raise ScanError(error.pos, error.msg) from None
    except RecursionError:
        raise ScanError(position, "Nested too deep") from None
    except ValueError:
        return _scan_long(text, position)


def utf8(text: str) -> str:
    """Turn latin-1 scanned text into what its bytes say as UTF-8."""
    return text if text.isascii() else text.encode("latin-1").decode("utf-8")


def scan_array(
    text: str,
    position: int,
    take: Callable[[list[Any], list[int], list[int]], None],
    *,
    decoded: bool = False,
) -> int:
    """Hand the elements of the array that begins here to ``take``, some thousands at a time: values, starts, ends.

    Gives the position behind the array. Unless the text is ``decoded``, elements that are not all ASCII are
    taken for latin-1 and read again as UTF-8.
    """
    ascii_only = decoded or text.isascii()
    position = skip_space(text, position + 1)
    if text.startswith("]", position):
        return position + 1
    scan, starts_with, separator = _scan, text.startswith, ","
    while True:
        values: list[Any] = []
        starts: list[int] = []
        ends: list[int] = []
        add, add_start, add_end = values.append, starts.append, ends.append
        behind = -1
        for _ in range(_BATCH):
            try:
                value, end = scan(text, position)
            except (StopIteration, ValueError, RecursionError):
                value, end = scan_value(text, position)
            if not ascii_only:
                raw = text[position:end]
                if not raw.isascii():
                    value = scan_value(utf8(raw), 0)[0]
            add(value)
            add_start(position)
            add_end(end)
            if starts_with(separator, end):
                position = end + len(separator)
                if starts_with("{", position):
                    continue
            comma = skip_space(text, end)
            if starts_with("]", comma):
                behind = comma + 1
                break
            if not starts_with(",", comma):
                take(values, starts, ends)
                raise ScanError(comma, "Expecting ',' delimiter")
            position = skip_space(text, comma + 1)
            separator = text[end:position]
        take(values, starts, ends)
        if behind >= 0:
            return behind


def scan_object(text: str, position: int, value_end: Callable[[str, int], int]) -> tuple[list[Member], int]:
    """List the members of the object that begins here, in order, and the position behind it.

    ``value_end(name, start)`` reads a member's value and tells where it ends.
    """
    members: list[Member] = []
    position = skip_space(text, position + 1)
    if text.startswith("}", position):
        return members, position + 1
    while True:
        if not text.startswith('"', position):
            raise ScanError(position, "Expecting property name enclosed in double quotes")
        name, key_end = scan_value(text, position)
        colon = skip_space(text, key_end)
        if not text.startswith(":", colon):
            raise ScanError(colon, "Expecting ':' delimiter")
        start = skip_space(text, colon + 1)
        end = value_end(name, start)
        members.append(Member(name, position, key_end, start, end))
        comma = skip_space(text, end)
        if text.startswith("}", comma):
            return members, comma + 1
        if not text.startswith(",", comma):
            raise ScanError(comma, "Expecting ',' delimiter")
        position = skip_space(text, comma + 1)


def items_of(raw: str, position: int = 0) -> list[tuple[int, int]]:
    """Give the spans of the items of the array or object that begins here in properly decoded text."""
    if raw.startswith("{", position):
        return [(member.key_start, member.end) for member in members_of(raw, position)[0]]
    spans: list[tuple[int, int]] = []
    scan_array(
        raw,
        position,
        lambda _values, starts, ends: spans.extend(zip(starts, ends, strict=True)),
        decoded=True,
    )
    return spans


def members_of(raw: str, position: int = 0) -> tuple[list[Member], int]:
    """List the members of the object that begins here in decoded text, and the position behind it."""
    return scan_object(raw, position, lambda _name, start: scan_value(raw, start)[1])
