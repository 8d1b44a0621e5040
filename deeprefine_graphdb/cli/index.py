"""``index``: what retrieval searches in."""

from __future__ import annotations

import click

from deeprefine_graphdb.cli.common import wait_option
from deeprefine_graphdb.cli.options import Options, common_options, pass_options
from deeprefine_graphdb.cli.output import Progress, emit


@click.command("index")
@click.option(
    "--rebuild", is_flag=True, help="Build it anew. Texts that were embedded before are not sent again."
)
@wait_option
@common_options
@pass_options
def command(options: Options, rebuild: bool) -> None:
    """Bring the retrieval index to the state of the store.

    Searching does this by itself; the command is for doing it ahead, or with another embedding model.
    """
    from deeprefine_graphdb.project.search import build_index

    progress = Progress(options)
    report = build_index(
        options.base(),
        options.settings().embedding(),
        rebuild=rebuild,
        progress=lambda done, total: progress("Embedding", done, total),
    )
    progress.done()
    how = (
        f"with {report.model}"
        if report.kind == "vector"
        else "for lexical search (no embedding endpoint is set)"
    )
    cost = f" {report.calls} calls, {report.tokens:,} tokens." if report.calls else ""
    emit(options, report, f"Indexed {report.edges:,} edges {how}.{cost}")
