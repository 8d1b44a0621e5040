"""Cutting a Cypher statement into tokens, strictly: what two engines could read in two ways is refused."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Literal

from deeprefine_graphdb.model.errors import UsageError

MAX_LENGTH = 100_000
"""Longest statement, in characters."""

_PUNCTUATION = frozenset("()[]{}.,:|&!%^*+-=<>~/;")
_NUMBER = re.compile(r"0[xX][0-9a-fA-F]+|0[oO][0-7]+|[0-9]+([eE][0-9]+)?|[0-9]{1,3}(_[0-9]{3})+")
_ESCAPE = re.compile(r"\\[\\'\"`bfnrtBFNRT0/]")
_EARLY_ESCAPE = re.compile(r"\\u+[0-9a-fA-F]{4}")


@dataclass(frozen=True)
class Token:
    """A token: its kind, its text as it stood, and the offset where it begins."""

    kind: Literal["word", "name", "string", "number", "parameter", "mark"]
    text: str
    place: int

    @property
    def keyword(self) -> str:
        """The word in upper case, or ``""`` when the token is no bare word."""
        return self.text.upper() if self.kind == "word" else ""


def tokenize(text: str) -> list[Token]:
    """Give the tokens of a statement; comments are left out.

    Raises :class:`UsageError` for an unclosed string, name or comment, and for anything that an engine might
    cut in another way: unknown escapes, invisible characters, a number that runs into a word.
    """
    if len(text) > MAX_LENGTH:
        raise UsageError(f"The statement has {len(text):,} characters; at most {MAX_LENGTH:,} are taken.")
    early = _EARLY_ESCAPE.search(text)
    if early is not None:
        raise _refusal(f"the escape {early.group()}", early.start(), "Write the character itself.")
    for place, character in enumerate(text):
        if character == "\0" or unicodedata.category(character) == "Cs":
            raise _refusal(f"the character U+{ord(character):04X}", place, "Give such a text as a parameter.")
    return list(_tokens(text))


def _tokens(text: str) -> Iterator[Token]:
    place = 0
    while place < len(text):
        character = text[place]
        if character.isspace():
            place += 1
        elif text.startswith(("//", "/*"), place):
            place = _after_comment(text, place)
        else:
            token = _token(text, place)
            yield token
            place += len(token.text)


def _token(text: str, place: int) -> Token:
    character = text[place]
    if character in "'\"":
        return Token("string", _string(text, place), place)
    if character == "`":
        return Token("name", _name(text, place), place)
    if character == "$":
        return Token("parameter", _parameter(text, place), place)
    if _is_word(character):
        return _word_or_number(text, place)
    if character in _PUNCTUATION:
        return Token("mark", character, place)
    shown = character if character.isprintable() else f"U+{ord(character):04X}"
    raise _refusal(
        f"the character {shown} outside quotes", place, "Put text into quotes or give it as a parameter."
    )


def _after_comment(text: str, place: int) -> int:
    if text[place + 1] == "/":
        end = re.compile(r"[\r\n]").search(text, place)
        return end.start() if end is not None else len(text)
    closing = text.find("*/", place + 2)
    if closing < 0:
        raise _refusal("a comment that is not closed", place)
    return closing + 2


def _string(text: str, place: int) -> str:
    quote, end = text[place], place + 1
    while end < len(text):
        if text[end] == quote:
            return text[place : end + 1]
        if text[end] == "\\":
            escape = _ESCAPE.match(text, end)
            if escape is None:
                raise _refusal(f"the escape {text[end : end + 2]}", end, "Write a backslash as two.")
            end = escape.end()
        else:
            end += 1
    raise _refusal("a string that is not closed", place)


def _name(text: str, place: int) -> str:
    closing = text.find("`", place + 1)
    if closing < 0:
        raise _refusal("a name in backticks that is not closed", place)
    return text[place : closing + 1]


def _parameter(text: str, place: int) -> str:
    if text.startswith("`", place + 1):
        return "$" + _name(text, place + 1)
    run = _run(text, place + 1)
    if not run or not run.isascii() or run[0].isdigit():
        raise _refusal(
            "a $ without a name", place, "A parameter is named by letters, digits and _, a letter first."
        )
    return "$" + run


def _word_or_number(text: str, place: int) -> Token:
    run = _run(text, place)
    if run[0].isalpha() or run[0] == "_":
        return Token("word", run, place)
    if _NUMBER.fullmatch(run) is None:
        raise _refusal(f"{run!r}, a number that runs into a word", place, "Put a space between them.")
    return Token("number", run, place)


def _run(text: str, place: int) -> str:
    end = place
    while end < len(text) and _is_word(text[end]):
        end += 1
    return text[place:end]


def _is_word(character: str) -> bool:
    return character == "_" or character.isalnum() or unicodedata.category(character) in {"Mn", "Mc"}


def _refusal(what: str, place: int, hint: str = "") -> UsageError:
    return UsageError(f"The statement has {what} at character {place + 1}.", hint)
