"""Texts of single objects when our echo is taken out of a file: what they are without us, and what graphify sees."""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Mapping, Sequence
from typing import Any

from deeprefine_graphdb.graph.texts import MEMBER_LISTS, STAMP
from deeprefine_loaders.fields import relation_member
from deeprefine_loaders.header import Header
from deeprefine_loaders.identity import column_text, storable_text
from deeprefine_loaders.objects import edit_object, read_object
from deeprefine_loaders.scan import members_of

_LINE = re.compile(r"L\d+")
_LEADING = ("id", "label", "source", "target", "relation")
"""Members that graphify writes first, where an object has them; the others follow sorted."""
_IDENTITY = frozenset({"id", "source", "target", "relation", "_src", "_tgt"})
_ABSENT = object()


def stripped(raw: str) -> str:
    """Take the stamp off an object's text."""
    return edit_object(raw, {}, drop=(STAMP,))


def restored(
    found: str,
    before: str,
    after: str,
    header: Header,
    alive: Callable[[Any], bool] = lambda _: True,
    fused: Sequence[Mapping[str, Any]] = (),
) -> str:
    """Give the text that a found object has without us.

    ``before`` and ``after`` are its texts without and with our change. A field that stands as we wrote it becomes what
    it was before; any other is the found one. Lists of members are united one by one: what we took out is there again
    if it is ``alive``, what we put in is not, and what the file added or took out stays so. ``fused`` are links that
    graphify may have fused with this one: a field that has the value of one of them is not the file's change.
    """
    if found == after and all(map(alive, listed(read_object(before)))):
        return before
    now, old, ours = read_object(found), read_object(before), read_object(after)
    changes: dict[str, Any] = {}
    drop: list[str] = []
    for name in {**old, **ours, **now}:
        was, written = old.get(name, _ABSENT), ours.get(name, _ABSENT)
        if name in MEMBER_LISTS and listed_under(old) == name:
            continue
        value = now.get(name, _ABSENT)
        bled = not _same(value, written) and name not in _IDENTITY and _is_of(fused, name, value)
        if name != STAMP and not bled and (_same(was, written) or not _same(value, written)):
            continue
        if was is _ABSENT:
            drop.append(name)
        else:
            changes[name] = was
    if (name_now := listed_under(now)) and listed_under(old):
        changes[name_now] = _members(listed(now), listed(old), listed(ours), alive)
    edited = edit_object(found, changes, drop, header=header)
    return edited if changes.keys() <= now.keys() else _in_order(found, edited)


def unbled(found: str, before: str, source: Mapping[str, Any], header: Header) -> str:
    """Take off a link what came onto it with the stamp of another, ``source``; ``before`` is its text in the base."""
    now, old = read_object(found), read_object(before)
    changes: dict[str, Any] = {}
    drop = [STAMP]
    for name, value in now.items():
        was = old.get(name, _ABSENT)
        if name not in _IDENTITY and not _same(value, was) and _same(value, source.get(name, _ABSENT)):
            if was is _ABSENT:
                drop.append(name)
            else:
                changes[name] = was
    return edit_object(found, changes, drop, header=header)


def listed_under(members: Mapping[str, Any]) -> str | None:
    """Give the name of the list of a hyperedge's members."""
    return next((name for name in MEMBER_LISTS if isinstance(members.get(name), list)), None)


def listed(members: Mapping[str, Any]) -> list[Any]:
    """Give the members of a hyperedge, nothing for another object."""
    name = listed_under(members)
    return list(members[name]) if name else []


def is_ast(members: Mapping[str, Any]) -> bool:
    """Tell whether graphify takes an object for one that it reads from code, as its own test of the tier does."""
    origin = members.get("_origin")
    if origin is not None:
        return bool(origin == "ast")
    location = members.get("source_location")
    return isinstance(location, str) and _LINE.match(location) is not None


def is_stub(members: Mapping[str, Any]) -> bool:
    """Tell whether a node only stands for something external, and goes with its last link when graphify writes."""
    return (
        members.get("external") is True
        and members.get("type") == "external"
        and not members.get("source_file")
    )


def link_identity(members: Mapping[str, Any]) -> tuple[str, str, str]:
    """Give source, relation and target of a link as the columns of a parsed file have them."""
    ends = []
    for true_name, name in (("_src", "source"), ("_tgt", "target")):
        end = members.get(true_name)
        ends.append(storable_text(members.get(name) if end is None else end) or "")
    name = relation_member(members) or ""
    return ends[0], column_text(members.get(name)) or "", ends[1]


def ends_of(members: Mapping[str, Any]) -> tuple[str, str]:
    """Give source and target of a link as the columns of a parsed file have them."""
    source, _, target = link_identity(members)
    return source, target


def canonical(members: Mapping[str, Any]) -> str:
    """Give the text that graphify sorts nodes, links and hyperedges by."""
    return json.dumps(members, ensure_ascii=False, sort_keys=True, separators=(",", ":"))


def in_graphify_order(members: Mapping[str, Any]) -> dict[str, Any]:
    """Give members in the order that graphify writes them in."""
    return {name: members[name] for name in sorted(members, key=_rank)}


def _is_of(others: Sequence[Mapping[str, Any]], name: str, value: Any) -> bool:
    return value is not _ABSENT and any(_same(each.get(name, _ABSENT), value) for each in others)


def _same(one: Any, other: Any) -> bool:
    if one is _ABSENT or other is _ABSENT:
        return one is other
    return json.dumps(one) == json.dumps(other)


def _members(now: list[Any], old: list[Any], ours: list[Any], alive: Callable[[Any], bool]) -> list[Any]:
    keys = {
        name: {json.dumps(each) for each in values}
        for name, values in (("now", now), ("old", old), ("ours", ours))
    }
    kept = [
        each
        for each in old
        if (json.dumps(each) in keys["now"] if json.dumps(each) in keys["ours"] else alive(each))
    ]
    return kept + [each for each in now if json.dumps(each) not in keys["ours"] | keys["old"]]


def _in_order(found: str, edited: str) -> str:
    """Put members that were not in the found text at their place, if that has them in graphify's order."""
    names = [member.name for member in members_of(found)[0]]
    members, _ = members_of(edited)
    wanted = sorted(members, key=lambda member: _rank(member.name))
    if names != sorted(names, key=_rank) or len(set(names)) < len(names) or wanted == members:
        return edited
    parts = [edited[: members[0].key_start]]
    for at, member in enumerate(wanted):
        behind = members[at + 1].key_start if at + 1 < len(members) else len(edited)
        parts += [edited[member.key_start : member.end], edited[members[at].end : behind]]
    return "".join(parts)


def _rank(name: str) -> tuple[int, str]:
    return (_LEADING.index(name), "") if name in _LEADING else (len(_LEADING), name)
