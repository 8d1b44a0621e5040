"""``diff``: what differs, object by object."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

import click

from deeprefine_graphdb.cli.options import Options, common_options, pass_options
from deeprefine_graphdb.cli.output import emit, note
from deeprefine_graphdb.model.errors import UsageError

if TYPE_CHECKING:
    from collections.abc import Iterator

    from deeprefine_graphdb.graph.difference import Difference

_SIGNS = {"added": "+", "removed": "-", "changed": "~"}


@click.command("diff")
@click.argument("refinement", required=False)
@click.option("--base", "against_base", is_flag=True, help="The graph against its base: all refinements.")
@click.option("--disk", "against_disk", is_flag=True, help="The graph against graph.json (the default).")
@common_options
@pass_options
def command(options: Options, refinement: str | None, against_base: bool, against_disk: bool) -> None:
    """Show what the next export would change in graph.json, or what REFINEMENT changed."""
    from deeprefine_graphdb.project.diff import diff, diff_of

    if (refinement is not None) + against_base + against_disk > 1:
        raise UsageError("Give one of REFINEMENT, --base and --disk.")
    base = options.base()
    found = diff_of(base, refinement) if refinement else diff(base, "base" if against_base else "disk")
    if not found:
        note(options, "Nothing differs.")
    emit(options, found, lambda: "\n".join(line for one in found for line in _lines(one)))


def _lines(one: Difference) -> Iterator[str]:
    by = f"  [{one.by}]" if one.by else ""
    yield f"{_SIGNS[one.kind]} {one.object} {one.name}{by}"
    if one.kind != "changed":
        return
    before, after = _members(one.before), _members(one.after)
    for name in dict.fromkeys((*before, *after)):
        if before.get(name) != after.get(name) and not name.startswith("_deeprefine"):
            yield f"    {name}: {_shown(before, name)} → {_shown(after, name)}"


def _members(text: str | None) -> dict[str, Any]:
    try:
        value = json.loads(text or "{}")
    except ValueError:
        return {}
    return value if isinstance(value, dict) else {"value": value}


def _shown(members: dict[str, Any], name: str) -> str:
    return json.dumps(members[name], ensure_ascii=False) if name in members else "-"
