"""Rebase: a graph.json that has changed, less our echo, is the new base, and every refinement is derived over it."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import chain

from deeprefine_graphdb.graph.ancestor import Ancestor, State, find_ancestor
from deeprefine_graphdb.graph.manifest import ManifestEntry, manifest_between, manifest_of
from deeprefine_graphdb.graph.prefixed import manifest_to, unecho_prefixed
from deeprefine_graphdb.graph.unecho_foreign import OtherLog, unecho_foreign
from deeprefine_graphdb.graph.unecho_images import log_images
from deeprefine_graphdb.graph.unecho_model import Images, Unechoed
from deeprefine_graphdb.model.actions import ObjectChange
from deeprefine_graphdb.model.write import NewRecord, StoreState
from deeprefine_graphdb.project.bases import Bases
from deeprefine_graphdb.project.derivation import Derivation, derive_after, extended, write_derivation
from deeprefine_graphdb.project.knowledge_base import KnowledgeBase
from deeprefine_graphdb.project.recall import told_of
from deeprefine_graphdb.project.sidecar import read_sidecar
from deeprefine_graphdb.provenance.log import Log
from deeprefine_graphdb.provenance.records import SyncBody, new_id, to_record
from deeprefine_loaders.basefile import BaseFile
from deeprefine_loaders.graphfile import GraphFile

EMPTY = Log(())


@dataclass(frozen=True)
class Rebased:
    """A rebase that is planned: what is recorded of the file, and what becomes of every action.

    ``taken_out`` counts the objects of the base that differ for what another log's refinements had left there.
    """

    state: StoreState
    log: Log
    body: SyncBody
    derivation: Derivation
    taken_out: int = 0


def plan_rebase(
    base: KnowledgeBase, found: GraphFile, more: Sequence[NewRecord] = (), other: Log = EMPTY
) -> Rebased:
    """Plan what a changed graph.json makes of the graph; nothing is written.

    ``more`` are records that go into the log behind the sync, such as refinements that come from the log ``other``:
    what that one's refinements left in the base is taken out of it first.
    """
    state = _state(base)
    log = base.log()
    known = extended(log, more)
    bases = Bases(base, state.base_digest)
    ancestor = _ancestor(base, log, found, bases)
    if ancestor.base_digest is None:
        unechoed = Unechoed(found)
    else:
        with bases.open(ancestor.base_digest) as kept:
            unechoed = unecho_prefixed(
                kept, ancestor.manifest, found, _images(known, kept, ancestor), written=ancestor.written
            )
    taken_out = 0
    if other.records:
        unechoed, taken_out = _without(unechoed, found, _other_log(base, log, other, bases))
    graph = unechoed.base
    body = SyncBody(
        id=new_id("y"),
        file_digest=found.digest,
        base_digest=graph.digest,
        revision=state.revision + 1,
        nodes=len(graph.nodes.id),
        links=len(graph.links.key),
        manifest=_dumped(unechoed.manifest),
        path=base.project.shown(base.project.graph_json),
        ancestor=ancestor.written or "",
        unconfirmed=unechoed.unconfirmed,
        echoes=unechoed.echoes,
        notes=unechoed.notes,
    )
    derivation = derive_after(graph, log, [to_record(body), *more])
    body = body.model_copy(update={"active": _in_the_file(known, unechoed, graph, derivation)})
    first, *rest = derivation.records
    first = first.model_copy(update={"body": body.model_dump(mode="json")})
    derivation = replace(derivation, records=(first, *rest))
    return Rebased(state, log, body, derivation, taken_out)


def _without(unechoed: Unechoed, found: GraphFile, other: OtherLog) -> tuple[Unechoed, int]:
    """Take what refinements of another log left in a base out of it as well; tell how many objects that changed."""
    without = unecho_foreign(unechoed.base, other)
    if without is None:
        return unechoed, 0
    joined = Unechoed(
        base=without.base,
        manifest=manifest_to(without.base, found, unechoed.manifest),
        unconfirmed=(*unechoed.unconfirmed, *without.unconfirmed),
        echoes=(*unechoed.echoes, *without.echoes),
        notes=(*(note for note in unechoed.notes if note.kind != "foreign"), *without.notes),
    )
    return joined, sum(1 for _ in manifest_between(without.base, unechoed.base))


def _other_log(base: KnowledgeBase, log: Log, other: Log, bases: Bases) -> OtherLog:
    known = {body.id for body in other.refinement_bodies()}
    states = [State(each.file_digest, each.base_digest, each.entries) for each in other.snapshots()]
    sidecar = None if log.last_export() is not None else read_sidecar(base.project.sidecar)
    digests = bases.digests()
    return OtherLog(
        states=states,
        refinements=known,
        images=lambda kept: log_images(
            known, kept, (state.entries() for state in reversed(states)), _Effects(other)
        ),
        open_base=lambda digest: bases.open(digest) if digest in digests else None,
        sidecar=None
        if sidecar is None or sidecar.file_digest not in {state.file_digest for state in states}
        else sidecar.file_digest,
    )


def write_rebase(base: KnowledgeBase, rebased: Rebased) -> StoreState:
    """Make a planned rebase the store's content. The base that it replaces is kept, since its files may come back."""
    state = rebased.state
    if state.base_digest not in {"", rebased.body.base_digest}:
        Bases(base, state.base_digest).keep_current()
    update = {
        "base_digest": rebased.body.base_digest,
        "file_digest": rebased.body.file_digest,
        "revision": rebased.body.revision,
    }
    return write_derivation(base, state.model_copy(update=update), rebased.log, rebased.derivation)


def _state(base: KnowledgeBase) -> StoreState:
    """Give the store's state, or that of a store which is yet to be made."""
    if not base.has_store():
        return StoreState(store_id=new_id("s"), knowledge_base=base.project.root.name)
    with base.open("read") as store:
        return store.state()


def _ancestor(base: KnowledgeBase, log: Log, found: GraphFile, bases: Bases) -> Ancestor:
    states = [State(each.file_digest, each.base_digest, each.entries) for each in log.snapshots()]
    known = any(each.file_digest == found.digest for each in states)
    beside = read_sidecar(base.project.sidecar) if known else told_of(base, bases, found)
    return find_ancestor(
        found.digest,
        states,
        bases.current or None,
        bases.digests(),
        sidecar=beside,
        updating=log.updating(),
    )


class _Effects(Mapping[str, Sequence[ObjectChange]]):
    """What each action of a log changed when it was last derived; read when it is asked for."""

    def __init__(self, log: Log) -> None:
        self._log = log
        self._known = {body.id for body in log.refinement_bodies()}
        self._read: dict[str, dict[str, Sequence[ObjectChange]]] = {}

    def __getitem__(self, action: str) -> Sequence[ObjectChange]:
        refinement = action.rpartition(".")[0]
        if refinement not in self._known:
            raise KeyError(action)
        if refinement not in self._read:
            effects = self._log.effects_of(refinement)
            self._read[refinement] = {effect.action: effect.changes for effect in effects}
        return self._read[refinement][action]

    def __iter__(self) -> Iterator[str]:
        return (bound.id for body in self._log.refinement_bodies() for bound in body.actions)

    def __len__(self) -> int:
        return sum(1 for _ in self)


def _images(log: Log, kept: BaseFile, ancestor: Ancestor) -> Images:
    manifests = chain([ancestor.strange], (each.entries() for each in reversed(log.snapshots())))
    return log_images({body.id for body in log.refinement_bodies()}, kept, manifests, _Effects(log))


def _dumped(manifest: Iterable[ManifestEntry]) -> dict[str, list[dict[str, object]]]:
    return {"entries": [entry.model_dump(mode="json", exclude_none=True) for entry in manifest]}


def _in_the_file(log: Log, unechoed: Unechoed, graph: GraphFile, derivation: Derivation) -> tuple[str, ...]:
    """Give the active refinements whose work the file shows already, all of it."""
    wanted = manifest_of(BaseFile.of(graph), derivation.touched)
    there = {_image(entry) for entry in unechoed.manifest}
    missing = {entry.by.rpartition(".")[0] for entry in wanted if _image(entry) not in there}
    wanted_images = set(map(_image, wanted))
    missing |= {
        entry.by.rpartition(".")[0] for entry in unechoed.manifest if _image(entry) not in wanted_images
    }
    return tuple(refinement for refinement in log.active() if refinement not in missing)


def _image(entry: ManifestEntry) -> tuple[str, str, str | None]:
    return entry.object, entry.key, entry.disk
