"""``sync``: graph.json into the store."""

from __future__ import annotations

import click

from deeprefine_graphdb.cli.common import wait_option
from deeprefine_graphdb.cli.options import Options, common_options, pass_options
from deeprefine_graphdb.cli.output import emit, note, warn


@click.command("sync")
@wait_option
@common_options
@pass_options
def command(options: Options) -> None:
    """Read graph.json into the store, when it has changed since it was last read or written."""
    from deeprefine_graphdb.project.sync import sync

    report = sync(options.base(), say=lambda text: note(options, text))
    for warning in report.warnings:
        warn(f"Warning: {warning}")
    done = {"loaded": "Loaded", "replaced": "Loaded anew", "unchanged": "Nothing changed in"}[report.outcome]
    emit(options, report, f"{done} {report.path}: {report.nodes:,} nodes, {report.links:,} links.")
