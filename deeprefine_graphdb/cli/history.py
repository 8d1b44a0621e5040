"""``history``: the queue of questions."""

from __future__ import annotations

from typing import Any

import click

from deeprefine_graphdb.cli.common import Question
from deeprefine_graphdb.cli.options import Options, common_options, pass_options
from deeprefine_graphdb.cli.output import emit, note, table, warn


@click.group("history")
@common_options
def command() -> None:
    """Keep the queue of questions, graphify-out/.deeprefine/history.jsonl."""


@command.command("add")
@click.option("--query", type=Question(), required=True, metavar="TEXT", help="The question.")
@click.option(
    "--source", default="user", show_default=True, metavar="NAME", help="Where the question comes from."
)
@common_options
@pass_options
def add_command(options: Options, query: str, source: str) -> None:
    """Append a question, to be refined by the next `refine`."""
    from deeprefine_graphdb.project.history import add

    project = options.project()
    project.prepare()
    row = add(project.history, query, source=source)
    emit(options, row, f"{row['id']}  {row['query']}")


@command.command("list")
@click.option("--pending", is_flag=True, help="Only questions that are still to be refined, each once.")
@click.option("--sync-memory", is_flag=True, help="First take over the questions of graphify's notes.")
@common_options
@pass_options
def list_command(options: Options, pending: bool, sync_memory: bool) -> None:
    """List the questions in file order."""
    from deeprefine_graphdb.project.history import read_history

    project = options.project()
    if sync_memory:
        note(options, _take_over(options)[1])
    found = read_history(project.history)
    for problem in found.problems:
        warn(problem)
    rows = found.pending() if pending else found.rows
    if not rows:
        note(options, 'The queue is empty. Add a question: deeprefine-db history add --query "…"')
    emit(options, rows, lambda: table(("id", "added", "refined", "question"), map(_shown, rows)))


def _shown(row: dict[str, Any]) -> tuple[Any, ...]:
    return row.get("id"), row.get("ts"), "yes" if row.get("refined") is True else "no", row.get("query")


@command.command("sync-memory")
@common_options
@pass_options
def sync_memory_command(options: Options) -> None:
    """Take over the questions of graphify's notes (graphify-out/memory/query_*.md)."""
    counts, text = _take_over(options)
    emit(options, counts, text)


def _take_over(options: Options) -> tuple[dict[str, int], str]:
    from deeprefine_graphdb.project.history import sync_memory

    project = options.project()
    project.prepare()
    counts = sync_memory(project, warn)
    return counts, f"{counts['added']} added from graphify's notes, {counts['known']} known."
