"""Commands that are imported when they are called, so that help answers at once."""

from __future__ import annotations

import importlib
import sys
from typing import Any

import click


class PipeClosed(Exception):
    """Whoever read our output has seen enough."""


class LazyGroup(click.Group):
    """A group of commands ``name → (module, one line of help)``; one is imported when it is used."""

    def __init__(self, *args: Any, lazy: dict[str, tuple[str, str]], **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self.lazy = lazy

    def list_commands(self, ctx: click.Context) -> list[str]:
        """List the commands in the order of the work, not of the alphabet."""
        return [*self.lazy, *super().list_commands(ctx)]

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        """Import a command and give it."""
        if cmd_name not in self.lazy:
            return super().get_command(ctx, cmd_name)
        module, _ = self.lazy[cmd_name]
        command: click.Command = importlib.import_module(module).command
        return command

    def invoke(self, ctx: click.Context) -> Any:
        """Run the command; a closed pipe becomes an error that click does not end the process for."""
        try:
            result = super().invoke(ctx)
            sys.stdout.flush()
        except BrokenPipeError as error:
            raise PipeClosed from error
        return result

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:  # noqa: ARG002
        """List the commands without importing them."""
        with formatter.section("Commands"):
            formatter.write_dl([(name, text) for name, (_, text) in self.lazy.items()])

    def resolve_command(
        self, ctx: click.Context, args: list[str]
    ) -> tuple[str | None, click.Command | None, list[str]]:
        """Find the command, or say which ones are near."""
        name = args[0]
        if self.get_command(ctx, name) is None and not name.startswith("-"):
            near = [known for known in self.list_commands(ctx) if known.startswith(name[:2])]
            hint = f" Did you mean {' or '.join(near)}?" if near else ""
            ctx.fail(f"There is no command `{name}`.{hint}")
        return super().resolve_command(ctx, args)
