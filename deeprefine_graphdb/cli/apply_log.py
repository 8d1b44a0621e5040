"""``apply-log``: the refinements of another log."""

from __future__ import annotations

from pathlib import Path

import click

from deeprefine_graphdb.cli.became import became_lines
from deeprefine_graphdb.cli.common import person, wait_option
from deeprefine_graphdb.cli.options import Options, common_options, pass_options
from deeprefine_graphdb.cli.output import counted, emit, note


@click.command("apply-log")
@click.argument("file", type=click.Path(path_type=Path, dir_okay=False))
@click.option("--dry-run", is_flag=True, help="Only say what would happen, refinement by refinement.")
@wait_option
@common_options
@pass_options
def command(options: Options, file: Path, dry_run: bool) -> None:
    """Apply the refinements of FILE, which `export-log` wrote or which is another store's journal.

    They go behind those that are here, with their questions, traces and reviews. What does not apply here is suspended
    and named. Refinements that the log here has already are passed over.
    """
    from deeprefine_graphdb.project.exchange import apply_log

    report = apply_log(
        options.base(), file, by=person(), say=lambda text: note(options, text), dry_run=dry_run
    )
    would = "Nothing was changed. This would be done: " if dry_run else ""
    head = (
        f"{would}Took in {counted(len(report.refinements), 'refinement')}: {', '.join(report.refinements)}."
    )
    emit(options, report, lambda: "\n".join((head, *became_lines(report.became))))
    if report.suspended:
        note(options, f"In conflict: {', '.join(report.suspended)}; see `deeprefine-db conflicts`.")
