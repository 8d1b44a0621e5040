"""``show``: one refinement, whole."""

from __future__ import annotations

from typing import TYPE_CHECKING

import click

from deeprefine_graphdb.cli.options import Options, common_options, pass_options
from deeprefine_graphdb.cli.output import emit, width

if TYPE_CHECKING:
    from collections.abc import Iterator

    from deeprefine_graphdb.model.actions import ObjectChange
    from deeprefine_graphdb.provenance.entries import RefinementDetail


@click.command("show")
@click.argument("refinement")
@common_options
@pass_options
def command(options: Options, refinement: str) -> None:
    """Show REFINEMENT: its question, actions, what each changed, and what happened to it.

    It is named by its id or the beginning of it, as `log` lists them.
    """
    detail = options.base().log().refinement(refinement)
    emit(options, detail, lambda: "\n".join(_lines(detail)))


def _lines(detail: RefinementDetail) -> Iterator[str]:
    from deeprefine_graphdb.review.render import what_if_lines

    yield f"Refinement {detail.id}  {detail.state}"
    yield f"Proposal   {detail.proposal_id}"
    if detail.question:
        yield f"Question   {detail.question}"
    if detail.model:
        yield f"Model      {detail.model}"
    for event in detail.events:
        group = f"({event.group}) " if event.group else ""
        yield f"{event.event.capitalize():<10} {event.ts[:19]} by {event.by or '?'} {group}{event.note}".rstrip()
    effects = {effect.id.split(":")[0]: effect for effect in detail.effects}
    by_action = {effect.action: effect for effect in effects.values()}
    for entry, bound in zip(detail.actions, detail.body.actions, strict=True):
        yield ""
        label = f" {entry.label}" if entry.label else ""
        relation = f" {entry.relation} →" if entry.relation else " →"
        yield f"{entry.number}. {entry.kind}: {entry.subject}{relation} {entry.object}  ({entry.outcome}{label})"
        if entry.note:
            yield f"   {entry.note}"
        effect = by_action.get(bound.id)
        for change in effect.changes if effect is not None else ():
            yield f"   {_change(change)}"
    found = [review.what_if for review in detail.reviews if review.what_if is not None]
    if found:
        yield ""
        yield from what_if_lines(found[-1], width())


def _change(change: ObjectChange) -> str:
    before, after = change.before or {}, change.after or {}
    what = after or before
    name = what.get("label") or what.get("relation") or what.get("norm") or ""
    changed = [
        f"{key}: {before[key]!r} → {after[key]!r}"
        for key in after
        if key in before
        and before[key] != after[key]
        and key in {"label", "norm_label", "src", "tgt", "relation"}
    ]
    is_edge = "src" in what and "tgt" in what
    shown = f"{what['src']} | {name} | {what['tgt']}" if is_edge else f"{change.key} {name}"
    return f"{change.how:<9} {change.table} {shown}  {'; '.join(changed)}".rstrip()
