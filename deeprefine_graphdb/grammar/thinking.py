"""Leaves out what a model thought aloud before it answered."""

from __future__ import annotations

import re

_OPEN_THINK = r"<\s*(?:think|thinking|reasoning)\s*>"
_CLOSE_THINK = r"<\s*/\s*(?:think|thinking|reasoning)\s*>"
_OPEN_ANSWER = r"<\s*(?P<tag>judge|abduction|refinement)\s*>"

_CLOSE = re.compile(_CLOSE_THINK, re.IGNORECASE)
_EITHER_THINK = re.compile(f"(?P<open>{_OPEN_THINK})|{_CLOSE_THINK}", re.IGNORECASE)
_ANSWER = re.compile(_OPEN_ANSWER, re.IGNORECASE)
_THINK_OR_ANSWER = re.compile(f"{_OPEN_THINK}|{_OPEN_ANSWER}", re.IGNORECASE)


def mask_thinking(text: str) -> str:
    """Give the text with every thought overwritten by blanks, so that places in it stay what they were.

    A thought is ``<think>…</think>`` outside an answer block; one that is never closed runs to the end. A
    closing tag without an opening one ends a thought that the server's chat template had opened, provided
    that an answer block begins behind it or none began before it: inside the arguments of an answer such tags
    are plain text.
    """
    begin = _end_of_template_thought(text)
    pieces = [_blank(text[:begin])]
    pos = begin
    while found := _THINK_OR_ANSWER.search(text, pos):
        pieces.append(text[pos : found.start()])
        tag = found["tag"]
        if tag is None:
            closing = _CLOSE.search(text, found.end())
            end = closing.end() if closing else len(text)
            pieces.append(_blank(text[found.start() : end]))
        else:
            closing = re.compile(rf"<\s*/\s*{tag}\s*>", re.IGNORECASE).search(text, found.end())
            end = closing.end() if closing else len(text)
            pieces.append(text[found.start() : end])
        pos = end
    pieces.append(text[pos:])
    return "".join(pieces)


def strip_thinking(text: str) -> str:
    """Give the answer alone: no thoughts, no blank ends, and no code fence around the whole of it."""
    answer = mask_thinking(text).strip()
    fenced = re.fullmatch(r"```[\w-]*[ \t]*\n(.*)\n[ \t]*```", answer, re.DOTALL)
    if fenced and "```" not in fenced[1]:
        return fenced[1].strip()
    return answer


def _end_of_template_thought(text: str) -> int:
    first_answer = _ANSWER.search(text)
    end = depth = 0
    for tag in _EITHER_THINK.finditer(text):
        if tag["open"]:
            depth += 1
        elif depth:
            depth -= 1
        elif first_answer is None or tag.start() < first_answer.start() or _ANSWER.search(text, tag.end()):
            end = tag.end()
    return end


def _blank(text: str) -> str:
    return re.sub(r"[^\n]", " ", text)
