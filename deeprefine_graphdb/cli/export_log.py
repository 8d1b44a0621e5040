"""``export-log``: the log to a file."""

from __future__ import annotations

from pathlib import Path

import click

from deeprefine_graphdb.cli.options import Options, common_options, pass_options
from deeprefine_graphdb.cli.output import counted, emit


@click.command("export-log")
@click.argument("file", type=click.Path(path_type=Path, dir_okay=False))
@common_options
@pass_options
def command(options: Options, file: Path) -> None:
    """Write the log to FILE, for `apply-log` in another copy of the knowledge base."""
    from deeprefine_graphdb.project.exchange import export_log

    report = export_log(options.base(), file)
    emit(
        options,
        report,
        f"Wrote {counted(report.records, 'record')} with "
        f"{counted(len(report.refinements), 'active refinement')} to {report.path}.",
    )
