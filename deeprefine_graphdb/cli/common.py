"""Options that several commands share, and what they are turned into."""

from __future__ import annotations

import json
import math
from collections.abc import Callable
from pathlib import Path
from typing import Any, TypeVar

import click

from deeprefine_graphdb.cli.options import Options
from deeprefine_graphdb.model.errors import UsageError

Command = TypeVar("Command", bound=Callable[..., Any])
MOST_SECONDS = 1_000_000
_INT64 = 1 << 63


def setting_option(*names: str, setting: str, **attributes: Any) -> Callable[[Command], Command]:
    """Make an option that overrides a setting; the command's function does not see it."""

    def keep(ctx: click.Context, _: click.Parameter, value: Any) -> None:
        if value is not None:
            ctx.find_root().ensure_object(Options).flags[setting] = value

    return click.option(*names, callback=keep, expose_value=False, **attributes)


class Seconds(click.FloatRange):
    """A number of seconds that a clock can count, which neither "nan" nor "inf" is."""

    name = "seconds"

    def __init__(self, least: float = 0) -> None:
        super().__init__(min=least, max=MOST_SECONDS)

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> float:
        """Read the number; "nan" compares with nothing, so the range alone would let it pass."""
        seconds: float = super().convert(value, param, ctx)
        if math.isnan(seconds):
            self.fail(f"{value!r} is not a number of seconds", param, ctx)
        return seconds


class OutputFile(click.Path):
    """A file to write."""

    def __init__(self) -> None:
        super().__init__(dir_okay=False, path_type=Path)

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> Any:
        """Check that the text can name a file."""
        if not str(value):
            self.fail("an empty text names no file", param, ctx)
        return super().convert(value, param, ctx)


wait_option = setting_option(
    "--wait",
    setting="wait",
    type=Seconds(),
    metavar="SECONDS",
    help="How long to wait for a store that is in use. Default: 5.",
)


class Numbers(click.ParamType[tuple[int, ...]]):
    """Numbers separated by commas, as in ``1,3``."""

    name = "numbers"

    def convert(
        self, value: Any, param: click.Parameter | None, ctx: click.Context | None
    ) -> tuple[int, ...]:
        """Read the numbers."""
        if isinstance(value, tuple):
            return value
        try:
            return tuple(int(part) for part in str(value).split(","))
        except ValueError:
            self.fail(f"{value!r} is not a list of numbers like 1,3", param, ctx)


class Parameter(click.ParamType[tuple[str, Any]]):
    """A parameter as in ``name=value``; a value that is JSON is taken as that where that is wanted."""

    name = "parameter"

    def __init__(self, json_values: bool = True) -> None:
        self.json_values = json_values

    def convert(
        self, value: Any, param: click.Parameter | None, ctx: click.Context | None
    ) -> tuple[str, Any]:
        """Split at the first ``=``."""
        if isinstance(value, tuple):
            return value
        key, equals, text = str(value).partition("=")
        if not equals or not key:
            self.fail(f"{value!r} is not of the form name=value", param, ctx)
        key = key.removeprefix("$")
        try:
            read = json.loads(text) if self.json_values else text
        except RecursionError:
            self.fail(f"the value of {key} is nested too deep", param, ctx)
        except ValueError:
            read = text
        fault = _unfit(read)
        if fault:
            self.fail(f"the value of {key} holds {fault}", param, ctx)
        return key, read


def _unfit(value: Any) -> str:
    """Say what in a parameter's value no engine takes, ``""`` when it is fit."""
    from deeprefine_loaders.identity import has_surrogate

    if isinstance(value, str):
        return "a text that is not valid Unicode" if has_surrogate(value) else ""
    if isinstance(value, int):
        return "" if -_INT64 <= value < _INT64 else "a number beyond 64 bits"
    if isinstance(value, list):
        kinds = {float if type(each) is int else type(each) for each in value if each is not None}
        inner = next(filter(None, map(_unfit, value)), "")
        return inner or ("a list of different types" if len(kinds) > 1 else "")
    if isinstance(value, dict):
        return next(filter(None, map(_unfit, (*value, *value.values()))), "")
    return ""


class Question(click.ParamType[str]):
    """A question that a model can be asked: valid Unicode text."""

    name = "text"

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> str:
        """Check the text; what a terminal of another encoding sends has bytes that are none."""
        from deeprefine_loaders.identity import has_surrogate

        if has_surrogate(str(value)):
            self.fail("the question is not valid Unicode text; type it again", param, ctx)
        return str(value)


def flat(groups: tuple[tuple[int, ...], ...]) -> tuple[int, ...]:
    """Join what a repeatable :class:`Numbers` option gave."""
    return tuple(number for group in groups for number in group)


def check_source(proposal: str | None, refinement_file: Path | None, trace_file: Path | None) -> None:
    """Check that a proposal is named in one way: by its id, or by its file with that of its trace.

    Raises :class:`UsageError`.
    """
    if proposal is not None and refinement_file is not None:
        raise UsageError("Give either the id of a proposal or --refinement-file, not both.")
    if trace_file is not None and refinement_file is None:
        raise UsageError(
            "--trace-file goes with --refinement-file.", "A proposal of the log has its trace there."
        )
    if proposal is None and refinement_file is None:
        raise UsageError(
            "Give the id of a proposal, or --refinement-file.", "`deeprefine-db status` lists the proposals."
        )


def person() -> str:
    """Give the name under which this user's decisions are recorded."""
    import getpass

    try:
        return getpass.getuser()
    except (OSError, KeyError):
        return ""
