"""``doctor``: is the store well, and making it so."""

from __future__ import annotations

import click

from deeprefine_graphdb.cli.common import wait_option
from deeprefine_graphdb.cli.options import Options, common_options, pass_options
from deeprefine_graphdb.cli.output import emit
from deeprefine_graphdb.model.errors import UsageError


@click.command("doctor")
@click.option(
    "--rebuild", is_flag=True, help="Make the store anew from its base and the log; the old is set aside."
)
@click.option("--compact", is_flag=True, help="Fold the store's write-ahead log.")
@wait_option
@common_options
@pass_options
def command(options: Options, rebuild: bool, compact: bool) -> None:
    """Check store, base and log against each other; exit 1 if something is wrong."""
    from deeprefine_graphdb.project import doctor
    from deeprefine_graphdb.project.rebuild import rebuild as make_anew

    if rebuild and compact:
        raise UsageError("--rebuild makes a compact store, so --compact is not needed with it.")
    base = options.base()
    report = make_anew(base) if rebuild else doctor.compact(base) if compact else doctor.check(base)
    lines = [f"{'ok ' if each.ok else 'BAD'}  {each.what}: {each.detail}" for each in report.findings]
    if report.set_aside:
        lines.append(f"The former store lies in {report.set_aside}.")
    if not report.healthy:
        lines.append(report.next)
    emit(options, {**report.model_dump(mode="json"), "healthy": report.healthy}, "\n".join(lines))
    if not report.healthy:
        click.get_current_context().exit(1)
