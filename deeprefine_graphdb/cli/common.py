"""Options that several commands share, and what they are turned into."""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import Any, TypeVar

import click

from deeprefine_graphdb.cli.options import Options

Command = TypeVar("Command", bound=Callable[..., Any])


def setting_option(*names: str, setting: str, **attributes: Any) -> Callable[[Command], Command]:
    """Make an option that overrides a setting; the command's function does not see it."""

    def keep(ctx: click.Context, _: click.Parameter, value: Any) -> None:
        if value is not None:
            ctx.find_root().ensure_object(Options).flags[setting] = value

    return click.option(*names, callback=keep, expose_value=False, **attributes)


wait_option = setting_option(
    "--wait",
    setting="wait",
    type=click.FloatRange(min=0),
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
            return key, json.loads(text) if self.json_values else text
        except ValueError:
            return key, text


def flat(groups: tuple[tuple[int, ...], ...]) -> tuple[int, ...]:
    """Join what a repeatable :class:`Numbers` option gave."""
    return tuple(number for group in groups for number in group)


def person() -> str:
    """Give the name under which this user's decisions are recorded."""
    import getpass

    try:
        return getpass.getuser()
    except (OSError, KeyError):
        return ""
