"""Finding out about a file that came from elsewhere: which state it is, and the base that it was written from."""

from __future__ import annotations

import hashlib

from deeprefine_graphdb.graph.ancestor import State
from deeprefine_graphdb.graph.reverse import reversed_manifest
from deeprefine_graphdb.project import git
from deeprefine_graphdb.project.bases import Bases
from deeprefine_graphdb.project.knowledge_base import KnowledgeBase
from deeprefine_graphdb.project.others import state_in_journals
from deeprefine_graphdb.project.sidecar import read_sidecar
from deeprefine_loaders.basefile import BaseFile
from deeprefine_loaders.errors import FormatError
from deeprefine_loaders.graphfile import GraphFile, parse_graph


def told_of(base: KnowledgeBase, bases: Bases, found: GraphFile) -> State | None:
    """Give the state of graph.json that is told of a file which this store neither read nor wrote.

    The manifest beside the file tells it, what a merge left, or the journal of another store. The base of that state
    is taken out of the file where it is that very file, else out of the one that is committed, and put on the shelf.
    """
    beside = read_sidecar(base.project.sidecar)
    merged = git.merged_sidecar_in(base.project.root, found.digest)
    for state in (beside, merged, state_in_journals(base, found.digest)):
        if state is not None and state.file_digest == found.digest and _have(bases, state, found):
            return state
    if beside is not None and beside.base_digest not in bases.digests():
        committed = git.committed(base.project, base.project.graph_json)
        if committed is not None and hashlib.sha256(committed).hexdigest() == beside.file_digest:
            try:
                _have(bases, beside, parse_graph(committed, "the committed graph.json"))
            except FormatError:
                return beside
    return beside


def _have(bases: Bases, state: State, file: GraphFile) -> bool:
    """See to it that the base of a state can be had, where the file is the one of that state."""
    if state.base_digest in bases.digests():
        return True
    taken_back = reversed_manifest(file, state.entries(), state.base_digest)
    if taken_back is None:
        return False
    bases.keep(BaseFile.of(taken_back))
    return True
