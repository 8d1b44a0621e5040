"""Text to search terms: the same splitting for what is indexed and for what is asked."""

from __future__ import annotations

import re
import unicodedata
from functools import lru_cache

WORD = re.compile(r"[^\W_]+(?:_+[^\W_]+)*")
PIECE = re.compile(r"[^\W_]+")
SCRIPT_WITHOUT_SPACES = re.compile(
    "[\u3040-\u30ff\u3400-\u4dbf\u4e00-\u9fff\uac00-\ud7af\U00020000-\U0003134f]+"
)
CAMEL = re.compile(r"(?<=[a-z0-9])(?=[A-Z])|(?<=[A-Z])(?=[A-Z][a-z])")

STOP_WORD_TEXT = """
a about all also am an and any are as at be been being but by can could did do does doing done
each for from get gets give given had has have having he her here his how i if in into is it
its itself just like made make makes many may me might more most much must my no nor not of on
one or other our out over own same she should so some such than that the their them then there
these they thing this those through to too under up us use used using very was we were what
when where whether which while who whom whose why will with within without would you your
"""
STOP_WORDS = frozenset(STOP_WORD_TEXT.split())


def terms(text: str) -> list[str]:
    """Split a text into lower-case terms, in order and with repetitions.

    Identifiers are split at ``.``, ``::``, ``_`` and other punctuation and at camelCase humps; one of
    several parts is also given whole (``getDb``, ``get_db`` → ``get db getdb``). Accents are dropped, a
    plural ``s`` too. Runs of Chinese, Japanese or Korean characters give their character pairs, because no
    space divides their words.
    """
    found: list[str] = []
    for word in WORD.findall(text if text.isascii() else _unaccented(text)):
        found.extend(_of_word(word))
    return found


def question_terms(question: str) -> list[str]:
    """Give the distinct terms to search a question by: no stop words, unless it has nothing else."""
    found = list(dict.fromkeys(terms(question)))
    return [term for term in found if term not in STOPPED] or found


@lru_cache(maxsize=200_000)
def _of_word(word: str) -> tuple[str, ...]:
    parts: list[str] = []
    for piece in PIECE.findall(word):
        parts.extend(part for part in CAMEL.split(piece) if part)
    found = [term for part in parts for term in _simple(part.lower())]
    if len(parts) > 1:
        found.append(_singular("".join(parts).lower()))
    return tuple(found)


def _simple(part: str) -> list[str]:
    if part.isascii():
        return [_singular(part)]
    found: list[str] = []
    at = 0
    for run in SCRIPT_WITHOUT_SPACES.finditer(part):
        if run.start() > at:
            found.append(_singular(part[at : run.start()]))
        found.extend(_pairs(run.group()))
        at = run.end()
    if at < len(part):
        found.append(_singular(part[at:]))
    return found


def _pairs(run: str) -> list[str]:
    return [run[at : at + 2] for at in range(len(run) - 1)] or [run]


def _singular(term: str) -> str:
    if len(term) > 4 and term.endswith("ies"):
        return term[:-3] + "y"
    if len(term) > 4 and term.endswith(("sses", "shes", "ches", "xes")):
        return term[:-2]
    if len(term) > 3 and term.endswith("s") and not term.endswith(("ss", "us", "is")):
        return term[:-1]
    return term


def _unaccented(text: str) -> str:
    decomposed = unicodedata.normalize("NFKD", text)
    kept = "".join(ch for ch in decomposed if not unicodedata.combining(ch))
    return unicodedata.normalize("NFC", kept)


STOPPED = STOP_WORDS | {_singular(word) for word in STOP_WORDS}
