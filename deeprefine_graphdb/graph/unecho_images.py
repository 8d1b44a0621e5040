"""The images of our log: what each action did to objects, from old manifests and from recorded effects."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Container, Iterable, Iterator, Mapping, Sequence

from deeprefine_graphdb.graph.manifest import ManifestEntry
from deeprefine_graphdb.graph.texts import STAMP
from deeprefine_graphdb.graph.unecho_model import Images, ObjectKind
from deeprefine_graphdb.model.actions import ObjectChange
from deeprefine_loaders.basefile import BaseFile
from deeprefine_loaders.objects import read_object

_OF_TABLE: Mapping[str, ObjectKind] = {"Entity": "node", "RELATES": "link"}


def log_images(
    refinements: Container[str],
    base: BaseFile,
    manifests: Iterable[Iterable[ManifestEntry]] = (),
    effects: Mapping[str, Sequence[ObjectChange]] | None = None,
) -> Images:
    """Give the images of a log that knows these refinements.

    ``manifests`` are those of all exports, the newest first, since what was written is best known from them; they are
    only gone through when an action is asked for, which a file without stamps of other exports never does.
    ``effects`` are the changes of each action, for what was never exported from here. ``base`` has the texts of
    objects that an action found untouched.
    """
    left = iter(manifests)
    by_action: defaultdict[str, list[ManifestEntry]] = defaultdict(list)

    def images(action: str) -> Sequence[ManifestEntry] | None:
        for manifest in left:
            for entry in manifest:
                by_action[_action(entry)].append(entry)
        if action not in by_action and action.rpartition(".")[0] not in refinements:
            return None
        changes = effects.get(action, ()) if effects is not None else ()
        return [*by_action.get(action, ()), *_of_effects(action, changes, base)]

    return images


def _action(entry: ManifestEntry) -> str:
    """Give the action whose stamp an object carries: the last that changed it, which an added one's ``by`` is not."""
    if entry.object == "header" or entry.disk is None:
        return entry.by
    return str(read_object(entry.disk or "{}").get(STAMP, "")).rpartition(":")[0] or entry.by


def _of_effects(action: str, changes: Sequence[ObjectChange], base: BaseFile) -> list[ManifestEntry]:
    rows = {(change.table, change.key): change for change in changes}
    entries: list[ManifestEntry] = []
    for change in changes:
        after = change.after or {}
        kind: ObjectKind = _OF_TABLE.get(change.table) or _kind(after)
        if change.how in {"removed", "folded", "merged", "collapsed"}:
            entries += _of_retired(action, kind, change, base)
        if change.table == "Alias" or after.get("raw") is None or after.get("retired_by") is not None:
            continue
        origin = str(after.get("origin_key") or change.key)
        first = rows.get((change.table, origin), change)
        ours = first.before is None or first.before.get("added_by") is not None
        text = None
        if kind == "header":
            text = base.member(change.key.removeprefix("header:"))
        elif not ours or base.place(kind, origin) is not None:
            text = base.slice(kind, origin)
            if text is None:
                continue
        entries.append(
            ManifestEntry(
                kind="added" if text is None else "changed" if origin == change.key else "moved",
                object=kind,
                key=origin,
                by=action,
                base=text,
                disk=str(after["raw"]),
            )
        )
    return entries


def _of_retired(
    action: str, kind: ObjectKind, change: ObjectChange, base: BaseFile
) -> Iterator[ManifestEntry]:
    text, place = base.slice(kind, change.key), base.place(kind, change.key)
    if text is not None:
        yield ManifestEntry(
            kind="folded" if change.how == "folded" else "removed",
            object=kind,
            key=change.key,
            by=action,
            base=text,
            place=place,
            successor=str((change.after or {}).get("successor") or "") or None,
        )


def _kind(row: Mapping[str, object]) -> ObjectKind:
    kind = row.get("kind")
    if kind == "hyperedge":
        return "hyperedge"
    return "header" if kind == "header" else "link"
