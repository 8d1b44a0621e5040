"""Reads ``<judge>`` and ``<abduction>`` answers."""

from __future__ import annotations

import re

from deeprefine_graphdb.grammar.thinking import mask_thinking, strip_thinking
from deeprefine_graphdb.model.errors import GrammarError

_JUDGE = re.compile(r"<\s*judge\s*>(.*?)<\s*/\s*judge\s*>", re.IGNORECASE | re.DOTALL)
_OPEN_JUDGE = re.compile(r"<\s*judge\s*>", re.IGNORECASE)
_OPEN_ABDUCTION = re.compile(r"<\s*abduction\s*>", re.IGNORECASE)
_CLOSE_ABDUCTION = re.compile(r"<\s*/\s*abduction\s*>", re.IGNORECASE)
_DECORATION = " \t\r\n\"'`*_.!“”‘’"


def parse_judgement(text: str) -> bool:
    """Tell whether the model called the question answerable.

    Every ``<judge>`` outside its thoughts has to say the same, Yes or No in any case. Raises
    :class:`GrammarError` for anything else: no tag, an unclosed one, another word, or both words.
    """
    answer = mask_thinking(text)
    verdicts = set()
    end = place = 0
    for found in _JUDGE.finditer(answer):
        word = found[1].strip(_DECORATION).lower()
        if word not in {"yes", "no"}:
            raise GrammarError(f"The judgement {shown(found[1])} is neither Yes nor No.", found.start())
        verdicts.add(word)
        end, place = found.end(), found.start()
    unclosed = _OPEN_JUDGE.search(answer, end)
    if unclosed:
        raise GrammarError("The <judge> tag is not closed.", unclosed.start())
    if not verdicts:
        raise GrammarError("The answer has no <judge>Yes</judge> or <judge>No</judge>.", 0)
    if len(verdicts) > 1:
        raise GrammarError("The answer judges both Yes and No.", place)
    return verdicts == {"yes"}


def parse_abduction(text: str) -> str:
    """Give the text of the last ``<abduction>`` block.

    Raises :class:`GrammarError` when there is none, when it is empty, or when the last one is not closed.
    """
    answer = mask_thinking(text)
    openings = list(_OPEN_ABDUCTION.finditer(answer))
    if not openings:
        raise GrammarError("The answer has no <abduction>…</abduction>.", 0)
    opening = openings[-1]
    closing = _CLOSE_ABDUCTION.search(answer, opening.end())
    if closing is None:
        raise GrammarError("The <abduction> tag is not closed.", opening.start())
    reason = strip_thinking(answer[opening.end() : closing.start()])
    if not reason:
        raise GrammarError("The <abduction> block is empty.", opening.start())
    return reason


def shown(text: str, limit: int = 60) -> str:
    """Quote a piece of a model's text for an error: one line, not too long."""
    line = " ".join(text.split())
    return f"“{line[: limit - 1]}…”" if len(line) > limit else f"“{line}”"
