"""The judgements of a what-if, through the real client over HTTP: how many there are, and how they end."""

from __future__ import annotations

import pytest

from deeprefine_graphdb.loop.budget import Budget
from deeprefine_graphdb.loop.llm import CallFailed, ChatModel, ModelSettings
from deeprefine_graphdb.loop.trace import Constants, LoopTrace, new_trace
from deeprefine_graphdb.loop.what_if import judge_again, new_what_if
from deeprefine_graphdb.model.errors import LimitReached, ModelError
from tests.support.chain_retriever import ChainRetriever
from tests.support.openai_server import Answer, OpenAIServer, by_stage, in_order

QUESTION = "what calls n2?"
YES, NO = "<judge>Yes</judge>", "<judge>No</judge>"


class Run:
    """One what-if, and everything that was said and saved."""

    def __init__(self, server: OpenAIServer, **constants: int) -> None:
        self.trace = new_what_if(QUESTION, Constants.model_validate(constants))
        self.model = ChatModel(ModelSettings(url=server.url, timeout=10))
        self.retriever = ChainRetriever()
        self.said: list[str] = []
        self.saved: list[str] = []

    def __call__(self, budget: Budget | None = None) -> LoopTrace:
        judge_again(self.trace, self.retriever, self.model, self._save, self.said.append, budget or Budget())
        return self.trace

    def _save(self, trace: LoopTrace) -> None:
        self.saved.append(trace.text())


@pytest.mark.parametrize("hop", [1, 2, 4])
def test_it_ends_at_the_first_yes(hop: int) -> None:
    with OpenAIServer(in_order(*[NO] * (hop - 1), YES)) as server:
        trace = Run(server)()
    assert server.stages == ["judgement"] * hop
    assert trace.answerable_at() == hop
    assert [step.num_hops for step in trace.interaction_history] == list(range(hop))


@pytest.mark.parametrize("hops", [1, 3, 4])
def test_it_ends_after_the_last_hop_and_asks_for_nothing_but_judgements(hops: int) -> None:
    with OpenAIServer(by_stage([NO])) as server:
        run = Run(server, max_hops=hops)
        trace = run()
        assert server.stages == ["judgement"] * hops
        run()
        assert len(server.chats) == hops, "a what-if that has ended was asked again"
    assert trace.answerable_at() is None
    assert not [asked for asked in run.retriever.asked if asked[0] == "source_text"]


def test_it_asks_with_the_very_prompt_of_the_loop() -> None:
    with OpenAIServer(in_order(YES)) as server:
        trace = Run(server)()
    (request,) = server.chats
    assert "judgement assistant" in request.messages[0]["content"]
    assert request.user.startswith(f"Question: {QUESTION}\nKnowledge Graph (KG) context: ")
    (call,) = trace.calls
    assert (call.tokens_in, call.tokens_out) == (11, 7)
    assert len(call.prompt_digest) == 64


def test_answers_that_cannot_be_read_are_among_the_calls_that_it_may_make() -> None:
    with OpenAIServer(in_order(NO, "Perhaps.", NO, "Maybe.", YES)) as server:
        run = Run(server, max_hops=4)
        with pytest.raises(ModelError, match="could not be read after 1 answer"):
            run()
        assert len(server.chats) == 4
    with OpenAIServer(in_order("a", NO, NO, NO)) as server:
        run = Run(server, max_hops=3)
        with pytest.raises(ModelError, match="used up"):
            run()
        assert len(server.chats) == 3


def test_it_is_counted_in_the_budget_of_the_run() -> None:
    with OpenAIServer(by_stage([NO])) as server:
        budget = Budget(max_calls=2)
        with pytest.raises(LimitReached, match="--max-calls"):
            Run(server)(budget)
        assert (len(server.chats), budget.calls, budget.tokens) == (2, 2, 36)
        run = Run(server)
        with pytest.raises(LimitReached):
            run(budget)
    assert run.retriever.asked == []


def test_one_that_died_goes_on_at_its_first_unanswered_prompt() -> None:
    with OpenAIServer(in_order(NO, Answer(status=400, message="gone"))) as server:
        run = Run(server)
        with pytest.raises(CallFailed, match="gone"):
            run()
        run.trace = LoopTrace.model_validate_json(run.saved[-1])
        asked = list(run.retriever.asked)
        server.respond = in_order(YES)
        assert run().answerable_at() == 2
        assert server.chats[1].messages == server.chats[2].messages
    assert run.retriever.asked == asked
    assert [bool(call.error) for call in run.trace.calls] == [False, True, False]


def test_its_calls_count_as_those_of_its_question_by_a_stage_of_their_own() -> None:
    with OpenAIServer(in_order(NO, YES)) as server:
        again = Run(server)()
    trace = new_trace(QUESTION)
    trace.what_if = again
    assert [call.stage for call in trace.all_calls()] == ["what_if", "what_if"]
    assert LoopTrace.model_validate_json(trace.text()).text() == trace.text()
