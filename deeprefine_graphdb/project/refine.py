"""Refining: the questions that are pending go through the loop, and each ends with a saved proposal."""

from __future__ import annotations

import traceback
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal

from pydantic import SecretStr

from deeprefine_graphdb.grammar.actions import format_action
from deeprefine_graphdb.loop.budget import Budget
from deeprefine_graphdb.loop.driver import LoopOutcome, Save, Say, Task, run_questions
from deeprefine_graphdb.loop.llm import ChatModel, ModelSettings
from deeprefine_graphdb.loop.trace import CallRecord, load_trace
from deeprefine_graphdb.loop.what_if import new_what_if
from deeprefine_graphdb.model.actions import Frozen
from deeprefine_graphdb.model.errors import (
    DeepRefineError,
    ModelError,
    NeedsDecision,
    NothingToDo,
    StatementError,
    StoreLocked,
)
from deeprefine_graphdb.project import history
from deeprefine_graphdb.project.apply import apply_proposal
from deeprefine_graphdb.project.files import ResultRow, append_result
from deeprefine_graphdb.project.knowledge_base import KnowledgeBase
from deeprefine_graphdb.project.proposals import propose, record_trace, stored, trace_body, write_reviewed
from deeprefine_graphdb.project.settings import Settings
from deeprefine_graphdb.project.sync import sync
from deeprefine_graphdb.project.what_if import Asking, what_if
from deeprefine_graphdb.provenance.log import Log
from deeprefine_graphdb.provenance.records import ProposalBody, RefinementFlags, TraceBody, now
from deeprefine_graphdb.retrieval.retriever import StoreRetriever
from deeprefine_graphdb.review.models import Review, WhatIf

WAITING = frozenset({"open", "approved", "stale"})
Row = dict[str, Any]


class Refined(Frozen):
    """What became of one question.

    ``outcome`` is ``early_exit`` (it can be answered from the graph at once), ``proposed``, ``applied``, ``nothing``
    (the model proposed no action), ``waiting`` (a proposal waits for a decision, so nothing was asked) or ``failed``.
    ``seconds`` is what the model took; ``error`` says why it failed or was not applied.
    """

    query_id: str
    question: str
    outcome: Literal["early_exit", "proposed", "applied", "nothing", "waiting", "failed"]
    hops: int = 0
    answerable: bool = False
    abduction: str = ""
    proposal_id: str | None = None
    refinement_id: str | None = None
    actions: tuple[str, ...] = ()
    review: Review | None = None
    calls: tuple[CallRecord, ...] = ()
    tokens_in: int = 0
    tokens_out: int = 0
    seconds: float = 0.0
    error: str = ""
    exit_code: int = 0


class RefineReport(Frozen):
    """All questions of a run in their order, and the exit code that they add up to."""

    questions: tuple[Refined, ...]

    @property
    def exit_code(self) -> int:
        """6 when a question failed at the model, else the first other failure's, 3 when nothing was to do."""
        codes = [
            NothingToDo.exit_code if each.outcome == "waiting" else each.exit_code for each in self.questions
        ]
        if ModelError.exit_code in codes:
            return ModelError.exit_code
        if all(code == NothingToDo.exit_code for code in codes):
            return NothingToDo.exit_code
        return next((code for code in codes if code not in {0, NothingToDo.exit_code}), 0)


@dataclass(frozen=True)
class RefineJob:
    """How to refine: ``again`` repeats what waits or is done, ``apply_by`` applies in that person's name.

    With ``what_if`` each question is judged again as its proposal would leave the graph; with ``require_gain`` only
    what helps then is applied. With ``debug`` the traceback of a failure that nobody foresaw is shown on stderr.
    """

    retriever: StoreRetriever
    model: ChatModel
    budget: Budget
    jobs: int = 1
    again: bool = False
    apply_by: str | None = None
    debug: bool = False
    what_if: bool = True
    require_gain: bool = False


def chat_model(settings: Settings, say: Say) -> ChatModel:
    """Make the client of the chat model that the settings name; ``say`` is told when it has to try again."""
    endpoint = settings.chat()
    return ChatModel(
        ModelSettings(
            url=endpoint.url or "",
            key=SecretStr(endpoint.key),
            model=endpoint.model,
            judge_model=settings.text("judge_model"),
            refine_model=settings.text("refine_model"),
            timeout=endpoint.timeout,
        ),
        say=say,
    )


def prepare(base: KnowledgeBase, say: Say) -> None:
    """Sync: the store is made when it is missing, brought up to a changed graph.json, and folded when it is slow."""
    for warning in sync(base, say).warnings:
        say(f"Warning: {warning}")


def refine_one(base: KnowledgeBase, question: str, job: RefineJob, say: Say) -> RefineReport:
    """Refine one question, which is recorded in the queue.

    Raises :class:`NothingToDo` when the queue has it as refined, unless ``job.again``.
    """
    row = history.ensure(base.project.history, question, source="cli")
    identity = history.row_id(row)
    waiting = {history.row_id(each) for each in history.read_history(base.project.history).pending()}
    if identity not in waiting:
        if not job.again:
            raise NothingToDo("This question is refined already.", "Ask it once more with --again.")
        history.mark_refined(base.project.history, [identity], refined=False)
    return _refine(base, [row], job, say)


def refine_pending(base: KnowledgeBase, job: RefineJob, say: Say) -> RefineReport:
    """Take over the questions of graphify's notes, then refine all that are pending, in file order.

    Raises :class:`NothingToDo` when there is none.
    """
    counts = history.sync_memory(base.project, say)
    if counts["added"]:
        say(f"{counts['added']} questions taken over from graphify's notes.")
    found = history.read_history(base.project.history)
    for problem in found.problems:
        say(problem)
    pending = found.pending()
    if not pending:
        raise NothingToDo("No question is pending.", 'Ask one with `deeprefine-db refine --query "…"`.')
    return _refine(base, pending, job, say)


def _refine(base: KnowledgeBase, rows: Sequence[Row], job: RefineJob, say: Say) -> RefineReport:
    log = base.log()
    done: dict[str, Refined] = {}
    tasks: list[Task] = []
    order = list(dict.fromkeys(history.query_id(str(row["query"])) for row in rows))
    for row in rows:
        question = str(row["query"]).strip()
        identity = history.query_id(question)
        known = None if job.again else _known(base, log, row, say)
        if known is not None:
            done[identity] = known
            continue
        path = base.project.trace(identity)
        if any(task.trace_path == path for task in tasks):
            continue
        _set_aside_recorded(log, path)
        tasks.append(Task(question, path))

    found: dict[str, WhatIf] = {}

    def proposed(outcome: LoopOutcome, save: Save, speak: Say) -> None:
        found[outcome.trace.query_id] = _ask_again(outcome, job, save, speak)

    def finished(outcome: LoopOutcome) -> None:
        identity = history.query_id(outcome.question)
        done[identity] = _finish(base, outcome, job, found.get(identity), say)

    if tasks:
        base.project.prepare()
        asking = proposed if job.what_if else None
        run_questions(tasks, job.retriever, job.model, say, job.budget, job.jobs, finished, asking)
    return RefineReport(questions=tuple(done[identity] for identity in order))


def _known(base: KnowledgeBase, log: Log, row: Row, say: Say) -> Refined | None:
    """Give what is known of a question without asking: its proposal waits, or it ended and was not marked yet."""
    question = str(row["query"]).strip()
    identity = history.query_id(question)
    waiting = [each for each in log.proposals() if each.query_id == identity and each.state in WAITING]
    if waiting:
        say(f"{question}: proposal {waiting[-1].id} waits for a decision; --again asks once more.")
        _write_lost_files(base, waiting[-1].id, identity, say)
        return Refined(query_id=identity, question=question, outcome="waiting", proposal_id=waiting[-1].id)
    traces = [(record, body) for record, body in log.bodies(TraceBody) if body.query_id == identity]
    proposed = {body.trace_id for _, body in log.bodies(ProposalBody)}
    if not traces or traces[-1][1].id in proposed or traces[-1][0].ts[:19] < str(row.get("ts", ""))[:19]:
        return None
    trace = traces[-1][1]
    history.mark_refined(base.project.history, [identity])
    return Refined(
        query_id=identity,
        question=question,
        outcome="early_exit" if trace.early_exit else "nothing",
        hops=len(trace.steps),
        answerable=bool(trace.answerable),
        abduction=trace.abduction,
    )


def _write_lost_files(base: KnowledgeBase, proposal_id: str, identity: str, say: Say) -> None:
    """Write the files of a proposal again: a kill between log and files has lost them."""
    files = (
        base.project.proposed(identity),
        *(base.project.review(identity, kind) for kind in ("md", "json")),
    )
    if all(path.exists() for path in files):
        return
    try:
        write_reviewed(base, stored(base, proposal_id))
    except (DeepRefineError, OSError) as error:
        say(f"The files of proposal {proposal_id} could not be written: {error}")


def _set_aside_recorded(log: Log, path: Path) -> None:
    """Take a finished trace that the log holds out of the way; an unfinished one is gone on with."""
    if not path.exists():
        return
    try:
        identity = trace_body(load_trace(path)).id
    except (DeepRefineError, ValueError):
        return  # its question fails by itself, and names the file
    if any(trace.id == identity for trace in log.traces()):
        path.rename(path.with_name(f"{path.stem}.{identity}.json"))


def _ask_again(outcome: LoopOutcome, job: RefineJob, save: Save, say: Say) -> WhatIf:
    """Ask what the proposal would bring; what is paid for that is kept in the question's own trace."""
    trace = outcome.trace
    before = trace_body(trace)
    again = trace.what_if or new_what_if(trace.query, trace.constants)
    trace.what_if = again
    asking = Asking(job.retriever, job.model, job.budget)
    found = what_if(before, outcome.actions, asking, again, lambda _: save(trace), say)
    save(trace)
    return found


def _finish(
    base: KnowledgeBase, outcome: LoopOutcome, job: RefineJob, found: WhatIf | None, say: Say
) -> Refined:
    """Keep what a question ended with; its own failure stays its own."""
    result = _result(outcome, job)
    if outcome.error is None:
        try:
            result = _keep(base, outcome, result, job, found)
        except Exception as error:  # whatever befalls a question, the others go on
            result = _failed(result, error, job)
            advice = _about_trace(base.project.trace(result.query_id), error)
            result = result.model_copy(update={"error": f"{result.error} {advice}".strip()})
    if result.outcome != "failed":
        try:
            append_result(base.project, _row(result))
        except OSError as error:
            say(f"The result could not be noted: {error.filename}: {error.strerror}.")
    if result.error:
        say(f"{result.question}: {result.error}")
    return result


def _about_trace(path: Path, error: Exception) -> str:
    """Say what becomes of the paid answers of a loop that could not be recorded.

    What a store cannot take it cannot take the next time: the trace would fail its question for ever.
    """
    if isinstance(error, StoreLocked | NeedsDecision) or not path.exists():
        return ""
    if isinstance(error, StatementError):
        aside = path.with_name(f"{path.stem}.unstorable.json")
        path.replace(aside)
        return f"Its answers are kept in {aside.name}, and the next run asks anew."
    return f"The next run records its answers; to ask anew instead, move {path} away."


def _keep(
    base: KnowledgeBase, outcome: LoopOutcome, result: Refined, job: RefineJob, found: WhatIf | None
) -> Refined:
    if outcome.early_exit or not outcome.actions:
        record_trace(base, outcome.trace)
        history.mark_refined(base.project.history, [result.query_id])
        return result.model_copy(update={"outcome": "early_exit" if outcome.early_exit else "nothing"})
    reviewed = propose(base, outcome.trace, outcome.actions, found)
    result = result.model_copy(
        update={"outcome": "proposed", "proposal_id": reviewed.proposal.id, "review": reviewed.review}
    )
    if job.apply_by is None:
        return result
    try:
        flags = RefinementFlags(require_gain=job.require_gain)
        report = apply_proposal(base, reviewed.proposal, by=job.apply_by, flags=flags)
    except (NeedsDecision, NothingToDo) as error:
        return result.model_copy(update={"error": str(error), "exit_code": error.exit_code})
    return result.model_copy(update={"outcome": "applied", "refinement_id": report.refinement.id})


def _result(outcome: LoopOutcome, job: RefineJob) -> Refined:
    trace = outcome.trace
    result = Refined(
        query_id=history.query_id(outcome.question),
        question=outcome.question.strip(),
        outcome="failed",
        hops=outcome.hops,
        answerable=outcome.answerable,
        abduction=trace.error_abduction_reason or "",
        actions=tuple(format_action(action) for action in outcome.actions),
        calls=outcome.calls,
        tokens_in=outcome.tokens_in,
        tokens_out=outcome.tokens_out,
        seconds=round(outcome.seconds, 3),
    )
    return _failed(result, outcome.error, job) if outcome.error is not None else result


def _failed(result: Refined, error: Exception, job: RefineJob) -> Refined:
    if isinstance(error, DeepRefineError):
        return result.model_copy(
            update={"outcome": "failed", "error": str(error), "exit_code": error.exit_code}
        )
    if job.debug:
        traceback.print_exception(error)
    if isinstance(error, OSError) and error.strerror:
        told = (
            f"{error.filename} cannot be used: {error.strerror}." if error.filename else f"{error.strerror}."
        )
    else:
        told = f"{type(error).__name__}: {error}. This was not foreseen; --debug shows where it happened."
    return result.model_copy(update={"outcome": "failed", "error": told, "exit_code": 1})


def _row(result: Refined) -> ResultRow:
    return ResultRow(
        query=result.question,
        query_id=result.query_id,
        early_exit=result.outcome == "early_exit",
        hops=result.hops,
        answerable=result.answerable,
        abduction=result.abduction,
        actions=list(result.actions),
        applied=result.outcome == "applied",
        refinement_id=result.refinement_id,
        model=", ".join(dict.fromkeys(call.model for call in result.calls)),
        tokens_in=result.tokens_in,
        tokens_out=result.tokens_out,
        seconds=result.seconds,
        ts=now(),
    )
