"""The Cypher statements of ``cypher/``: found by name, described by their header, checked before they are run."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import cache
from importlib.resources import files
from importlib.resources.abc import Traversable
from pathlib import Path
from typing import Any

from deeprefine_graphdb.model.errors import StatementError
from deeprefine_loaders.identity import has_surrogate

SUFFIX = ".cypher"
TYPES = ("STRING", "INT64", "DOUBLE", "BOOL", "STRING[]", "INT64[]", "TABLE")
_INT64 = 1 << 63
_FIELD = re.compile(r"(\w+) (\w+(?:\[\])?)( NOT NULL)?")
_DIALECTS = {"ladybug": "kuzu"}


@dataclass(frozen=True)
class StatementText:
    """One statement. ``params`` maps each parameter to its type, ``required`` names those that are never NULL.

    ``columns`` are the names of what it returns, in order; empty for a statement that returns nothing.
    """

    name: str
    text: str
    params: dict[str, str]
    columns: tuple[str, ...]
    purpose: str = ""
    required: frozenset[str] = frozenset()

    def check(self, params: Mapping[str, Any]) -> None:
        """Refuse parameters that do not fit the header: missing, unknown, of another type, NULL where none may be.

        Raises :class:`StatementError`; an engine would take a missing one for NULL and 2.7 for the integer 3.
        """
        for name, kind in self.params.items():
            if name not in params:
                raise StatementError(
                    f"The statement {self.name} needs the parameter {name}, which is missing."
                )
            value = params[name]
            if value is None:
                if name in self.required:
                    raise StatementError(
                        f"The parameter {name} of the statement {self.name} must not be NULL."
                    )
            elif not _fits(value, kind):
                raise StatementError(
                    f"The parameter {name} of the statement {self.name} must be {kind}, not {value!r:.80}."
                )
        if unknown := sorted(params.keys() - self.params.keys()):
            raise StatementError(f"The statement {self.name} has no parameter {', '.join(unknown)}.")


@cache
def load(name: str, dialect: str) -> StatementText:
    """Give a statement by name (``graph/entity``): the dialect's own text where there is one, else the common one.

    Ladybug speaks Kùzu's dialect. Raises :class:`StatementError` when there is no such statement or its header is
    not readable.
    """
    dialect = _DIALECTS.get(dialect, dialect)
    folder = _root()
    for part in (parts := name.split("/"))[:-1]:
        folder = folder / part
    for file in (f"{parts[-1]}.{dialect}{SUFFIX}", f"{parts[-1]}{SUFFIX}"):
        source = folder / file
        if source.is_file():
            return parse(name, source.read_text(encoding="utf-8"))
    raise StatementError(f"There is no statement {name} for {dialect} in cypher/.")


def names(folder: str, dialect: str) -> Iterator[str]:
    """Give the names of all statements of a folder that the dialect has, sorted."""
    dialect = _DIALECTS.get(dialect, dialect)
    found = set()
    for entry in (_root() / folder).iterdir():
        stem, _, own = entry.name.removesuffix(SUFFIX).partition(".")
        if entry.name.endswith(SUFFIX) and own in {"", dialect}:
            found.add(f"{folder}/{stem}")
    yield from sorted(found)


def parse(name: str, source: str) -> StatementText:
    """Read the text of a statement file: comment lines first, then one statement.

    Raises :class:`StatementError` for a header that cannot be read and for anything but one statement.
    """
    purpose: list[str] = []
    params: dict[str, tuple[str, bool]] = {}
    columns: dict[str, tuple[str, bool]] = {}
    lines = source.splitlines()
    at = 0
    while at < len(lines) and lines[at].startswith("//"):
        line = lines[at].removeprefix("//").strip()
        kind, _, rest = line.partition(":")
        if kind == "params":
            params = _fields(name, rest)
        elif kind == "columns":
            columns = _fields(name, rest)
        else:
            purpose.append(line)
        at += 1
    text = "\n".join(lines[at:]).strip()
    if not text or not purpose:
        raise StatementError(f"The file of the statement {name} lacks its purpose or its statement.")
    if statement_count(text) != 1 or text.endswith(";"):
        raise StatementError(f"The file of the statement {name} must hold one statement without a semicolon.")
    return StatementText(
        name=name,
        text=text,
        params={key: kind for key, (kind, _) in params.items()},
        columns=tuple(columns),
        purpose=" ".join(purpose),
        required=frozenset(key for key, (_, never_null) in params.items() if never_null),
    )


def statement_count(text: str) -> int:
    """Count the statements of a Cypher text; a semicolon inside a string, a name or a comment ends none."""
    return sum(bool(part.strip()) for part in without_quoted(text).split(";"))


def without_quoted(text: str) -> str:
    """Give a Cypher text with the content of strings and quoted names taken out, and without its comments."""
    return _QUOTED.sub(lambda found: found[0][0] * 2 if found[0][0] in "'\"`" else " ", text)


_QUOTED = re.compile(
    r"""'(?:[^'\\]|\\.)*(?:'|\Z)|"(?:[^"\\]|\\.)*(?:"|\Z)|`[^`]*(?:`|\Z)|//[^\n]*|/\*.*?(?:\*/|\Z)""",
    re.DOTALL,
)


def _fields(name: str, text: str) -> dict[str, tuple[str, bool]]:
    fields: dict[str, tuple[str, bool]] = {}
    for part in text.split(","):
        found = _FIELD.fullmatch(part.strip())
        if found is None or found[2] not in TYPES or found[1] in fields:
            raise StatementError(f"The header of the statement {name} cannot be read at {part.strip()!r}.")
        fields[found[1]] = (found[2], found[3] is not None)
    return fields


def _fits(value: Any, kind: str) -> bool:
    match kind:
        case "STRING":
            return isinstance(value, str) and not has_surrogate(value)
        case "INT64":
            return type(value) is int and -_INT64 <= value < _INT64
        case "DOUBLE":
            return type(value) in {int, float}
        case "BOOL":
            return type(value) is bool
        case "STRING[]" | "INT64[]":
            return isinstance(value, list) and all(_fits(item, kind.removesuffix("[]")) for item in value)
        case _:
            return True


@cache
def _root() -> Traversable:
    packed = files("deeprefine_graphdb") / "cypher"
    return packed if packed.is_dir() else Path(__file__).resolve().parents[2] / "cypher"
