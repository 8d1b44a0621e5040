"""``merge``: two people's graph.json, as git's merge driver."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING

import click

from deeprefine_graphdb.cli.options import Options, common_options, pass_options
from deeprefine_graphdb.cli.output import counted, emit, note, warn
from deeprefine_graphdb.model.errors import DeepRefineError, UsageError

if TYPE_CHECKING:
    from deeprefine_graphdb.project.merge import MergeReport

NOTES_SHOWN = 10
SIDECAR = "export.json"
LOG_SUFFIX = ".jsonl"


@click.command("merge")
@click.argument("base", type=click.Path(path_type=Path, dir_okay=False))
@click.argument("ours", type=click.Path(path_type=Path, dir_okay=False))
@click.argument("theirs", type=click.Path(path_type=Path, dir_okay=False))
@click.argument("path", required=False)
@click.option(
    "--out",
    type=click.Path(path_type=Path, dir_okay=False),
    help="Write the merged graph here, and its manifest in `.deeprefine/` beside it. Default: in place of OURS.",
)
@common_options
@pass_options
def command(
    options: Options, base: Path, ours: Path, theirs: Path, path: str | None, out: Path | None
) -> None:
    """Merge the graph.json files OURS and THEIRS, which grew from BASE: graphify's work and the refinements of both.

    `deeprefine-db hook install` lets git call this, with PATH, the file's own in the repository. Refinements that do
    not go together are suspended and named, and `conflicts` lists them after the next `sync`. Exits with 1, and
    leaves OURS as it is, when the files cannot be merged.
    """
    from deeprefine_graphdb.project.merge import merge_graphs, merge_logs, merge_sidecars

    is_log = path is not None and Path(path).suffix == LOG_SUFFIX
    is_sidecar = path is not None and Path(path).name == SIDECAR
    if out is not None and path is not None:
        raise UsageError("With PATH the merged file takes the place of OURS.", "Leave out PATH or --out.")
    try:
        if path is not None and is_log:
            report = merge_logs(ours, theirs, path=path)
        elif path is not None and is_sidecar:
            report = merge_sidecars(base, ours, theirs, path=path)
        else:
            report = merge_graphs(base, ours, theirs, path=path, out=out)
    except DeepRefineError as error:
        raise DeepRefineError(f"{path or ours} cannot be merged: {error.message}", error.hint) from error
    emit(options, report, "" if is_log or is_sidecar else _line(report))
    for text in _notes(report):
        note(options, text)
    for one in report.suspended:
        warn(f"In conflict ({one.kind}): {one.what}, {one.action}. {one.detail}".rstrip())
    if report.suspended:
        warn("Run `deeprefine-db sync`; `deeprefine-db conflicts` says what can be done.")


def _line(report: MergeReport) -> str:
    if report.outcome != "merged":
        return f"{report.path} is as {'our' if report.outcome == 'ours' else 'their'} side has it."
    suspended = len({one.action.rpartition(".")[0] for one in report.suspended})
    return f"Merged {report.path}: {counted(report.active, 'refinement')}, {suspended:,} in conflict."


def _notes(report: MergeReport) -> Iterator[str]:
    yield from (each.text for each in report.notes[:NOTES_SHOWN])
    if len(report.notes) > NOTES_SHOWN:
        yield f"And {len(report.notes) - NOTES_SHOWN:,} more such objects; `--json` has all."
    if report.notes:
        yield "`deeprefine-db update` has graphify look at the sources again."
