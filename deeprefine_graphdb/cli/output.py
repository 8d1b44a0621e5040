"""What commands print: data on stdout, notes and progress on stderr."""

from __future__ import annotations

import contextlib
import json
import os
import re
import shutil
import sys
import time
from collections.abc import Callable, Iterable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

if TYPE_CHECKING:
    from deeprefine_graphdb.cli.options import Options

_CONTROL = re.compile(r"[\x00-\x08\x0b-\x1f\x7f-\x9f]")


def emit(options: Options, record: Any, text: Callable[[], str] | str) -> None:
    """Print the result: the record (a model or plain data) as JSON with ``--json``, else the text."""
    if options.as_json:
        click.echo(json.dumps(plain(record), ensure_ascii=False, indent=2, default=str))
        return
    shown = text if isinstance(text, str) else text()
    if shown:
        click.echo(clean(shown))


def plain(record: Any) -> Any:
    """Turn models, and lists and dicts of them, into plain JSON data."""
    dump = getattr(record, "model_dump", None)
    if dump is not None:
        return dump(mode="json")
    if isinstance(record, dict):
        return {str(key): plain(value) for key, value in record.items()}
    if isinstance(record, (list, tuple)):
        return [plain(value) for value in record]
    return record


def note(options: Options, text: str) -> None:
    """Say on stderr how the work goes."""
    if not options.quiet:
        warn(text)


def warn(text: str) -> None:
    """Say on stderr what a person has to know, also with ``--quiet``; where stderr takes nothing, nobody is told."""
    with contextlib.suppress(OSError):
        click.echo(clean(text), err=True)


def is_stdout(path: Path) -> bool:
    """Tell whether a path, as ``/dev/stdout``, names what this process writes its data to."""
    try:
        return os.path.samestat(path.stat(), os.fstat(sys.stdout.fileno()))
    except (OSError, ValueError):
        return False


def width() -> int:
    """Give how many characters fit on a line of the terminal; 120 where there is none."""
    return shutil.get_terminal_size((120, 24)).columns if sys.stdout.isatty() else 120


def clean(text: str) -> str:
    """Take control characters out, since labels come from anywhere and a terminal obeys them."""
    return _CONTROL.sub("\N{REPLACEMENT CHARACTER}", text)


def counted(number: int, thing: str) -> str:
    """Give a number with its noun: ``1 hop``, ``2 hops``."""
    return f"{number:,} {thing}{'' if number == 1 else 's'}"


def table(headers: Sequence[str], rows: Iterable[Sequence[Any]], cell_width: int = 60) -> str:
    """Lay rows out in columns; a cell is one line and at most ``cell_width`` characters."""
    cells = [[_cell(value, cell_width) for value in row] for row in rows]
    if not cells:
        return ""
    widths = [max(len(row[i]) for row in [list(headers), *cells]) for i in range(len(headers))]
    lines = [list(headers), *cells]
    padded = ([cell.ljust(size) for cell, size in zip(line, widths, strict=True)] for line in lines)
    return "\n".join("  ".join(line).rstrip() for line in padded)


def _cell(value: Any, width: int) -> str:
    if value is None:
        return "-"
    if isinstance(value, (dict, list, tuple)):
        value = json.dumps(value, ensure_ascii=False, default=str)
    text = " ".join(str(value).split())
    return text if len(text) <= width else text[: width - 1] + "…"


class Progress:
    """A line on stderr that is written over; silent unless stderr is a terminal."""

    def __init__(self, options: Options) -> None:
        self.live = sys.stderr.isatty() and not options.quiet
        self._last = 0.0
        self._shown = 0

    def __call__(self, text: str, done: int = 0, total: int = 0) -> None:
        """Show a state; with a total also how far it is. At most ten times a second."""
        now = time.monotonic()
        if not self.live or (now - self._last < 0.1 and done != total):
            return
        self._last = now
        line = f"{text} {done:,}/{total:,} ({done * 100 // total} %)" if total else text
        click.echo("\r" + line.ljust(self._shown), err=True, nl=False)
        self._shown = len(line)

    def done(self) -> None:
        """Clear the line."""
        if self._shown:
            click.echo("\r" + " " * self._shown + "\r", err=True, nl=False)
            self._shown = 0
