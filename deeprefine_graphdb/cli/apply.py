"""``apply``: a proposal into the graph."""

from __future__ import annotations

import json
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from deeprefine_graphdb.cli.common import Numbers, check_source, flat, person, wait_option
from deeprefine_graphdb.cli.options import Options, common_options, pass_options
from deeprefine_graphdb.cli.output import emit, note, table
from deeprefine_graphdb.model.errors import UsageError

if TYPE_CHECKING:
    from deeprefine_graphdb.model.write import NewRecord, Statement
    from deeprefine_graphdb.project.apply import ApplyReport, Preview
    from deeprefine_graphdb.project.knowledge_base import KnowledgeBase
    from deeprefine_graphdb.provenance.entries import ActionEntry
    from deeprefine_graphdb.provenance.records import ProposalBody


@click.command("apply")
@click.argument("proposal", required=False)
@click.option(
    "--refinement-file", type=click.Path(path_type=Path), metavar="FILE", help="Actions to apply instead."
)
@click.option(
    "--trace-file", type=click.Path(path_type=Path), metavar="FILE", help="The trace that they come from."
)
@click.option("--only", type=Numbers(), multiple=True, metavar="N[,N…]", help="Apply only these actions.")
@click.option("--reject", type=Numbers(), multiple=True, metavar="N[,N…]", help="Leave these actions out.")
@click.option("--allow-low-confidence", is_flag=True, help="Apply actions that the review has labelled LOW.")
@click.option(
    "--skip-trace-check", is_flag=True, help="Take a refinement file without a valid trace; recorded."
)
@click.option(
    "--require-gain",
    is_flag=True,
    help="Apply only when the last what-if found that just these actions help.",
)
@click.option("--dry-run", is_flag=True, help="Plan everything and change nothing.")
@click.option("--show-cypher", is_flag=True, help="With --dry-run: print the statements that would run.")
@click.option("--export", is_flag=True, help="Then write graph.json.")
@click.option(
    "--refresh-wiki", is_flag=True, help="Then write graph.json and let graphify write its wiki anew."
)
@wait_option
@common_options
@pass_options
def command(
    options: Options,
    proposal: str | None,
    refinement_file: Path | None,
    trace_file: Path | None,
    only: tuple[tuple[int, ...], ...],
    reject: tuple[tuple[int, ...], ...],
    allow_low_confidence: bool,
    skip_trace_check: bool,
    require_gain: bool,
    dry_run: bool,
    show_cypher: bool,
    export: bool,
    refresh_wiki: bool,
) -> None:
    """Apply PROPOSAL to the graph: all of its actions in one transaction, or none.

    A proposal is named by its id, or the beginning of it, as `status` lists them. The store is changed; graph.json
    is written by `export`, by --export, or always with the setting auto_export.
    """
    from deeprefine_graphdb.project.apply import apply_proposal, preview
    from deeprefine_graphdb.project.folding import FOLD_AT_ONCE_BYTES, fold_if_long
    from deeprefine_graphdb.provenance.records import RefinementFlags

    check_source(proposal, refinement_file, trace_file)
    if skip_trace_check and refinement_file is None:
        raise UsageError("--skip-trace-check goes with --refinement-file.")
    if show_cypher and not dry_run:
        raise UsageError("--show-cypher goes with --dry-run.")
    if dry_run and (export or refresh_wiki):
        raise UsageError("--dry-run changes nothing, so it takes neither --export nor --refresh-wiki.")
    flags = RefinementFlags(
        allow_low_confidence=allow_low_confidence,
        skip_trace_check=skip_trace_check,
        require_gain=require_gain,
        only=flat(only),
        reject=flat(reject),
    )
    base = options.base()
    body, records = _find(base, proposal, refinement_file, trace_file, check=not skip_trace_check)
    if dry_run:
        plan = preview(base, body, by=person(), flags=flags, records=records)
        _show_plan(options, base, plan, show_cypher)
        return
    report = apply_proposal(base, body, by=person(), flags=flags, records=records)
    emit(options, report, lambda: _text(report))
    if fold_if_long(base, at_least=FOLD_AT_ONCE_BYTES):
        note(options, "The store's write-ahead log had grown long and was folded.")
    if export or refresh_wiki or options.settings().flag("auto_export"):
        _write_graph(options, base, refresh_wiki)
    else:
        note(options, "graph.json is as it was; `deeprefine-db export` writes it.")


def _find(
    base: KnowledgeBase,
    proposal: str | None,
    refinement_file: Path | None,
    trace_file: Path | None,
    *,
    check: bool,
) -> tuple[ProposalBody, tuple[NewRecord, ...]]:
    """Give the proposal, and the records that the log has to hold before it where it comes from files."""
    log = base.log()
    if refinement_file is None:
        return log.proposal(proposal or "")[1], ()
    from deeprefine_graphdb.project.proposals import new_records, proposal_of_files

    reviewed = proposal_of_files(base, refinement_file, trace_file, check=check)
    return reviewed.proposal, new_records(log, reviewed)


def _show_plan(options: Options, base: KnowledgeBase, prepared: Preview, show_cypher: bool) -> None:
    from deeprefine_graphdb.grammar.actions import format_action

    plan = prepared.plan
    if show_cypher:
        record = [statement_record(base, statement) for statement in prepared.program]
        emit(options, record, lambda: "\n".join(map(_statement_text, record)))
        return
    effects = {effect.action: effect for effect in plan.effects}
    rows = [
        (
            number,
            bound.intent.kind,
            format_action(bound.action),
            effects[bound.id].outcome,
            effects[bound.id].note,
        )
        for number, bound in zip(plan.numbers, plan.bound, strict=True)
    ]
    record = [dict(zip(("number", "kind", "action", "outcome", "note"), row, strict=True)) for row in rows]
    emit(options, record, lambda: table(("n", "kind", "action", "outcome", "note"), rows, cell_width=100))
    note(options, f"Nothing was changed. {len(prepared.program)} statements would run.")


def statement_record(base: KnowledgeBase, statement: Statement) -> dict[str, Any]:
    """Give a statement as it would run: its name, its text for the store's engine, and its parameters."""
    from deeprefine_graphdb.stores.statements import load
    from deeprefine_graphdb.stores.urls import parse_url

    text = load(statement.name, parse_url(base.url).engine).text
    return {"name": statement.name, "text": text, "params": statement.params}


def _statement_text(record: dict[str, Any]) -> str:
    return f"// {record['name']}\n{record['text']};\n// {json.dumps(record['params'], ensure_ascii=False)}"


def _text(report: ApplyReport) -> str:
    refinement = report.refinement
    rows = (
        (action.number, action.kind, _triple(action), action.outcome, action.note)
        for action in refinement.actions
    )
    head = f"Applied as refinement {refinement.id} (graph revision {report.revision})."
    return head + "\n" + table(("n", "kind", "what", "outcome", "note"), rows, cell_width=100)


def _triple(action: ActionEntry) -> str:
    if action.kind in {"rename", "merge"}:
        return f"{action.subject} → {action.object}"
    return f"{action.subject} | {action.relation} | {action.object}"


def _write_graph(options: Options, base: KnowledgeBase, refresh_wiki: bool) -> None:
    from deeprefine_graphdb.project.export import export
    from deeprefine_graphdb.project.wiki import refresh

    note(options, f"Wrote {export(base).path}.")
    if refresh_wiki:
        note(options, refresh(base.project))
