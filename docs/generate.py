"""Write docs/commands.md from the commands themselves: ``python docs/generate.py`` (``make docs``)."""

from __future__ import annotations

import inspect
from collections.abc import Iterator
from pathlib import Path

import click

from deeprefine_graphdb.cli.main import COMMANDS, cli

TARGET = Path(__file__).with_name("commands.md")
COMMON = ("project_root", "store", "as_json", "debug", "quiet")


def reference() -> str:
    """Give the page's text."""
    context = click.Context(cli, info_name="deeprefine-db")
    lines = [
        "# Commands",
        "",
        "Made by `make docs` from the commands themselves; `deeprefine-db COMMAND --help` says the same.",
        "",
        "stdout is data, stderr is notes and progress. With `--json` every command prints the stored record.",
        "",
        "| exit code | meaning |",
        "|---|---|",
        "| 0 | done |",
        "| 1 | error; a failed `audit verify` or `doctor` |",
        "| 2 | usage; a refused `cypher` statement |",
        "| 3 | nothing to do |",
        "| 4 | conflict, stale, or needs review; a failed `export --check` |",
        "| 5 | the store is locked or busy |",
        "| 6 | a model failed, or a `--max-*` was reached |",
        "| 7 | graph.json cannot be read |",
        "",
        "130 is an interrupt (Ctrl-C), 141 a reader that closed the pipe, 143 a SIGTERM; the next command heals "
        "what was cut short.",
        "",
        "## Options of every command",
        "",
        "Before or after the command's name.",
        "",
        *_options(cli, context, common=True),
    ]
    for name in COMMANDS:
        command = cli.get_command(context, name)
        assert command is not None  # noqa: S101
        lines += _command(command, click.Context(command, parent=context, info_name=name))
    return "\n".join(lines) + "\n"


def _command(command: click.Command, context: click.Context) -> Iterator[str]:
    yield from ("", f"## {context.command_path.removeprefix('deeprefine-db ')}", "")
    if isinstance(command, click.Group):
        yield inspect.cleandoc(command.help or "")
        for name, sub in command.commands.items():
            yield from _command(sub, click.Context(sub, parent=context, info_name=name))
        return
    arguments = [parameter for parameter in command.params if isinstance(parameter, click.Argument)]
    usage = " ".join(["deeprefine-db", context.command_path.partition(" ")[2]])
    yield f"`{' '.join([usage, *(each.make_metavar(context) for each in arguments)])}`"
    yield ""
    yield inspect.cleandoc(command.help or "")
    options = list(_options(command, context, common=False))
    if options:
        yield ""
        yield from options


def _options(command: click.Command, context: click.Context, *, common: bool) -> Iterator[str]:
    chosen = [
        parameter
        for parameter in command.params
        if isinstance(parameter, click.Option)
        and (parameter.name in COMMON) is common
        and parameter.name != "version"
    ]
    if not chosen:
        return
    yield "| option | meaning |"
    yield "|---|---|"
    for option in chosen:
        record = option.get_help_record(context)
        if record is not None:
            names, text = record
            yield f"| `{names.replace('|', '/')}` | {text.replace('|', '/')} |"


if __name__ == "__main__":
    TARGET.write_text(reference(), encoding="utf-8")
