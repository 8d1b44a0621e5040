"""``status``: where the knowledge base stands."""

from __future__ import annotations

from typing import TYPE_CHECKING

import click

from deeprefine_graphdb.cli.options import Options, common_options, pass_options
from deeprefine_graphdb.cli.output import counted, emit, table, warn

if TYPE_CHECKING:
    from deeprefine_graphdb.project.status import StatusReport

FILE_STATES = {
    "missing": "is missing",
    "not synced": "has not been read yet",
    "current": "is as it was last read or written",
    "earlier": "is an earlier state that the log knows",
    "changed": "has changed since it was last read or written",
}


@click.command("status")
@click.option("--settings", is_flag=True, help="Show every setting and where it comes from.")
@common_options
@pass_options
def command(options: Options, settings: bool) -> None:
    """Say where the knowledge base stands, and which command comes next."""
    from deeprefine_graphdb.project.status import status

    report = status(options.base(), options.settings())
    for problem in report.problems:
        warn(problem)
    emit(options, report, lambda: _text(report, settings))


def _text(report: StatusReport, settings: bool) -> str:
    lines = [
        f"Knowledge base  {report.root}",
        f"Store           {report.store}{'' if report.has_store else ' (not there yet)'}",
        f"graph.json      {FILE_STATES[report.file]}",
    ]
    if report.has_store:
        behind = f"; graph.json is {report.behind} behind" if report.behind else ""
        lines += [
            f"Graph           {report.nodes:,} nodes, {report.links:,} links, base {report.base_digest[:12]}",
            f"Refinements     {report.active} active of {report.refinements}{behind}",
        ]
    if report.unread:
        lines.append(
            f"Logs            {len(report.unread)} of other stores to take in; `deeprefine-db sync` does"
        )
    if report.updating:
        lines.append("Update          under way, or cut short; `deeprefine-db sync` goes on")
    if report.conflicts:
        suspended = f"{counted(len(report.suspended), 'refinement')} suspended"
        lines.append(f"Conflicts       {report.conflicts}, {suspended}; see `deeprefine-db conflicts`")
    if report.unconfirmed:
        lines.append(
            f"Unconfirmed     {counted(report.unconfirmed, 'object')} of the base, not in graph.json as it was read"
        )
    lines.append(f"Questions       {report.pending} pending")
    for entry in report.waiting:
        labels = ", ".join(f"{count} {label}" for label, count in entry.labels.items())
        lines.append(f"Proposal        {entry.id} {entry.state} ({labels}): {entry.question}")
    if report.tokens:
        total = report.tokens[-1]
        lines.append(
            f"Models          {total.calls} calls, {total.tokens_in:,} + {total.tokens_out:,} tokens"
        )
    if settings:
        rows = ((row.name, row.value, row.origin) for row in report.settings)
        lines += ["", table(("setting", "value", "from"), rows, cell_width=80), ""]
    lines.append(f"Next            {report.next}")
    return "\n".join(lines)
