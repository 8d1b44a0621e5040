"""Search by words: BM25 over the edge texts, with SQLite's FTS5."""

from __future__ import annotations

import math
import sqlite3
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path

from deeprefine_graphdb.retrieval.catalogue import EdgeCatalogue, IndexedEdge, Stamp, read_stamp
from deeprefine_graphdb.retrieval.laid import NOTHING_LAID, Laid
from deeprefine_graphdb.retrieval.ranking import Hit
from deeprefine_graphdb.retrieval.terms import question_terms, terms

K1 = 1.2
B = 0.75
MAX_CANDIDATES = 40_000
RESCORED = 400

ORDERED = "SELECT rowid, rank FROM word WHERE word MATCH ? AND rowid <= ? ORDER BY rank, rowid LIMIT ?"
LATER = "SELECT rowid, rank FROM word WHERE word MATCH ? AND rowid > ?"


class LexicalIndex:
    """Ranks edges by BM25 over the terms that they share with the question.

    The rarest terms of the question, up to about :data:`MAX_CANDIDATES` edges, choose the candidates; the
    more common ones only rank them. So a word like ``calls`` costs nothing beside a rare name, and still
    finds edges alone.
    """

    def __init__(self, folder: Path) -> None:
        self.catalogue = EdgeCatalogue(folder)
        self._folder = folder
        self._laid = NOTHING_LAID

    def overlaid(self) -> OverlaidWords:
        """Give the index as it would be with other edges laid over; this one stays as it is."""
        return OverlaidWords(self._folder)

    def prepare(self, stamp: Stamp, rebuild: bool = False) -> None:
        """Do nothing: the catalogue holds the word index."""

    def search(self, question: str, limit: int) -> list[Hit]:
        """Give at most ``limit`` edges that share a term with the question: BM25 descending, then edge key.

        Raises :class:`sqlite3.Error` when the file is damaged.
        """
        with self.catalogue.open() as db:
            db.execute("BEGIN")
            stamp, counts = self._statistics(db, question)
            if not counts or limit <= 0:
                return []
            chosen = _choosing(counts)
            most = max(RESCORED, 4 * limit) + len(self._laid.hidden)
            rows = _candidates(db, chosen, stamp.ordered, most)
            found = [each for each in self.catalogue.edges(db, rows) if each.key not in self._laid.hidden]
        return _ranked([*found, *_laid_candidates(self._laid, chosen)], counts, stamp)[:limit]

    def scores(self, question: str, texts: Mapping[str, str]) -> dict[str, float]:
        """Score edge texts (by key) against a question, by the same BM25 as :meth:`search`."""
        with self.catalogue.open() as db:
            db.execute("BEGIN")
            stamp, counts = self._statistics(db, question)
        weigh = _Bm25(counts, stamp)
        return {key: weigh(text) for key, text in texts.items()}

    def knows(self, texts: Iterable[str]) -> bool:  # noqa: ARG002
        """Say yes: scoring by words calls no model."""
        return True

    def warm(self, question: str) -> None:
        """Do nothing: a question needs no preparation."""

    def describe(self) -> str:
        """Say what the search goes by."""
        return "lexical search (BM25)"

    def _statistics(self, db: sqlite3.Connection, question: str) -> tuple[Stamp, dict[str, int]]:
        """Give size and length of the corpus, and in how many edges each term of the question stands."""
        stamp, laid = read_stamp(db), self._laid
        counts = _counts(db, question_terms(question), laid) or _counts(
            db, list(dict.fromkeys(terms(question))), laid
        )
        longer = sum(len(terms(edge.text)) for edge in laid.edges) - sum(
            len(terms(text)) for text in laid.lost
        )
        update = {"edges": stamp.edges + laid.more, "length": stamp.length + longer}
        return stamp.model_copy(update=update), counts


class OverlaidWords(LexicalIndex):
    """The word index with other edges laid over: it finds and ranks as an index made anew would."""

    def lay(self, question: str, laid: Laid) -> None:  # noqa: ARG002
        """Take over how the edges differ from those that are indexed."""
        self._laid = laid


class _Bm25:
    """Scores one text at a time for fixed query terms and corpus statistics."""

    def __init__(self, counts: Mapping[str, int], stamp: Stamp) -> None:
        self._average = stamp.length / stamp.edges if stamp.edges else 1.0
        self._idf = {
            term: math.log(1 + (stamp.edges - count + 0.5) / (count + 0.5)) for term, count in counts.items()
        }

    def __call__(self, text: str) -> float:
        found = terms(text)
        held = Counter(term for term in found if term in self._idf)
        damping = K1 * (1 - B + B * len(found) / self._average) if self._average else K1
        score = sum(self._idf[term] * n * (K1 + 1) / (n + damping) for term, n in sorted(held.items()))
        return round(score, 9)


def _counts(db: sqlite3.Connection, wanted: Sequence[str], laid: Laid) -> dict[str, int]:
    """Give in how many edges each term stands, rarest first, terms that stand in none left out."""
    found: dict[str, int] = {}
    more = Counter(term for edge in laid.edges for term in set(terms(edge.text)))
    more.subtract(Counter(term for text in laid.lost for term in set(terms(text))))
    for term in wanted:
        row = db.execute("SELECT doc FROM word_count WHERE term = ?", (term,)).fetchone()
        count = (row[0] if row is not None else 0) + more[term]
        if count > 0:
            found[term] = count
    return dict(sorted(found.items(), key=lambda item: (item[1], item[0])))


def _choosing(counts: Mapping[str, int]) -> list[str]:
    chosen: list[str] = []
    total = 0
    for term, count in counts.items():
        total += count
        if chosen and total > MAX_CANDIDATES:
            break
        chosen.append(term)
    return chosen


def _candidates(db: sqlite3.Connection, chosen: Sequence[str], ordered: int, limit: int) -> list[int]:
    expression = " OR ".join('"' + term.replace('"', '""') + '"' for term in chosen)
    rows = db.execute(ORDERED, (expression, ordered, limit)).fetchall()
    rows += db.execute(LATER, (expression, ordered)).fetchall()
    return [row for row, _ in rows]


def _laid_candidates(laid: Laid, chosen: Sequence[str]) -> list[IndexedEdge]:
    wanted = set(chosen)
    return [
        IndexedEdge(0, edge.key, edge.source, edge.target, edge.text)
        for edge in laid.edges
        if wanted & set(terms(edge.text))
    ]


def _ranked(found: Sequence[IndexedEdge], counts: Mapping[str, int], stamp: Stamp) -> list[Hit]:
    weigh = _Bm25(counts, stamp)
    hits = [Hit(edge.key, edge.source, edge.target, weigh(edge.text), edge.text) for edge in found]
    return sorted(hits, key=lambda hit: (-hit.score, hit.key))
