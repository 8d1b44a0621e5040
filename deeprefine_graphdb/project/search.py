"""Retrieval as jobs of their own: search, expand, and building the index."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial
from typing import TYPE_CHECKING, Literal

from deeprefine_graphdb.graph.resolve import resolve
from deeprefine_graphdb.graph.view import GraphView
from deeprefine_graphdb.model.actions import Frozen
from deeprefine_graphdb.project.knowledge_base import KnowledgeBase
from deeprefine_graphdb.project.settings import Endpoint
from deeprefine_graphdb.retrieval.lexical import LexicalIndex
from deeprefine_graphdb.retrieval.protocol import Retrieved
from deeprefine_graphdb.retrieval.ranking import EdgeIndex
from deeprefine_graphdb.retrieval.retriever import StoreRetriever

if TYPE_CHECKING:
    from deeprefine_graphdb.retrieval.embed import Embedder

Counting = Callable[[int, int], None]


class IndexReport(Frozen):
    """What an index was built from. ``embedded`` counts the texts that were sent to the embedding endpoint."""

    kind: Literal["lexical", "vector"]
    model: str = ""
    edges: int
    revision: int
    calls: int = 0
    tokens: int = 0
    seconds: float = 0.0


def make_retriever(
    base: KnowledgeBase, embedding: Endpoint | None, progress: Counting | None = None
) -> StoreRetriever:
    """Make the retriever of a knowledge base: by meaning where an embedding endpoint is set, else by words."""
    index = _index(base, embedder_of(embedding), progress)
    return StoreRetriever(partial(base.open, "read"), index, base.project.root)


def embedder_of(embedding: Endpoint | None) -> Embedder | None:
    """Make the client of an embedding endpoint, where there is one."""
    if embedding is None:
        return None
    from deeprefine_graphdb.retrieval.embed import Embedder

    return Embedder(embedding.model, embedding.url, embedding.key, embedding.timeout)


def _index(base: KnowledgeBase, embedder: Embedder | None, progress: Counting | None) -> EdgeIndex:
    if embedder is None:
        return LexicalIndex(base.project.index)
    # numpy and faiss take half a second to import, and a lexical search needs neither.
    from deeprefine_graphdb.retrieval.vectors import VectorIndex

    return VectorIndex(base.project.index, embedder, progress)


def build_index(
    base: KnowledgeBase, embedding: Endpoint | None, *, rebuild: bool, progress: Counting | None = None
) -> IndexReport:
    """Bring the index to the state of the store, or build it anew; no text is embedded twice.

    Raises :class:`StoreMissing`, :class:`IndexStale` (the index is of another model and ``rebuild`` is not set) and
    :class:`ModelError`.
    """
    base.project.prepare()
    embedder = embedder_of(embedding)
    index = _index(base, embedder, progress)
    retriever = StoreRetriever(partial(base.open, "read"), index, base.project.root)
    stamp = retriever.rebuild() if rebuild else retriever.refresh()
    if embedder is None:
        return IndexReport(kind="lexical", edges=stamp.edges, revision=stamp.revision)
    return IndexReport(
        kind="vector",
        model=embedder.model,
        edges=stamp.edges,
        revision=stamp.revision,
        calls=embedder.calls,
        tokens=embedder.tokens,
        seconds=round(embedder.seconds, 3),
    )


def search(base: KnowledgeBase, embedding: Endpoint | None, text: str, limit: int) -> Retrieved:
    """Give the edges most similar to a text, as the first step of the loop would."""
    return make_retriever(base, embedding).first(text, limit)


def expand(
    base: KnowledgeBase,
    embedding: Endpoint | None,
    names: Sequence[str],
    *,
    hops: int,
    limit: int,
    text: str = "",
) -> Retrieved:
    """Give the edges around entities, as a later step of the loop would; ``text`` says what they are ranked by.

    Raises :class:`AmbiguousName` and :class:`UnknownName` for a name that does not stand for one entity.
    """
    with base.open("read") as store:
        view = GraphView(store)
        ids = [resolve(view, name).id for name in names]
    return make_retriever(base, embedding).expand(text or " ".join(names), ids, hops, limit)
