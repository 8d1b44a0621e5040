"""Drives the loop with a model: one question, or a queue of them."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor, as_completed
from dataclasses import dataclass
from functools import partial
from pathlib import Path

from deeprefine_graphdb.loop.budget import Budget
from deeprefine_graphdb.loop.llm import CallFailed, ChatModel, Message
from deeprefine_graphdb.loop.machine import (
    Ask,
    Done,
    Machine,
    ReadSources,
    RetrieveExpanded,
    RetrieveFirst,
)
from deeprefine_graphdb.loop.prompts import correction
from deeprefine_graphdb.loop.trace import (
    CallRecord,
    LoopTrace,
    Unread,
    load_trace,
    new_trace,
    query_id,
    save_trace,
)
from deeprefine_graphdb.model.actions import Action
from deeprefine_graphdb.model.errors import GrammarError, ModelError, UsageError
from deeprefine_graphdb.retrieval.protocol import Retrieved, Retriever

ASKED_AGAIN = 2

Say = Callable[[str], None]
Save = Callable[[LoopTrace], None]


@dataclass(frozen=True)
class LoopOutcome:
    """How a question ended: an early exit, actions (there may be none), or the ``error`` that stopped it.

    ``calls`` are all that were ever paid for the question, those of earlier runs too.
    """

    question: str
    trace: LoopTrace
    early_exit: bool = False
    actions: tuple[Action, ...] = ()
    error: Exception | None = None

    @property
    def calls(self) -> tuple[CallRecord, ...]:
        """Every call of the trace, in order, those of its what-if last."""
        return self.trace.all_calls()

    @property
    def tokens_in(self) -> int:
        """Tokens sent, all calls together."""
        return sum(call.tokens_in for call in self.calls)

    @property
    def tokens_out(self) -> int:
        """Tokens received, all calls together."""
        return sum(call.tokens_out for call in self.calls)

    @property
    def seconds(self) -> float:
        """Time spent waiting for the model, all calls together."""
        return sum(call.seconds for call in self.calls)

    @property
    def hops(self) -> int:
        """How many steps were judged."""
        return len(self.trace.interaction_history)

    @property
    def answerable(self) -> bool:
        """Whether the last judged step said Yes."""
        steps = self.trace.interaction_history
        return bool(steps) and steps[-1].answerable


@dataclass(frozen=True)
class Task:
    """A question of a queue and the file of its trace, which is resumed when it is there."""

    question: str
    trace_path: Path


def run_question(
    question: str,
    retriever: Retriever,
    model: ChatModel,
    trace: LoopTrace,
    save: Save,
    say: Say,
    budget: Budget | None = None,
) -> LoopOutcome:
    """Run the loop from where the trace stands to its end, saving the trace after everything that it learns.

    Raises :class:`ModelError` when the model fails or its answer cannot be read after being asked again twice,
    :class:`LimitReached` when the budget is used up; the saved trace then goes on at the same prompt.
    """
    if trace.query_id != query_id(question):
        raise UsageError(f"The trace is that of another question, {trace.query!r}.")
    budget = budget or Budget()
    machine = Machine(trace)
    announced = 0
    while True:
        need = machine.next()
        if isinstance(need, Done):
            return LoopOutcome(question, trace, need.early_exit, need.actions)
        if isinstance(need, RetrieveFirst | RetrieveExpanded | Ask) and need.step > announced:
            announced = need.step
            if not isinstance(need, Ask) or need.stage == "judgement":
                say(f"[Step: {need.step}]")
        match need:
            case RetrieveFirst():
                budget.check()
                take(machine, retriever.first(need.question, need.limit), say)
            case RetrieveExpanded():
                found = retriever.expand(need.question, need.entities, need.hops, need.limit)
                take(machine, found, say)
            case ReadSources():
                machine.sources(retriever.source_text(need.entities))
            case Ask():
                ask(machine, need, model, save, say, budget)
                if need.stage == "judgement":
                    say(trace.interaction_history[-1].judgement_raw)
        save(trace)


def run_questions(
    tasks: Sequence[Task],
    retriever: Retriever,
    model: ChatModel,
    say: Say,
    budget: Budget | None = None,
    jobs: int = 1,
    finished: Callable[[LoopOutcome], None] | None = None,
    proposed: Callable[[LoopOutcome, Save, Say], None] | None = None,
) -> list[LoopOutcome]:
    """Run a queue, ``jobs`` questions at once; one that fails has its ``error`` and does not stop the others.

    ``proposed`` is called in the question's own thread when the model has proposed actions, with what saves the trace
    and what speaks for the question. ``finished`` is called in the calling thread as soon as a question has ended, in
    whatever order. The outcomes come in the order of the tasks.
    """
    budget = budget or Budget()
    shared = _OneAtATime(retriever) if jobs > 1 else retriever
    speaker = _prefixed if jobs > 1 else _plain
    runs = [partial(_run_task, task, shared, model, speaker(say, task), budget, proposed) for task in tasks]
    outcomes: dict[int, LoopOutcome] = {}
    for place, outcome in _in_turn(runs) if jobs <= 1 else _at_once(runs, jobs, budget):
        outcomes[place] = outcome
        if finished is not None:
            finished(outcome)
    return [outcomes[place] for place in range(len(tasks))]


def take(machine: Machine, found: Retrieved, say: Say) -> None:
    """Give the machine what was retrieved, and say how it was."""
    machine.retrieved(found)
    pending = machine.trace.pending_step
    if pending is not None:
        say(f"{len(pending.retrieved_subgraph)} triples: {pending.retrieval.evidence}")


def ask(
    machine: Machine,
    wanted: Ask,
    model: ChatModel,
    save: Save,
    say: Say,
    budget: Budget,
    most_calls: int | None = None,
) -> None:
    """Put a prompt to the model until its answer can be read, and give the answer to the machine.

    An answer that cannot be read is asked again twice, or less often where the trace then has ``most_calls``. Raises
    :class:`ModelError` and :class:`LimitReached`; every call is in the trace.
    """
    trace = machine.trace
    while True:
        messages = _conversation(wanted, trace.unread)
        budget.start()
        try:
            reply = model.complete(wanted.stage, messages)
        except CallFailed as failure:
            _record(trace, failure.call, messages, "", budget)
            save(trace)
            raise
        try:
            machine.answer(reply.text, ts=reply.call.ts)
        except GrammarError as fault:
            record = reply.call.model_copy(update={"error": f"the answer could not be read: {fault.message}"})
            _record(trace, record, messages, reply.text, budget)
            answers = len(trace.unread) + 1
            given_up = answers > ASKED_AGAIN or (most_calls is not None and len(trace.calls) >= most_calls)
            # Given up, the next run asks afresh; killed in between, it goes on with what has been said.
            trace.unread = [] if given_up else [*trace.unread, Unread(text=reply.text, reason=fault.message)]
            save(trace)
            if given_up:
                raise ModelError(
                    f"The {wanted.stage} of {reply.call.model} could not be read after {answers} "
                    f"answer{'s' if answers > 1 else ''}: {fault.message}",
                    "Run the command again, or take another model.",
                ) from None
            say(f"The {wanted.stage} could not be read and is asked again: {fault.message}")
        else:
            _record(trace, reply.call, messages, reply.text, budget)
            return


def _conversation(wanted: Ask, unread: Sequence[Unread]) -> list[Message]:
    messages = [Message(role="system", content=wanted.system), Message(role="user", content=wanted.user)]
    for answer in unread:
        messages.append(Message(role="assistant", content=answer.text))
        messages.append(Message(role="user", content=correction(answer.reason)))
    return messages


def _record(
    trace: LoopTrace, call: CallRecord, messages: Sequence[Message], answer: str, budget: Budget
) -> None:
    trace.calls = [*trace.calls, call]
    budget.spend(call, sum(len(message["content"]) for message in messages) + len(answer))


def _run_task(
    task: Task,
    retriever: Retriever,
    model: ChatModel,
    say: Say,
    budget: Budget,
    proposed: Callable[[LoopOutcome, Save, Say], None] | None,
) -> LoopOutcome:
    trace = LoopTrace(query=task.question.strip())
    try:
        trace = load_trace(task.trace_path) if task.trace_path.exists() else new_trace(task.question)
        save = partial(save_trace, task.trace_path)
        outcome = run_question(task.question, retriever, model, trace, save, say, budget)
        if outcome.actions and proposed is not None:
            proposed(outcome, save, say)
        return outcome
    except Exception as error:  # whatever befalls a question, the others go on; the caller tells what it was
        return LoopOutcome(task.question, trace, error=error)


def _in_turn(runs: Sequence[Callable[[], LoopOutcome]]) -> Iterator[tuple[int, LoopOutcome]]:
    for place, run in enumerate(runs):
        yield place, run()


def _at_once(
    runs: Sequence[Callable[[], LoopOutcome]], jobs: int, budget: Budget
) -> Iterator[tuple[int, LoopOutcome]]:
    with ThreadPoolExecutor(jobs, thread_name_prefix="refine") as pool:
        places = {pool.submit(run): place for place, run in enumerate(runs)}
        try:
            for future in as_completed(places):
                yield places[future], future.result()
        except BaseException:
            budget.stop("The run was stopped.")
            pool.shutdown(wait=False, cancel_futures=True)
            raise


def _plain(say: Say, task: Task) -> Say:
    del task
    return say


def _prefixed(say: Say, task: Task) -> Say:
    def tell(text: str) -> None:
        say(f"{task.trace_path.stem.removeprefix('loop_trace_')} {text}")

    return tell


class _OneAtATime:
    """A retriever for several threads: engines and indexes answer one of them at a time."""

    def __init__(self, retriever: Retriever) -> None:
        self._retriever = retriever
        self._lock = threading.Lock()

    def first(self, question: str, limit: int) -> Retrieved:
        with self._lock:
            return self._retriever.first(question, limit)

    def expand(self, question: str, entity_ids: Sequence[str], hops: int, limit: int) -> Retrieved:
        with self._lock:
            return self._retriever.expand(question, entity_ids, hops, limit)

    def source_text(self, entity_ids: Sequence[str]) -> str:
        with self._lock:
            return self._retriever.source_text(entity_ids)
