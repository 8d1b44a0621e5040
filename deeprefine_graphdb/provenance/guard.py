"""What the ``cypher`` command lets through: reading clauses and a few calls; the rest is refused by name.

An engine's read-only mode is not enough: on Kùzu it still writes files (``COPY … TO``, ``EXPORT DATABASE``),
reads them (``LOAD FROM``), changes settings and asks the network (``INSTALL``); Neo4j's still reads files and
URLs.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Sequence
from dataclasses import dataclass

from deeprefine_graphdb.model.errors import UsageError
from deeprefine_graphdb.provenance.tokens import Token, tokenize

STARTS = frozenset({"MATCH", "OPTIONAL", "WITH", "UNWIND", "RETURN", "CALL"})
"""What a statement, and each part of a union, may begin with."""

REFUSED = frozenset({
    "ALTER",
    "ATTACH",
    "CHECKPOINT",
    "COPY",
    "CREATE",
    "DELETE",
    "DETACH",
    "DROP",
    "EXPORT",
    "FOREACH",
    "IMPORT",
    "INSERT",
    "INSTALL",
    "LOAD",
    "MERGE",
    "REMOVE",
    "SET",
    "SHOW",
    "TERMINATE",
    "UNINSTALL",
    "USE",
})
"""Clauses that change, copy, configure or look outside, wherever in a statement they stand."""

CALLS = frozenset({
    "db.labels",
    "db.propertykeys",
    "db.relationshiptypes",
    "db.schema.nodetypeproperties",
    "db.schema.reltypeproperties",
    "db.schema.visualization",
    "db_version",
    "show_connection",
    "show_functions",
    "show_tables",
    "table_info",
})
"""Procedures that only describe the schema or the engine, in lower case."""

NAMESPACES = frozenset({
    "date",
    "datetime",
    "duration",
    "localdatetime",
    "localtime",
    "point",
    "time",
    "vector",
})
"""First parts of dotted function names that are built in and read nothing."""

_BEFORE_NAME = frozenset(":|&!")
_OWNERS = frozenset({"word", "name", "parameter"})
_ADVICE = "This command only reads: MATCH, OPTIONAL MATCH, WITH, UNWIND, RETURN, UNION and a few CALLs."


@dataclass(frozen=True)
class ReadStatement:
    """A statement that may run: its text without comments or a final semicolon, and its parameters' names."""

    text: str
    parameters: tuple[str, ...]


def check_reading(text: str) -> ReadStatement:
    """Let a statement through that only reads.

    Raises :class:`UsageError`, naming the clause, for any other one, and for several at once.
    """
    tokens = tokenize(text)
    while tokens and tokens[-1].text == ";":
        tokens.pop()
    if not tokens:
        raise UsageError("The statement is empty.", _ADVICE)
    for index, token in enumerate(tokens):
        _check(tokens, index, token)
    return ReadStatement(_rebuild(tokens, text), _parameters(tokens))


def _check(tokens: Sequence[Token], index: int, token: Token) -> None:
    if token.kind == "mark" and token.text == ";":
        raise UsageError("Only one statement at a time is taken.", "Run the command once for each.")
    _check_start(tokens, index, token)
    if token.kind in {"word", "name"}:
        _check_function(tokens, index)
    if token.kind == "word" and not _is_name(tokens, index):
        for form in _forms(token.text) & (REFUSED if token.text.isascii() else REFUSED | {"CALL", "UNION"}):
            raise UsageError(
                f"{form} is refused (character {token.place + 1}).",
                f"{_ADVICE} A name that reads like it goes into backticks.",
            )
        if token.keyword == "CALL":
            _check_call(tokens, index)


def _check_start(tokens: Sequence[Token], index: int, token: Token) -> None:
    """Hold that the first word, and the first after a UNION, begins a reading clause."""
    before = index - 1
    if before >= 1 and tokens[before].keyword in {"ALL", "DISTINCT"}:
        before -= 1
    united = before >= 0 and tokens[before].keyword == "UNION" and not _is_name(tokens, before)
    if united and token.keyword in {"ALL", "DISTINCT"}:
        return
    if (index == 0 or united) and token.keyword not in STARTS:
        raise UsageError(f"A statement that begins with {token.text[:40]} is refused.", _ADVICE)


def _check_call(tokens: Sequence[Token], index: int) -> None:
    """Hold that a CALL names a procedure of the list, or opens a subquery (whose words are checked too)."""
    if index + 1 < len(tokens) and tokens[index + 1].text in {"{", "("}:
        return
    parts: list[str] = []
    for token in tokens[index + 1 :]:
        if token.kind in {"word", "name"} and len(parts) % 2 == 0:
            parts.append(token.text.strip("`"))
        elif token.text == "." and len(parts) % 2 == 1:
            parts.append(".")
        else:
            break
    name = "".join(parts)
    opened = index + 1 + len(parts)
    follows = tokens[opened].text if opened < len(tokens) else ""
    if name.lower() not in CALLS or follows == "=":
        raise UsageError(
            f"CALL {name or follows} is refused.", f"These are taken: {', '.join(sorted(CALLS))}."
        )


def _check_function(tokens: Sequence[Token], index: int) -> None:
    """Hold that a dotted function is the engine's own: an extension's may read files or ask the network."""
    if index and tokens[index - 1].text == ".":
        return
    end = index + 1
    while end + 1 < len(tokens) and tokens[end].text == "." and tokens[end + 1].kind in {"word", "name"}:
        end += 2
    dotted = "".join(token.text for token in tokens[index:end])
    called = end < len(tokens) and tokens[end].text == "("
    own = tokens[index].text.strip("`").lower() in NAMESPACES
    procedure = index > 0 and tokens[index - 1].keyword == "CALL"
    if end > index + 1 and called and not own and not procedure:
        raise UsageError(f"The function {dotted} is refused.", "Use the functions that Cypher has itself.")


def _is_name(tokens: Sequence[Token], index: int) -> bool:
    """Tell whether a word stands where only a name can: a property, a label, a type, or the key of a map."""
    before = tokens[index - 1] if index else None
    after = tokens[index + 1] if index + 1 < len(tokens) else None
    if before is None:
        return False
    if before.text == "." and index >= 2:
        owner = tokens[index - 2]
        return owner.kind in _OWNERS or owner.text in {")", "]", "}"}
    if before.kind == "mark" and before.text in _BEFORE_NAME:
        return True
    return before.text in {"{", ","} and before.kind == "mark" and after is not None and after.text == ":"


def _forms(word: str) -> set[str]:
    """Give every keyword that an engine might see in a word, whatever it makes of letters beyond ASCII."""
    if word.isascii():
        return {word.upper()}
    folded = {
        word.upper(),
        word.lower().upper(),
        unicodedata.normalize("NFKC", word).upper(),
        word.casefold().upper(),
    }
    return folded | {part.upper() for part in re.findall(r"[A-Za-z_0-9]+", word)}


def _rebuild(tokens: Sequence[Token], text: str) -> str:
    """Give the text as it stood, each comment a space, so that no engine sees what was not looked at here."""
    rebuilt, end = "", tokens[0].place
    for token in tokens:
        gap = text[end : token.place]
        rebuilt += gap if gap.isspace() or not gap else " "
        rebuilt += token.text
        end = token.place + len(token.text)
    return rebuilt


def _parameters(tokens: Sequence[Token]) -> tuple[str, ...]:
    return tuple(dict.fromkeys(token.text[1:].strip("`") for token in tokens if token.kind == "parameter"))
