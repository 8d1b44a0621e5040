"""The JSON texts of objects that a refinement adds or changes, each with its stamp."""

from __future__ import annotations

import hashlib
import json
import re
import unicodedata
from collections.abc import Mapping
from typing import Any

from deeprefine_graphdb.graph.view import GraphView
from deeprefine_graphdb.model.graph import Edge, Entity, Loose
from deeprefine_loaders.identity import norm_label, original_value
from deeprefine_loaders.objects import edit_object, new_object, read_object

STAMP = "_deeprefine"
MEMBER_LISTS = ("nodes", "members", "node_ids")


def stamp(action_id: str, members: Mapping[str, Any], *, kind: str) -> str:
    """Make the mark of an object that an export adds or changes: ``<refinement>.<action>:<hash of its identity>``.

    The identity is the id of a node; source, relation and target of a link as written, ends in true direction, since
    graphify drops ``_src`` and ``_tgt`` when it writes them so; the members of a hyperedge without an id.
    """
    if kind == "node" or (kind == "hyperedge" and members.get("id") is not None):
        identity: Any = members.get("id")
    elif kind == "hyperedge":
        identity = [members.get(name) for name in MEMBER_LISTS]
    else:
        ends = [_true(members, "_src", "source"), _true(members, "_tgt", "target")]
        identity = [ends[0], members.get("relation"), ends[1]]
    text = json.dumps([kind, identity], sort_keys=True, ensure_ascii=True)
    return f"{action_id}:{hashlib.sha256(text.encode('ascii')).hexdigest()[:16]}"


def _true(members: Mapping[str, Any], true_name: str, name: str) -> Any:
    end = members.get(true_name)
    return members.get(name) if end is None else end


def new_entity_text(
    view: GraphView, action_id: str, entity_id: str, label: str, community: Any = None
) -> str:
    """Write a node that a refinement creates."""
    header = view.base.header
    members: dict[str, Any] = {"id": original_value(entity_id), "label": label}
    if header.nodes_have_norm_label:
        members["norm_label"] = norm_label(label)
    members |= {"file_type": "concept", "source_file": "", "confidence": "INFERRED", "_origin": "semantic"}
    if community is not None:
        members["community"] = community
    members[STAMP] = stamp(action_id, members, kind="node")
    return new_object(members, header, "nodes")


def new_edge_text(view: GraphView, action_id: str, source: str, relation: str, target: str) -> str:
    """Write a link that a refinement adds."""
    header = view.base.header
    members: dict[str, Any] = {
        "source": original_value(source),
        "target": original_value(target),
        header.relation_member: relation,
        "confidence": "INFERRED",
        "confidence_score": 0.55,
        "weight": 1.0,
        "source_file": "",
        "_origin": "semantic",
    }
    members[STAMP] = stamp(action_id, members, kind="link")
    return new_object(members, header, header.links_section)


def changed_text(
    view: GraphView, action_id: str, row: Entity | Edge | Loose, changes: Mapping[str, Any]
) -> str:
    """Write an object with some members changed and everything else to the letter."""
    raw = view.object_text(row)
    kind = "node" if isinstance(row, Entity) else "link" if isinstance(row, Edge) else row.kind
    mark = stamp(action_id, {**read_object(raw), **changes}, kind=kind)
    return edit_object(raw, {**changes, STAMP: mark}, header=view.base.header)


def renamed_text(view: GraphView, action_id: str, entity: Entity, label: str) -> str:
    """Write a node with another label."""
    changes: dict[str, Any] = {"label": label}
    if "norm_label" in read_object(view.object_text(entity)):
        changes["norm_label"] = norm_label(label)
    return changed_text(view, action_id, entity, changes)


def moved_text(view: GraphView, action_id: str, row: Edge | Loose, old: str, new: str) -> str:
    """Write a link with one entity in place of another, wherever its ends are named."""
    before, after = original_value(old), original_value(new)
    members = read_object(view.object_text(row))
    ends = {name: after for name in ("source", "target", "_src", "_tgt") if _same(members.get(name), before)}
    return changed_text(view, action_id, row, ends)


def rejoined_text(view: GraphView, action_id: str, row: Loose, old: str, new: str) -> str:
    """Write a hyperedge with one member in place of another; a member that would stand twice stands once."""
    before, after = original_value(old), original_value(new)
    members = read_object(view.object_text(row))
    changes: dict[str, Any] = {}
    for name in MEMBER_LISTS:
        listed = members.get(name)
        if isinstance(listed, list) and any(_same(item, before) for item in listed):
            already = any(_same(item, after) for item in listed)
            kept = [item for item in listed if not (already and _same(item, before))]
            changes[name] = [after if _same(item, before) else item for item in kept]
    return changed_text(view, action_id, row, changes)


def entity_id_for(label: str) -> str:
    """Make an id from a label: folded case, NFKC, and runs of what is no word character as one underscore."""
    folded = label
    for _ in range(4):
        again = unicodedata.normalize("NFKC", folded.casefold())
        if again == folded:
            break
        folded = again
    return re.sub(r"[\W_]+", "_", folded).strip("_") or "entity"


def _same(value: Any, other: Any) -> bool:
    return type(value) is type(other) and bool(value == other)
