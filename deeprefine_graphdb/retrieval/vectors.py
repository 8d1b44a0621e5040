"""Search by meaning: FAISS inner product over the embeddings of the edge texts."""

from __future__ import annotations

import contextlib
import hashlib
import sqlite3
import threading
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np
import numpy.typing as npt

from deeprefine_graphdb.model.actions import Frozen
from deeprefine_graphdb.model.errors import DeepRefineError, IndexStale, StoreLocked
from deeprefine_graphdb.retrieval.catalogue import EdgeCatalogue, Stamp, read_stamp
from deeprefine_graphdb.retrieval.embed import Embedder, Vectors
from deeprefine_graphdb.retrieval.ranking import Hit, IndexMoved
from deeprefine_graphdb.retrieval.vector_file import VectorFile, text_digest
from deeprefine_loaders.atomic import write_durable

if TYPE_CHECKING:
    from deeprefine_graphdb.retrieval.overlaid_vectors import OverlaidVectors

FORMAT = 1
DECIMALS = 6
LOCK_SECONDS = 600.0
REBUILD = "Run `deeprefine-db index --rebuild`."

Progress = Callable[[int, int], None]


class VectorSidecar(Frozen):
    """What the vectors were made with and for: ``vectors.json``. ``digest`` is that of the base graph.

    ``file`` is the stem of the two files that hold the vectors.
    """

    format: int = FORMAT
    model: str
    dimension: int
    file: str
    store_id: str
    digest: str
    revision: int
    edges: int
    texts: int


class VectorIndex:
    """Ranks edges by how near their texts are to the question. Safe to share between threads.

    Vectors are kept by model and by the text's digest, so a text is embedded once, whatever is rebuilt or
    undone. ``progress`` is told how many of how many texts of a build are embedded.
    """

    def __init__(self, folder: Path, embedder: Embedder, progress: Progress | None = None) -> None:
        self.catalogue = EdgeCatalogue(folder)
        self._embedder = embedder
        self._progress = progress
        self._folder = folder
        self._sidecar = folder / "vectors.json"
        self._lock = threading.RLock()
        self._file: VectorFile | None = None
        self._rows: dict[bytes, int] = {}
        self._ready: Stamp | None = None
        self._edge_rows: npt.NDArray[np.int64] = np.zeros(0, np.int64)
        self._edge_vectors: npt.NDArray[np.int64] = np.zeros(0, np.int64)

    def sidecar(self) -> VectorSidecar | None:
        """Give what the index was made with, or ``None`` when there is none that can be read."""
        with contextlib.suppress(OSError, ValueError):
            return VectorSidecar.model_validate_json(self._sidecar.read_bytes())
        return None

    def prepare(self, stamp: Stamp, rebuild: bool = False) -> None:
        """Embed the texts of the catalogue that have no vector yet, and be ready to search.

        Raises :class:`IndexStale` when the index is of another model or dimension, unless ``rebuild`` takes
        the new one, and :class:`ModelError`; what was embedded until then is kept.
        """
        with self._lock:
            if self._ready == stamp and not rebuild:
                return
            if rebuild:
                self._file, self._rows = None, {}
            self._open_file(rebuild)
            texts = dict(self.catalogue.all_texts())
            digests = self._complete(texts.values(), rebuild)
            self._edge_rows = np.array(list(texts), np.int64)
            self._edge_vectors = np.array([self._rows[digests[text]] for text in texts.values()], np.int64)
            self._ready = stamp
            self._say(stamp, len(digests))

    def search(self, question: str, limit: int) -> list[Hit]:
        """Give the ``limit`` nearest edges: inner product descending, then edge key.

        Raises :class:`IndexMoved` when the catalogue has changed since :meth:`prepare`.
        """
        return self.near(self._vectors([question]), limit)

    def near(self, query: Vectors, limit: int) -> list[Hit]:
        """Give the ``limit`` edges nearest to a vector, which is the only row; raises what :meth:`search` raises."""
        with self._lock:
            near = self._nearest(query, limit)
            with self.catalogue.open() as db:
                db.execute("BEGIN")
                if read_stamp(db) != self._ready:
                    raise IndexMoved("The graph changed while it was searched.", "Run the command again.")
                wanted = self._edge_rows[np.isin(self._edge_vectors, list(near))]
                found = self.catalogue.edges(db, (int(row) for row in wanted))
            hits = [
                Hit(e.key, e.source, e.target, near[self._rows[text_digest(e.text)]], e.text) for e in found
            ]
        return sorted(hits, key=lambda hit: (-hit.score, hit.key))[:limit]

    def scores(self, question: str, texts: Mapping[str, str]) -> dict[str, float]:
        """Score edge texts (by key) against a question; texts that have no vector yet are embedded."""
        keys = list(texts)
        rows = self._vectors([texts[key] for key in keys])
        query = self._vectors([question])
        values = rows @ query[0] if keys else np.zeros(0)
        return {key: round(float(value), DECIMALS) for key, value in zip(keys, values, strict=True)}

    def knows(self, texts: Iterable[str]) -> bool:
        """Tell whether all texts have a vector, so that scoring them calls no model."""
        with self._lock:
            self._open_file()
            return all(text_digest(text) in self._rows for text in texts)

    def warm(self, question: str) -> None:
        """Get the question's vector, so that scoring by it calls no model."""
        self._vectors([question])

    def kept(self, texts: Iterable[str]) -> dict[str, Vectors]:
        """Give the vector of every text that has one; calls no model."""
        with self._lock:
            self._open_file()
            rows = {text: self._rows.get(text_digest(text)) for text in texts}
            known = {text: row for text, row in rows.items() if row is not None}
            if self._file is None:
                return {}
            return dict(zip(known, self._file.take(list(known.values())), strict=True))

    def passing(self, texts: Sequence[str]) -> dict[str, Vectors]:
        """Embed as many texts as one request takes, the first ones, and keep nothing of it.

        Raises :class:`IndexStale` when the model gives another dimension than the index has, and :class:`ModelError`.
        """
        vectors = next(self._embedder.batches(texts), np.zeros((0, 0), np.float32))
        with self._lock:
            self._open_file()
            if self._file is not None and len(vectors) and vectors.shape[1] != self._file.dimension:
                raise self._other_dimension(vectors.shape[1], self._file.dimension)
        return dict(zip(texts, vectors, strict=False))

    def overlaid(self) -> OverlaidVectors:
        """Give the index as it would be with other edges laid over; this one stays as it is."""
        from deeprefine_graphdb.retrieval.overlaid_vectors import OverlaidVectors

        return OverlaidVectors(self)

    def describe(self) -> str:
        """Say what the search goes by."""
        dimension = f", {self._file.dimension} dimensions" if self._file is not None else ""
        return f"FAISS over edge embeddings ({self._embedder.model}{dimension})"

    def _vectors(self, texts: Sequence[str]) -> Vectors:
        with self._lock:
            self._open_file()
            digests = self._complete(texts)
            if self._file is None:
                return np.zeros((0, 0), np.float32)
            return self._file.take([self._rows[digests[text]] for text in texts])

    def _open_file(self, rebuild: bool = False) -> None:
        """Find the file of the model. Raises :class:`IndexStale` when the index is of another model."""
        sidecar = self.sidecar()
        model = self._embedder.model
        if sidecar is not None and sidecar.model != model and not rebuild:
            raise IndexStale(
                f"{self._sidecar} was made with the embedding model {sidecar.model}, and {model} is set now.",
                f"{REBUILD[:-1]}, or set DEEPREFINE_EMBED_MODEL back.",
            )
        if self._file is not None:
            return
        if sidecar is not None and not rebuild:
            self._use(sidecar.dimension)
            return
        known = sorted(self._folder.glob(f"{_stem(model)}-*.sha256"), key=lambda path: path.stat().st_mtime)
        if known:
            self._use(int(known[-1].stem.rpartition("-")[2]))

    def _use(self, dimension: int) -> None:
        self._file = VectorFile(self._folder / f"{_stem(self._embedder.model)}-{dimension}", dimension)
        self._rows = self._file.rows()

    def _complete(self, texts: Iterable[str], rebuild: bool = False) -> dict[str, bytes]:
        """Embed the texts that have no vector, keeping each answer before the next request; give all digests."""
        digests = {text: text_digest(text) for text in dict.fromkeys(texts)}
        if not self._missing(digests):
            return digests
        with self._writing():
            # Another process may have made the file, or added to it, while this one waited.
            self._open_file(rebuild)
            if self._file is not None:
                self._rows = self._file.rows()
            while missing := self._missing(digests):
                if self._append(missing, rebuild):
                    break
        return digests

    def _append(self, missing: list[str], rebuild: bool) -> bool:
        """Embed and keep texts; ``False`` when the model's dimension turned out to be another one."""
        done = 0
        for vectors in self._embedder.batches(missing):
            before, dimension = self._file, vectors.shape[1]
            if before is None or before.dimension != dimension:
                self._use(dimension)
            self._keep(missing[done : done + len(vectors)], vectors)
            if before is not None and before.dimension != dimension:
                if rebuild:
                    return False
                self._file, self._rows, self._ready = None, {}, None
                raise self._other_dimension(dimension, before.dimension)
            done += len(vectors)
            if self._progress is not None and len(missing) > 1:
                self._progress(done, len(missing))
        return True

    def _other_dimension(self, given: int, had: int) -> IndexStale:
        told = f"{given} dimensions, not the {had} of {self._sidecar}"
        return IndexStale(f"{self._embedder.model} gives {told}.", REBUILD)

    def _keep(self, texts: Sequence[str], vectors: Vectors) -> None:
        assert self._file is not None  # noqa: S101
        digests = [text_digest(text) for text in texts]
        fresh = [at for at, digest in enumerate(digests) if digest not in self._rows]
        first = self._file.count
        self._file.append([digests[at] for at in fresh], vectors[fresh])
        self._rows.update((digests[at], first + n) for n, at in enumerate(fresh))

    def _missing(self, digests: Mapping[str, bytes]) -> list[str]:
        return [text for text, digest in digests.items() if digest not in self._rows]

    def _nearest(self, query: Vectors, limit: int) -> dict[int, float]:
        """Give rows and scores of the vectors that the best ``limit`` edges can have, last ties included."""
        live = np.unique(self._edge_vectors)
        if self._file is None or not len(live) or limit <= 0:
            return {}
        asked = limit
        while True:
            asked = min(len(live), 2 * asked + 16)
            best = sorted(self._scan(query, live, asked), reverse=True)[:asked]
            last = best[min(limit, len(best)) - 1][0]
            if asked == len(live) or best[-1][0] < last:
                return {row: score for score, row in best if score >= last}

    def _scan(self, query: Vectors, live: npt.NDArray[np.int64], count: int) -> Iterator[tuple[float, int]]:
        import faiss

        assert self._file is not None  # noqa: S101
        for first, block in self._file.blocks():
            here = live[np.searchsorted(live, first) : np.searchsorted(live, first + len(block))]
            if not len(here):
                continue
            part = block if len(here) == len(block) else block[here - first]
            near, at = faiss.knn(query, part, min(count, len(here)), faiss.METRIC_INNER_PRODUCT)
            yield from (
                (round(float(score), DECIMALS), int(here[row]))
                for score, row in zip(near[0], at[0], strict=True)
            )

    def _say(self, stamp: Stamp, texts: int) -> None:
        if self._file is None:
            return
        sidecar = VectorSidecar(
            model=self._embedder.model,
            dimension=self._file.dimension,
            file=f"{_stem(self._embedder.model)}-{self._file.dimension}",
            store_id=stamp.store_id,
            digest=stamp.base_digest,
            revision=stamp.revision,
            edges=stamp.edges,
            texts=texts,
        )
        if sidecar != self.sidecar():
            write_durable(self._sidecar, (sidecar.model_dump_json(indent=2) + "\n").encode("utf-8"))

    @contextlib.contextmanager
    def _writing(self) -> Iterator[None]:
        """Keep other processes from embedding the same texts; a killed holder lets go by itself."""
        self._folder.mkdir(parents=True, exist_ok=True)
        db = sqlite3.connect(self._folder / "vectors.lock", timeout=LOCK_SECONDS, isolation_level=None)
        try:
            db.execute("BEGIN EXCLUSIVE")
            yield
        except sqlite3.OperationalError as error:
            if error.sqlite_errorcode != sqlite3.SQLITE_BUSY:
                raise DeepRefineError(
                    f"The index in {self._folder} cannot be written: {error}.",
                    "Free some space there or let this user write there; then run the command again.",
                ) from error
            raise StoreLocked(
                f"Another process has been embedding into {self._folder} for {LOCK_SECONDS:.0f} s.",
                "Wait for it to end, then run the command again.",
            ) from error
        finally:
            db.close()


def _stem(model: str) -> str:
    return "vectors-" + hashlib.sha256(model.encode("utf-8")).hexdigest()[:12]
