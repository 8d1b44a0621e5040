"""``audit``: questions to the history, and its verification."""

from __future__ import annotations

from typing import Any

import click

from deeprefine_graphdb.cli.common import Parameter, wait_option
from deeprefine_graphdb.cli.options import Options, common_options, pass_options
from deeprefine_graphdb.cli.output import counted, emit, table


@click.group("audit")
@common_options
def command() -> None:
    """Ask the history named questions, and verify it."""


@command.command("list")
@common_options
@pass_options
def list_command(options: Options) -> None:
    """List the named questions and their parameters."""
    from deeprefine_graphdb.provenance.audit import list_audits
    from deeprefine_graphdb.stores.urls import parse_url

    audits = list_audits(parse_url(options.settings().text("store")).engine)
    rows = (
        (
            audit.name,
            ", ".join(f"{p}={audit.defaults[p]}" if p in audit.defaults else p for p in audit.params),
            audit.purpose,
        )
        for audit in audits
    )
    emit(options, audits, lambda: table(("name", "parameters", "what it answers"), rows, cell_width=90))


@command.command("run")
@click.argument("name")
@click.option(
    "--param",
    "-p",
    "params",
    type=Parameter(json_values=False),
    multiple=True,
    metavar="K=V",
    help="A parameter.",
)
@click.option(
    "--format",
    "style",
    type=click.Choice(["table", "json", "csv"]),
    default="table",
    show_default=True,
    help="How to print the rows. --json is the same as json.",
)
@wait_option
@common_options
@pass_options
def run_command(options: Options, name: str, params: tuple[tuple[str, Any], ...], style: str) -> None:
    """Answer the named question NAME from the history in the store."""
    from deeprefine_graphdb.cli.cypher import print_rows
    from deeprefine_graphdb.provenance.audit import run_audit

    with options.base().open("read") as store:
        answer = run_audit(store, name, dict(params))
    print_rows(options, answer, "json" if options.as_json else style)


@command.command("verify")
@wait_option
@common_options
@pass_options
def verify_command(options: Options) -> None:
    """Check the hash chain of the log, and that the store's rows are what the log says; exit 1 if not."""
    from deeprefine_graphdb.provenance.verify import verify

    base = options.base()
    with base.open("read") as store:
        records = base.records()
        faults = verify(records, store)
    record = {"ok": not faults, "records": len(records), "faults": faults}
    lines = [fault.line() for fault in faults]
    emit(options, record, "\n".join(lines) or f"{counted(len(records), 'record')}, all as they were written.")
    if faults:
        click.get_current_context().exit(1)
