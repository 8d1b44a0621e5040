"""Which base and manifest a file descends from."""

from __future__ import annotations

from collections.abc import Callable, Container, Sequence
from dataclasses import dataclass
from typing import Literal

from deeprefine_graphdb.graph.manifest import ManifestEntry


@dataclass(frozen=True)
class State:
    """A state of graph.json that was once read or written: its digest, the base's, and how the two differ.

    ``entries`` gives the manifest, which is long and seldom read.
    """

    file_digest: str
    base_digest: str
    entries: Callable[[], Sequence[ManifestEntry]]


@dataclass(frozen=True)
class Ancestor:
    """The base and manifest that un-echoing a file goes by, and ``written``, the file that the manifest is of.

    ``why``: ``known``: the file is that very state; ``update``: an update of ours was cut short, so graphify worked on
    the base itself; ``sidecar``: the manifest beside the file says so; ``last``: what was written last; ``none``:
    nothing is known, so the file is a base. ``is_current`` is false when another base than the current one is needed.
    ``strange`` are the entries of a sidecar whose base this store does not have: they serve as images.
    """

    base_digest: str | None
    manifest: tuple[ManifestEntry, ...]
    written: str | None
    why: Literal["known", "update", "sidecar", "last", "none"]
    is_current: bool
    strange: tuple[ManifestEntry, ...] = ()


def find_ancestor(
    digest: str,
    states: Sequence[State],
    current: str | None,
    bases: Container[str],
    *,
    sidecar: State | None = None,
    updating: str | None = None,
) -> Ancestor:
    """Find what a file of this digest descends from.

    ``states`` are in the order of the log, ``current`` is the digest of the current base, ``bases`` are the digests of
    all bases that can still be had, the current one among them. ``sidecar`` is what lies beside the file,
    ``updating`` the digest of the base that an update put in place and did not finish with. A state whose base cannot
    be had is passed over.
    """
    for state in reversed(states):
        if state.file_digest == digest and state.base_digest in bases:
            return _of(state, "known", current)
    if digest in bases:
        return Ancestor(digest, (), digest, "known", digest == current)
    if updating is not None and updating in bases:
        return Ancestor(updating, (), updating, "update", updating == current)
    strange: tuple[ManifestEntry, ...] = ()
    if sidecar is not None:
        if sidecar.base_digest in bases:
            return _of(sidecar, "sidecar", current)
        strange = tuple(sidecar.entries())
    for state in reversed(states):
        if state.base_digest in bases:
            last = _of(state, "last", current)
            return Ancestor(last.base_digest, last.manifest, last.written, "last", last.is_current, strange)
    return Ancestor(None, (), None, "none", current is None, strange)


def _of(state: State, why: Literal["known", "sidecar", "last"], current: str | None) -> Ancestor:
    return Ancestor(
        state.base_digest,
        tuple(state.entries()),
        state.file_digest,
        why,
        state.base_digest == current,
    )
