"""A queue of questions: each its own unit of failure, some at once, all resumable."""

from __future__ import annotations

import threading
import time
from collections.abc import Sequence
from pathlib import Path

import pytest

from deeprefine_graphdb.loop.budget import Budget
from deeprefine_graphdb.loop.driver import LoopOutcome, Task, run_questions
from deeprefine_graphdb.loop.llm import ChatModel, ModelSettings
from deeprefine_graphdb.loop.trace import load_trace, query_id, trace_file_name
from deeprefine_graphdb.model.errors import DeepRefineError, LimitReached, ModelError
from deeprefine_graphdb.retrieval.protocol import Retrieved
from tests.support.chain_retriever import ChainRetriever
from tests.support.openai_server import Answer, OpenAIServer, Request, by_stage

YES, NO = "<judge>Yes</judge>", "<judge>No</judge>"
QUESTIONS = [f"what calls n{number}?" for number in range(6)]


def _tasks(folder: Path, questions: Sequence[str] = QUESTIONS) -> list[Task]:
    return [Task(question, folder / trace_file_name(query_id(question))) for question in questions]


def _model(server: OpenAIServer) -> ChatModel:
    return ChatModel(ModelSettings(url=server.url, timeout=10, max_retries=1), sleep=lambda _: None)


@pytest.mark.parametrize("jobs", [1, 3])
def test_one_failing_question_does_not_stop_the_others(tmp_path: Path, jobs: int) -> None:
    broken = True

    def respond(request: Request) -> Answer | str:
        if broken and request.stage == "abduction" and "n2?" in request.user:
            return Answer(status=500, message="boom")
        return by_stage([NO])(request)

    with OpenAIServer(respond) as server:
        ended: list[str] = []
        main = threading.get_ident()

        def finished(outcome: LoopOutcome) -> None:
            assert threading.get_ident() == main
            ended.append(outcome.question)

        def run() -> list[LoopOutcome]:
            return run_questions(
                _tasks(tmp_path), ChainRetriever(), _model(server), print, jobs=jobs, finished=finished
            )

        outcomes = run()
        assert [outcome.question for outcome in outcomes] == QUESTIONS
        assert [outcome.error is not None for outcome in outcomes] == [n == 2 for n in range(6)]
        assert isinstance(outcomes[2].error, ModelError)
        assert len(outcomes[2].trace.interaction_history) == 4
        assert sorted(ended) == sorted(QUESTIONS)

        broken = False
        server.requests.clear()
        again = run()
        assert server.stages == ["abduction", "refinement"], "something was asked that was known"
        assert all(outcome.error is None and len(outcome.actions) == 1 for outcome in again)
        server.requests.clear()
        run()
        assert server.requests == []


def test_questions_run_at_once_and_retrieve_one_at_a_time(tmp_path: Path) -> None:
    barrier = threading.Barrier(3, timeout=20)

    def respond(request: Request) -> str:
        if request.stage == "judgement":
            barrier.wait()
        return YES

    class Guarded(ChainRetriever):
        busy = threading.Lock()

        def first(self, question: str, limit: int) -> Retrieved:
            assert self.busy.acquire(blocking=False), "two retrievals at once"
            try:
                time.sleep(0.05)
                return super().first(question, limit)
            finally:
                self.busy.release()

    said: list[str] = []
    with OpenAIServer(respond) as server:
        outcomes = run_questions(_tasks(tmp_path), Guarded(), _model(server), said.append, jobs=3)
        assert server.most_at_once == 3
    assert all(outcome.early_exit for outcome in outcomes)
    assert {text.split(" ", 1)[0] for text in said} == {query_id(question) for question in QUESTIONS}


def test_one_after_another_never_overlaps(tmp_path: Path) -> None:
    with OpenAIServer(by_stage([YES])) as server:
        run_questions(_tasks(tmp_path), ChainRetriever(), _model(server), print)
        assert server.most_at_once == 1


@pytest.mark.parametrize("jobs", [1, 4])
def test_the_budget_counts_over_all_questions(tmp_path: Path, jobs: int) -> None:
    with OpenAIServer(by_stage([NO])) as server:
        budget = Budget(max_calls=8)
        outcomes = run_questions(_tasks(tmp_path), ChainRetriever(), _model(server), print, budget, jobs)
        assert len(server.chats) == budget.calls == 8
        stopped = [outcome for outcome in outcomes if outcome.error]
        assert stopped
        assert all(isinstance(outcome.error, LimitReached) for outcome in stopped)
        rest = run_questions(_tasks(tmp_path), ChainRetriever(), _model(server), print, Budget(), jobs)
        assert len(server.chats) == 6 * 6, "something was paid twice"
        assert all(outcome.error is None for outcome in rest)
        assert sum(len(outcome.calls) for outcome in rest) == 36


def test_a_damaged_trace_or_an_odd_failure_is_one_questions_own(tmp_path: Path) -> None:
    class Odd(ChainRetriever):
        def first(self, question: str, limit: int) -> Retrieved:
            if "n1?" in question:
                raise RuntimeError("the index is odd")
            return super().first(question, limit)

    tasks = _tasks(tmp_path, [*QUESTIONS[:3], " "])
    tasks[0].trace_path.write_text("{", encoding="utf-8")
    with OpenAIServer(by_stage([YES])) as server:
        outcomes = run_questions(tasks, Odd(), _model(server), print)
    assert [type(outcome.error) for outcome in outcomes[:3]] == [DeepRefineError, RuntimeError, type(None)]
    assert "is empty" in str(outcomes[3].error)
    assert tasks[0].trace_path.read_text(encoding="utf-8") == "{", (
        "a file that could not be read was overwritten"
    )


@pytest.mark.parametrize("jobs", [1, 2])
def test_an_interrupt_stops_the_queue_and_loses_nothing(tmp_path: Path, jobs: int) -> None:
    def finished(outcome: LoopOutcome) -> None:
        raise KeyboardInterrupt

    with OpenAIServer(by_stage([NO])) as server:
        with pytest.raises(KeyboardInterrupt):
            run_questions(
                _tasks(tmp_path), ChainRetriever(), _model(server), print, jobs=jobs, finished=finished
            )
        assert len(server.chats) < 6 * 6
        run_questions(_tasks(tmp_path), ChainRetriever(), _model(server), print, jobs=jobs)
        assert len(server.chats) == 6 * 6
    for task in _tasks(tmp_path):
        assert len(load_trace(task.trace_path).calls) == 6
