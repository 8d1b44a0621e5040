"""``export``: the store back to graph.json."""

from __future__ import annotations

from pathlib import Path

import click

from deeprefine_graphdb.cli.common import OutputFile, wait_option
from deeprefine_graphdb.cli.options import Options, common_options, pass_options
from deeprefine_graphdb.cli.output import counted, emit, is_stdout, note
from deeprefine_graphdb.model.errors import UsageError


@click.command("export")
@click.option(
    "--out",
    type=OutputFile(),
    metavar="FILE",
    help="Write there instead; what is no file (a pipe) is written to.",
)
@click.option("--check", is_flag=True, help="Write nothing; exit 4 if graph.json is not what the store says.")
@click.option(
    "--force", is_flag=True, help="Overwrite a graph.json that the store does not know; it is kept as .bak."
)
@wait_option
@common_options
@pass_options
def command(options: Options, out: Path | None, check: bool, force: bool) -> None:
    """Write graph.json, byte for byte as it was wherever nothing changed."""
    from deeprefine_graphdb.project.export import check_export, export, export_to

    if check and (out or force):
        raise UsageError("--check writes nothing, so it takes neither --out nor --force.")
    base = options.base()
    if check:
        report = check_export(base)
    elif out is not None:
        report = export_to(base, out)
    else:
        report = export(base, force=force)
    done = {"written": "Wrote", "unchanged": "Nothing to write in", "checked": "The store agrees with"}
    differ = counted(report.touched, "object") + (" differs" if report.touched == 1 else " differ")
    told = f"{done[report.outcome]} {report.path}; {differ} from the base."
    if out is not None and is_stdout(out):
        note(options, told)  # stdout has the graph
    else:
        emit(options, report, told)
