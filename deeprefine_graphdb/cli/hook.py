"""``hook``: our part of git's hooks."""

from __future__ import annotations

from typing import TYPE_CHECKING

import click

from deeprefine_graphdb.cli.common import wait_option
from deeprefine_graphdb.cli.options import Options, common_options, pass_options
from deeprefine_graphdb.cli.output import emit, note
from deeprefine_graphdb.cli.sync import sync_lines

if TYPE_CHECKING:
    from deeprefine_graphdb.project.githook import HookReport


@click.group("hook")
def command() -> None:
    """Let git's hooks sync and export after graphify's own have rebuilt graph.json, and git merge it with us."""


@command.command("install")
@click.option(
    "--no-merge-driver", is_flag=True, help="Leave .gitattributes and git's merge driver as they are."
)
@common_options
@pass_options
def install(options: Options, no_merge_driver: bool) -> None:
    """Add our part to post-commit, post-checkout, post-merge and post-rewrite, behind graphify's.

    It returns at once, waits in the background for graphify to be done, and writes to
    graphify-out/.deeprefine/hook.log. `DEEPREFINE_SKIP_HOOK=1` leaves it out once. A marked part at the end of
    .gitattributes lets git merge graph.json with `deeprefine-db merge`; graphify's own line stays and is overruled.
    Every clone needs this once, since git does not share its settings.
    """
    from deeprefine_graphdb.project.githook import install as add

    _tell(options, add(options.project(), merge_driver=not no_merge_driver))


@command.command("uninstall")
@common_options
@pass_options
def uninstall(options: Options) -> None:
    """Take our part out of git's hooks and .gitattributes again; what else is in them stays."""
    from deeprefine_graphdb.project.githook import uninstall as remove

    _tell(options, remove(options.project()))


@command.command("run")
@wait_option
@common_options
@pass_options
def run(options: Options) -> None:
    """Wait until graphify is done with graph.json, then sync and export, as the hooks do."""
    from deeprefine_graphdb.project.githook import run as follow

    report = follow(options.base(), lambda text: note(options, text))
    emit(options, report, lambda: "\n".join(sync_lines(report)))


def _tell(options: Options, report: HookReport) -> None:
    text = f"In {report.folder}: {', '.join(report.hooks)}." if report.hooks else f"None in {report.folder}."
    driver = "merges" if report.merge_driver else "does not merge"
    emit(options, report, f"{text}\ngit {driver} graph.json with `deeprefine-db merge`.")
