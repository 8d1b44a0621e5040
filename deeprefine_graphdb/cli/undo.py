"""``undo``: refinements out of the graph, or an undo back."""

from __future__ import annotations

import click

from deeprefine_graphdb.cli.became import became_lines
from deeprefine_graphdb.cli.common import person, wait_option
from deeprefine_graphdb.cli.options import Options, common_options, pass_options
from deeprefine_graphdb.cli.output import emit, note


@click.command("undo")
@click.argument("refinements", nargs=-1, required=True, metavar="REFINEMENT...")
@click.option("--cascade", is_flag=True, help="Undo the refinements as well that would come out otherwise.")
@click.option("--dry-run", is_flag=True, help="Only say what it would do to other refinements.")
@wait_option
@common_options
@pass_options
def command(options: Options, refinements: tuple[str, ...], cascade: bool, dry_run: bool) -> None:
    """Undo REFINEMENT, as `log` lists it: the graph is then what it would be without it.

    Any refinement can be undone, in any order; when others would come out otherwise they are named and nothing
    happens (exit 4). Given the id of an undo, it puts the refinements back in, behind all others.
    """
    from deeprefine_graphdb.project.undo import undo

    report = undo(options.base(), refinements, by=person(), cascade=cascade, dry_run=dry_run)
    done = "Undid" if report.done == "undone" else "Applied again"
    would = "Nothing was changed. This would be done: " if dry_run else ""
    lines = [f"{would}{done} {', '.join(report.refinements)} ({report.id}).", *became_lines(report.became)]
    emit(options, report, "\n".join(lines))
    if not dry_run:
        note(options, "graph.json is as it was; `deeprefine-db export` writes it.")
