"""The bases that a knowledge base has had: the one in use, and those on the shelf."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

from deeprefine_graphdb import stores
from deeprefine_graphdb.model.errors import StoreDamaged
from deeprefine_graphdb.project.knowledge_base import KnowledgeBase
from deeprefine_loaders.basefile import BaseFile
from deeprefine_loaders.errors import FormatError
from deeprefine_loaders.graphfile import parse_graph
from deeprefine_loaders.shelf import Shelf


class Bases:
    """Finds bases by the digest of their bytes."""

    def __init__(self, base: KnowledgeBase, current: str) -> None:
        self.current = current
        self._base = base
        self._shelf = Shelf(base.project.bases)

    def digests(self) -> set[str]:
        """Give the digests of all bases that can be had."""
        return {self.current, *self._shelf.digests()} - {""}

    @contextmanager
    def open(self, digest: str) -> Iterator[BaseFile]:
        """Open a base for reading. Raises :class:`StoreDamaged` when it cannot be had."""
        try:
            found = self._open_current() if digest == self.current else self._from_shelf(digest)
        except (FormatError, KeyError, OSError) as error:
            raise StoreDamaged(
                f"The base {digest[:12]} of this knowledge base cannot be read: {error}.",
                "Run `deeprefine-db doctor`.",
            ) from error
        try:
            yield found
        finally:
            found.close()

    def keep_current(self) -> None:
        """Put the base in use on the shelf, since a file that was made from it may come back."""
        with self.open(self.current) as found:
            self._shelf.put(found)

    def keep(self, base: BaseFile) -> None:
        """Put a base on the shelf that this store never had: one that a file from elsewhere was made from."""
        self._shelf.put(base)

    def _open_current(self) -> BaseFile:
        directory = stores.base_path(self._base.url)
        if directory is None:
            raise KeyError(self.current)
        return BaseFile.open(directory)

    def _from_shelf(self, digest: str) -> BaseFile:
        return BaseFile.of(parse_graph(self._shelf.get(digest), f"the base {digest[:12]}"))
