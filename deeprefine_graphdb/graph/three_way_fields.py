"""Merging two texts of one object that grew from a third, field by field."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from typing import Any

from deeprefine_loaders.header import Header
from deeprefine_loaders.objects import edit_object, read_object

_ABSENT = object()
Clash = tuple[str, str]
"""A field that both sides changed otherwise, and the JSON text that it has in the merge."""


def same(one: str | None, other: str | None) -> bool:
    """Tell whether two texts say the same, however they are laid out."""
    if one is None or other is None or one == other:
        return one == other
    return _canonical(_value(one)) == _canonical(_value(other))


def merged_object(was: str | None, here: str, there: str, header: Header) -> tuple[str, list[Clash]]:
    """Merge an object that both sides changed, or both added; the text is ``here``'s with what has to change."""
    if not (here.startswith("{") and there.startswith("{")):
        text, value = _last(here, there)
        return text, [("", value)]
    old = read_object(was) if was is not None and was.startswith("{") else {}
    changes, drop, clashes = _fields(old, read_object(here), read_object(there))
    return edit_object(here, changes, drop, header=header), clashes


def merged_value(
    was: str | None, here: str | None, there: str | None, header: Header
) -> tuple[str | None, list[Clash]]:
    """Merge a header member that both sides changed; one that a side took out and the other changed stays."""
    if here is None or there is None:
        return (there if here is None else here), []
    if here.startswith("{") and there.startswith("{"):
        return merged_object(was, here, there, header)
    text, value = _last(here, there)
    return text, [("", value)]


def _fields(
    old: Mapping[str, Any], here: Mapping[str, Any], there: Mapping[str, Any]
) -> tuple[dict[str, Any], list[str], list[Clash]]:
    """Give the members of ``here`` that are to be otherwise, those that go, and the clashes."""
    changes: dict[str, Any] = {}
    drop: list[str] = []
    clashes: list[Clash] = []
    for name in _names(here, there):
        was, mine, theirs = (each.get(name, _ABSENT) for each in (old, here, there))
        if _equal(mine, theirs) or _equal(theirs, was):
            continue
        if _equal(mine, was):
            value = theirs
        elif mine is _ABSENT or theirs is _ABSENT:
            value = mine if theirs is _ABSENT else theirs
        else:
            value = max(mine, theirs, key=_rank)
            clashes.append((name, _canonical(value)))
        if value is _ABSENT:
            drop.append(name)
        elif not _equal(value, mine):
            changes[name] = value
    return changes, drop, clashes


def _names(here: Mapping[str, Any], there: Mapping[str, Any]) -> Iterable[str]:
    return dict.fromkeys((*here, *there))


def _last(one: str, other: str) -> tuple[str, str]:
    """Give the text whose value comes last in the order, and that value."""
    text = max(one, other, key=lambda text: _rank(_value(text)))
    return text, _canonical(_value(text))


def _rank(value: Any) -> tuple[int, float, str]:
    """Order values: null, numbers by size, everything else by its JSON text."""
    if value is None:
        return 0, 0.0, ""
    if isinstance(value, int | float) and not isinstance(value, bool) and value == value:
        try:
            return 1, float(value), _canonical(value)
        except OverflowError:
            return 1, float("inf"), _canonical(value)
    return 2, 0.0, _canonical(value)


def _equal(one: Any, other: Any) -> bool:
    if one is _ABSENT or other is _ABSENT:
        return one is other
    return _canonical(one) == _canonical(other)


def _value(text: str) -> Any:
    return read_object(f'{{"v":{text}}}')["v"]


def _canonical(value: Any) -> str:
    return json.dumps(value, ensure_ascii=True, sort_keys=True, separators=(",", ":"))
