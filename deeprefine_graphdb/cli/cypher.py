"""``cypher``: a question to the store in its own language."""

from __future__ import annotations

import csv
import io
import json
from typing import TYPE_CHECKING, Any

import click

from deeprefine_graphdb.cli.common import Parameter, Seconds, wait_option
from deeprefine_graphdb.cli.deadline import deadline
from deeprefine_graphdb.cli.options import Options, common_options, pass_options
from deeprefine_graphdb.cli.output import counted, emit, note, table

if TYPE_CHECKING:
    from deeprefine_graphdb.stores.protocol import Table

INTERRUPTED = 130


@click.command("cypher")
@click.argument("statement")
@click.option(
    "--param", "-p", "params", type=Parameter(), multiple=True, metavar="K=V", help="A parameter $K."
)
@click.option(
    "--format",
    "style",
    type=click.Choice(["table", "json", "csv"]),
    default="table",
    show_default=True,
    help="How to print the rows. --json is the same as json.",
)
@click.option(
    "--limit", type=click.IntRange(min=1), default=1000, show_default=True, help="At most so many rows."
)
@click.option("--timeout", type=Seconds(0.1), default=30, show_default=True, help="Seconds to wait.")
@wait_option
@common_options
@pass_options
def command(
    options: Options,
    statement: str,
    params: tuple[tuple[str, Any], ...],
    style: str,
    limit: int,
    timeout: float,
) -> None:
    """Run one reading Cypher STATEMENT on the store.

    MATCH, OPTIONAL MATCH, WITH, UNWIND, RETURN, UNION and a few CALLs are let through; anything that writes, copies,
    loads or configures is refused before the engine sees it. What a refinement removed is there too, marked:
    `WHERE r.retired_by IS NULL` leaves it out.
    """
    from deeprefine_graphdb.provenance.guard import check_reading

    checked = check_reading(statement)
    values = dict(params)
    _check_parameters(checked.parameters, values)
    with options.base().open("read") as store, deadline(timeout, INTERRUPTED):
        answer = store.query(checked.text, values, limit=limit, timeout=timeout)
    print_rows(options, answer, "json" if options.as_json else style)
    if answer.truncated:
        note(options, f"Only the first {limit:,} rows are shown; --limit shows more.")


def print_rows(options: Options, answer: Table, style: str) -> None:
    """Print rows as a table, as JSON objects, or as CSV."""
    if style == "csv":
        text = io.StringIO()
        writer = csv.writer(text, lineterminator="\n")
        writer.writerow(answer.columns)
        writer.writerows([_csv_cell(value) for value in row] for row in answer.rows)
        click.echo(text.getvalue(), nl=False)
        return
    rows = [dict(zip(answer.columns, row, strict=True)) for row in answer.rows]
    if style == "json":
        click.echo(json.dumps(rows, ensure_ascii=False, indent=2, default=str))
        return
    emit(options, rows, lambda: table(answer.columns, answer.rows))
    note(options, f"{counted(len(answer.rows), 'row')}.")


def _csv_cell(value: Any) -> Any:
    return json.dumps(value, ensure_ascii=False, default=str) if isinstance(value, (dict, list)) else value


def _check_parameters(wanted: tuple[str, ...], given: dict[str, Any]) -> None:
    from deeprefine_graphdb.model.errors import UsageError

    missing = [name for name in wanted if name not in given]
    if missing:
        raise UsageError(f"The statement has the parameter ${missing[0]}.", f"Give it with -p {missing[0]}=…")
    unknown = sorted(set(given) - set(wanted))
    if unknown:
        raise UsageError(f"The statement has no parameter ${unknown[0]}.")
