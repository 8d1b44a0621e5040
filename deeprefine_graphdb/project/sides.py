"""One side of a merge: a committed graph.json, with what was committed beside it to tell what in it is ours."""

from __future__ import annotations

import hashlib
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path

from deeprefine_graphdb.graph.ancestor import State
from deeprefine_graphdb.graph.manifest import ManifestEntry
from deeprefine_graphdb.graph.reverse import reversed_manifest
from deeprefine_graphdb.graph.texts import STAMP
from deeprefine_graphdb.graph.unecho import unecho
from deeprefine_graphdb.graph.unecho_images import log_images
from deeprefine_graphdb.model.errors import DeepRefineError, GraphFormatError
from deeprefine_graphdb.project import git
from deeprefine_graphdb.project.others import read_journal
from deeprefine_graphdb.project.paths import ProjectPaths
from deeprefine_graphdb.project.sidecar import parse_sidecar, read_sidecar
from deeprefine_graphdb.provenance.log import Log
from deeprefine_graphdb.stores.journal import SUFFIX, from_line
from deeprefine_loaders.basefile import BaseFile
from deeprefine_loaders.errors import FormatError
from deeprefine_loaders.graphfile import GraphFile, parse_graph


@dataclass(frozen=True)
class Side:
    """A file without our echo: the base, the manifest between the two, and the logs that were committed with it."""

    base: GraphFile
    manifest: tuple[ManifestEntry, ...] = ()
    logs: tuple[Log, ...] = ()


@dataclass(frozen=True)
class Committed:
    """The repository that a knowledge base is in. ``root`` is that of the knowledge base, seen from the top."""

    top: Path
    root: Path

    @cached_property
    def _paths(self) -> ProjectPaths:
        return ProjectPaths(self.root)

    @property
    def graph_json(self) -> str:
        """The path of graph.json from the top."""
        return self._paths.graph_json.as_posix()

    @property
    def sidecar(self) -> str:
        """The path of the manifest beside it from the top."""
        return self._paths.sidecar.as_posix()

    @property
    def log(self) -> str:
        """The path of the folder of journals from the top."""
        return self._paths.log.as_posix()

    def logs(self, commit: str) -> tuple[Log, ...]:
        """Give the logs in a commit. Raises :class:`DeepRefineError` for a line that is no record."""
        found = []
        for path in git.files_in(self.top, commit, self.log):
            data = git.blob(self.top, f"{commit}:{path}") if path.endswith(SUFFIX) else None
            if data is None:
                continue
            try:
                found.append(Log(from_line(line) for line in data.splitlines() if line.strip()))
            except ValueError as error:
                raise DeepRefineError(f"A line of {path} in {commit} is no record of a log.") from error
        return tuple(found)

    def exported(self, state: State, sidecar: bytes) -> bytes | None:
        """Give the file that a sidecar is of, from a commit that has both."""
        wanted = git.text_of(self.top, ["hash-object", "--stdin"], sidecar)
        for commit in git.commits_with(self.top, self.sidecar, wanted):
            data = git.blob(self.top, f"{commit}:{self.graph_json}")
            if data is not None and hashlib.sha256(data).hexdigest() == state.file_digest:
                return data
        return None


def side_of(path: Path, where: Committed | None, name: str) -> Side | None:
    """Read a side of a merge from a file; ``None`` for an empty one, which git gives where there is no ancestor.

    ``where`` is the repository that the file is committed in, ``name`` what errors call the side. Raises
    :class:`GraphFormatError` for what is no graph, and :class:`DeepRefineError` where it cannot be told what in the
    file is ours.
    """
    try:
        data = path.read_bytes()
    except OSError as error:
        raise GraphFormatError(f"{path} cannot be read: {error.strerror or error}.") from error
    if not data.strip():
        return None
    found = _parsed(data, name)
    project = ProjectPaths(path.absolute().parent.parent)
    if path.absolute() == project.graph_json and project.deeprefine.is_dir():
        logs = tuple(read_journal(journal) for journal in sorted(project.log.glob(f"*{SUFFIX}")))
        return _without_echo(found, read_sidecar(project.sidecar), logs, None, name)
    if where is None:
        return _without_echo(found, None, (), None, name)
    commit = next(git.commits_with(where.top, where.graph_json, git.blob_id(where.top, path)), None)
    return committed_side(found, where, commit, name)


def committed_side(found: GraphFile, where: Committed, commit: str | None, name: str) -> Side:
    """Read a side of a merge that is graph.json in a commit, or that a merge in this repository made (``None``)."""
    if commit is None:
        return _without_echo(found, git.merged_sidecar_in(where.top, found.digest), (), None, name)
    sidecar = git.blob(where.top, f"{commit}:{where.sidecar}")
    state = None if sidecar is None else parse_sidecar(sidecar)
    exported = None
    if state is not None and sidecar is not None and state.file_digest != found.digest:
        exported = where.exported(state, sidecar)
    return _without_echo(found, state, where.logs(commit), exported, name)


def _without_echo(
    found: GraphFile, beside: State | None, logs: tuple[Log, ...], exported: bytes | None, name: str
) -> Side:
    """Take the echo out of a file, by the state that is told of it or of the file that it was made from."""
    for state in _told(found, beside, logs):
        base = reversed_manifest(found, state.entries(), state.base_digest)
        if base is not None:
            return Side(base, tuple(state.entries()), logs)
    if beside is not None and exported is not None:
        former = reversed_manifest(_parsed(exported, name), beside.entries(), beside.base_digest)
        if former is not None:
            known = {body.id for log in logs for body in log.refinement_bodies()}
            kept = BaseFile.of(former)
            images = log_images(known, kept, [beside.entries()])
            unechoed = unecho(kept, beside.entries(), found, images, written=beside.file_digest)
            return Side(unechoed.base, unechoed.manifest, logs)
    if f'"{STAMP}"' in found.text:
        raise DeepRefineError(
            f"Nothing that is committed with {name} tells which part of it are refinements.",
            "Run `deeprefine-db sync` and `deeprefine-db export` there, commit what they write, and merge again. What "
            "was fetched without a branch of its own is not seen: fetch it as one (`git fetch WHERE main:theirs`).",
        )
    return Side(found, (), logs)


def _told(found: GraphFile, beside: State | None, logs: tuple[Log, ...]) -> Iterator[State]:
    """Give the states that this very file is said to be."""
    if beside is not None and beside.file_digest == found.digest:
        yield beside
    for log in logs:
        for snapshot in reversed(log.snapshots()):
            if snapshot.file_digest == found.digest:
                yield State(found.digest, snapshot.base_digest, snapshot.entries)


def _parsed(data: bytes, name: str) -> GraphFile:
    try:
        return parse_graph(data, name)
    except FormatError as error:
        raise GraphFormatError(error.message, error.hint) from error
