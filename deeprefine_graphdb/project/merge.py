"""Merging two people's graph.json: the bases object by object, the logs united, and the graph derived from both."""

from __future__ import annotations

import hashlib
from collections.abc import Iterable
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

from deeprefine_graphdb.graph.base_view import ParsedBase
from deeprefine_graphdb.graph.derive import Given, derive
from deeprefine_graphdb.graph.manifest import ManifestEntry, manifest_of
from deeprefine_graphdb.graph.outcomes import is_conflict
from deeprefine_graphdb.graph.perform import EchoTexts
from deeprefine_graphdb.graph.render import graph_bytes
from deeprefine_graphdb.graph.three_way import MergeNote, three_way
from deeprefine_graphdb.model.actions import Frozen
from deeprefine_graphdb.model.errors import DeepRefineError
from deeprefine_graphdb.project import git
from deeprefine_graphdb.project.derivation import active_refinements, in_words
from deeprefine_graphdb.project.paths import ProjectPaths
from deeprefine_graphdb.project.sidecar import sidecar_bytes
from deeprefine_graphdb.project.sides import Committed, Side, committed_side, side_of
from deeprefine_graphdb.project.writing import naming_the_file
from deeprefine_graphdb.provenance.union import united
from deeprefine_loaders.atomic import replace_file, write_durable
from deeprefine_loaders.basefile import BaseFile
from deeprefine_loaders.graphfile import parse_graph


class Suspended(Frozen):
    """An action that is in conflict in a merged graph; its whole refinement is suspended."""

    action: str
    what: str
    kind: str
    detail: str = ""


class MergeReport(Frozen):
    """What a merge made. ``outcome`` is ``ours`` or ``theirs`` where only that side had changed the file.

    ``active`` counts the refinements of both sides, ``suspended`` are the actions in conflict, and ``notes`` tell what
    of graphify's own work could not be had both ways.
    """

    outcome: Literal["ours", "theirs", "merged"]
    path: str
    file_digest: str
    base_digest: str = ""
    active: int = 0
    suspended: tuple[Suspended, ...] = ()
    notes: tuple[MergeNote, ...] = ()


@dataclass(frozen=True)
class MergedExport:
    """A merged graph as it is written: the file, and the manifest that goes beside it."""

    data: bytes
    sidecar: bytes
    report: MergeReport


def merge_sides(ancestor: Side | None, ours: Side, theirs: Side) -> MergedExport:
    """Merge two sides. Which of them is ours makes no difference.

    Raises :class:`GraphFormatError` for bases that cannot be merged.
    """
    merged = three_way(None if ancestor is None else ancestor.base, ours.base, theirs.base)
    log = united([*ours.logs, *theirs.logs])
    active = active_refinements(log)
    given = Given(resolutions=log.resolutions(), echoes=_echoes((*ours.manifest, *theirs.manifest)))
    derived = derive(ParsedBase(merged.graph), active, given)
    base, touched = BaseFile.of(merged.graph), derived.touched()
    data = b"".join(graph_bytes(base, touched))
    digest = hashlib.sha256(data).hexdigest()
    intents = {bound.id: bound.intent for refinement in active for bound in refinement.bound}
    report = MergeReport(
        outcome="merged",
        path="",
        file_digest=digest,
        base_digest=base.digest,
        active=len(active),
        suspended=tuple(
            Suspended(
                action=effect.action,
                what=in_words(intents[effect.action]),
                kind=effect.outcome,
                detail=effect.note,
            )
            for effect in derived.effects
            if is_conflict(effect.outcome)
        ),
        notes=merged.notes,
    )
    return MergedExport(data, sidecar_bytes("", digest, base.digest, manifest_of(base, touched)), report)


def merge_graphs(
    ancestor: Path, ours: Path, theirs: Path, *, path: str | None = None, out: Path | None = None
) -> MergeReport:
    """Merge three graph.json files into ``out``, or in place of ours.

    ``path`` is the one that git names: the file's own, from the top of the repository. What is committed with each of
    the three files there tells what in them is ours; without it, what lies beside them. Raises
    :class:`DeepRefineError` when they cannot be merged; nothing is written then.
    """
    target = out or ours
    datas = [_read(each) for each in (ancestor, ours, theirs)]
    for outcome, same, wanted in _one_sided(datas):
        if same:
            if target != ours or outcome == "theirs":
                with naming_the_file(target):
                    replace_file(target, [wanted])
            if out is not None:
                with suppress(FileNotFoundError):
                    _put_beside(out, _beside(ours if outcome == "ours" else theirs).read_bytes())
            return MergeReport(
                outcome=outcome, path=str(target), file_digest=hashlib.sha256(wanted).hexdigest()
            )
    where = _repository(path)
    sides = [
        side_of(each, where, name)
        for each, name in ((ancestor, "the common ancestor"), (ours, "our side"), (theirs, "their side"))
    ]
    if sides[1] is None or sides[2] is None:
        raise DeepRefineError(f"{ours if sides[1] is None else theirs} is empty.")
    made = merge_sides(sides[0], sides[1], sides[2])
    if where is not None:
        digests = (hashlib.sha256(data).hexdigest() for data in datas[1:])
        git.keep_merged(where.top, made.report.file_digest, digests, made.sidecar)
    with naming_the_file(target):
        replace_file(target, [made.data])
    if out is not None:
        _put_beside(out, made.sidecar)
    return made.report.model_copy(update={"path": path or str(target)})


def merge_sidecars(ancestor: Path, ours: Path, theirs: Path, *, path: str) -> MergeReport:
    """Merge the manifests beside three graph.json files into ours: the result is that of the merged graph.json.

    Raises :class:`DeepRefineError` when it cannot be told what they are of; nothing is written then.
    """
    datas = [_read(each) for each in (ancestor, ours, theirs)]
    digests = [git.digest_in_sidecar(data) for data in datas]
    for outcome, same, wanted in _one_sided([digest.encode() for digest in digests]):
        if same:
            if outcome == "theirs":
                replace_file(ours, [datas[2]])
            return MergeReport(outcome=outcome, path=path, file_digest=wanted.decode())
    where = _repository(path)
    if where is None:
        raise DeepRefineError(f"{path} is in no repository of git.")
    sidecar = git.merged_of(where.top, digests[1:])
    if sidecar is None:
        sides = [
            _of_sidecar(where, each, name) if data.strip() else None
            for each, data, name in zip(
                (ancestor, ours, theirs),
                datas,
                ("the common ancestor", "our side", "their side"),
                strict=True,
            )
        ]
        if sides[1] is None or sides[2] is None:
            raise DeepRefineError(f"{path} is empty on one side.")
        sidecar = merge_sides(sides[0], sides[1], sides[2]).sidecar
    replace_file(ours, [sidecar])
    return MergeReport(outcome="merged", path=path, file_digest=git.digest_in_sidecar(sidecar))


def merge_logs(ours: Path, theirs: Path, *, path: str) -> MergeReport:
    """Merge two states of one store's log into ours: it only grows, so the longer one has all of the other.

    Raises :class:`DeepRefineError` when neither begins with the other; nothing is written then.
    """
    mine, other = _read(ours), _read(theirs)
    outcome: Literal["ours", "theirs"] = "ours" if mine.startswith(other) else "theirs"
    if outcome == "theirs":
        if not other.startswith(mine):
            raise DeepRefineError(
                "The log of one store went on in two places.",
                "Keep the log of the folder that the store is in.",
            )
        replace_file(ours, [other])
    return MergeReport(
        outcome=outcome, path=path, file_digest=hashlib.sha256(max(mine, other, key=len)).hexdigest()
    )


def _of_sidecar(where: Committed, sidecar: Path, name: str) -> Side:
    for commit in git.commits_with(where.top, where.sidecar, git.blob_id(where.top, sidecar)):
        data = git.blob(where.top, f"{commit}:{where.graph_json}")
        if data is not None:
            return committed_side(parse_graph(data, name), where, commit, name)
    raise DeepRefineError(f"No commit has the graph.json of {name}.")


def _one_sided(datas: list[bytes]) -> Iterable[tuple[Literal["ours", "theirs"], bool, bytes]]:
    """Say whether one side alone changed, and what it has."""
    ancestor, ours, theirs = datas
    return (("ours", theirs in {ancestor, ours}, ours), ("theirs", ours == ancestor, theirs))


def _echoes(manifest: Iterable[ManifestEntry]) -> EchoTexts:
    """Give the texts that objects which actions add have in the files; of two the last in their order."""
    found: dict[tuple[str, str, str], str] = {}
    for entry in manifest:
        if entry.kind == "added" and entry.object != "header" and entry.disk is not None:
            where = (entry.object, entry.key, entry.by)
            found[where] = max(found.get(where, ""), entry.disk)
    return found


def _beside(graph_json: Path) -> Path:
    """Give where the manifest of a graph.json lies, whatever its folder is called."""
    paths = ProjectPaths(Path())
    return graph_json.parent / paths.sidecar.relative_to(paths.out)


def _put_beside(graph_json: Path, sidecar: bytes) -> None:
    path = _beside(graph_json)
    path.parent.mkdir(parents=True, exist_ok=True)
    write_durable(path, sidecar)


def _repository(path: str | None) -> Committed | None:
    """Give the repository that we are in, where git names a path in it."""
    top = git.top(Path.cwd()) if path is not None else None
    if top is None or path is None:
        return None
    out = next(
        (folder for folder in Path(path).parents if folder.name == ProjectPaths(Path()).out.name), None
    )
    return None if out is None else Committed(top, out.parent)


def _read(path: Path) -> bytes:
    try:
        return path.read_bytes()
    except OSError as error:
        raise DeepRefineError(f"{path} cannot be read: {error.strerror or error}.") from error
