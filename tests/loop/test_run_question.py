"""One question through the real client over HTTP: every way it can go, saved at each step."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path

import pytest
from pydantic import SecretStr

from deeprefine_graphdb.loop.budget import Budget
from deeprefine_graphdb.loop.driver import LoopOutcome, run_question
from deeprefine_graphdb.loop.llm import CallFailed, ChatModel, ModelSettings
from deeprefine_graphdb.loop.trace import LoopTrace, load_trace, new_trace, save_trace
from deeprefine_graphdb.model.actions import InsertEdge
from deeprefine_graphdb.model.errors import LimitReached, ModelError, UsageError
from tests.support.chain_retriever import ChainRetriever
from tests.support.openai_server import Answer, OpenAIServer, by_stage, in_order

QUESTION = "what calls n2?"
YES, NO = "<judge>Yes</judge>", "<judge>No</judge>"
ABDUCTION = "<abduction>a fact is missing</abduction>"
REFINEMENT = '<refinement>insert_edge("a", "calls", "b")</refinement>'


class Run:
    """One question, its trace file, and everything that was said."""

    def __init__(self, folder: Path, server: OpenAIServer, **settings: object) -> None:
        self.path = folder / "loop_trace.json"
        self.model = ChatModel(ModelSettings.model_validate({"url": server.url, "timeout": 10, **settings}))
        self.retriever = ChainRetriever()
        self.said: list[str] = []
        self.saved: list[LoopTrace] = []

    def __call__(self, budget: Budget | None = None) -> LoopOutcome:
        trace = load_trace(self.path) if self.path.exists() else new_trace(QUESTION)
        return run_question(QUESTION, self.retriever, self.model, trace, self._save, self.said.append, budget)

    def _save(self, trace: LoopTrace) -> None:
        save_trace(self.path, trace)
        self.saved.append(load_trace(self.path))


def test_early_exit_makes_one_call_and_proposes_nothing(tmp_path: Path) -> None:
    with OpenAIServer(in_order(YES)) as server:
        run = Run(tmp_path, server)
        outcome = run()
    assert (outcome.early_exit, outcome.actions, outcome.answerable, outcome.hops) == (True, (), True, 1)
    assert server.stages == ["judgement"]
    assert run.said == ["[Step: 1]", "2 triples: the chain's start", YES]
    assert load_trace(run.path).early_exit is True


def test_yes_at_hop_three_goes_on_to_abduction_and_refinement(tmp_path: Path) -> None:
    with OpenAIServer(in_order(NO, NO, YES, ABDUCTION, REFINEMENT)) as server:
        run = Run(tmp_path, server)
        outcome = run()
    assert server.stages == ["judgement"] * 3 + ["abduction", "refinement"]
    assert outcome.actions == (InsertEdge(subject="a", relation="calls", object="b"),)
    assert (outcome.early_exit, outcome.answerable, outcome.hops) == (False, True, 3)
    assert [text for text in run.said if text.startswith(("[", "<"))] == [
        "[Step: 1]", NO, "[Step: 2]", NO, "[Step: 3]", YES,
    ]  # fmt: skip
    refinement = server.chats[-1].user
    assert refinement.startswith("Original Text: def n0(): pass\n")
    assert "Error reasons: a fact is missing" in refinement
    assert f"Question: {QUESTION}" in refinement
    assert "KG: file.py::n0 | calls | file.py::n1\n" in refinement
    assert "Step3:\n" in server.chats[-2].user


def test_no_at_all_four_hops_is_refined(tmp_path: Path) -> None:
    with OpenAIServer(by_stage([NO])) as server:
        outcome = Run(tmp_path, server)()
    assert server.stages == ["judgement"] * 4 + ["abduction", "refinement"]
    assert (outcome.answerable, outcome.hops, len(outcome.actions)) == (False, 4, 1)


def test_each_hop_is_saved_before_the_next_one_starts(tmp_path: Path) -> None:
    with OpenAIServer(by_stage([NO])) as server:
        run = Run(tmp_path, server)
        seen: list[tuple[str, int]] = []

        def respond(request: object) -> str:
            trace = load_trace(run.path)
            pending = trace.pending_step
            seen.append((f"pending {pending.step}" if pending else "none", len(trace.interaction_history)))
            return by_stage([NO])(server.chats[-1])  # type: ignore[return-value]

        server.respond = respond
        run()
    assert seen == [*((f"pending {n}", n - 1) for n in range(1, 5)), ("none", 4), ("none", 4)]


@pytest.mark.parametrize("answered", range(6))
def test_a_run_that_dies_goes_on_at_its_first_unanswered_prompt(tmp_path: Path, answered: int) -> None:
    script: list[str | Answer] = [NO, NO, NO, YES, ABDUCTION, REFINEMENT]
    broken = [*script[:answered], Answer(status=400, message="out of order")]
    with OpenAIServer(in_order(*broken)) as server:
        run = Run(tmp_path, server)
        with pytest.raises(ModelError, match="out of order"):
            run()
        first_questions, first_asked = server.stages, list(run.retriever.asked)
        server.respond = in_order(*script[answered:])
        server.requests.clear()
        outcome = run()
        assert server.stages == [first_questions[-1], *_stages(script)[answered + 1 :]]
        assert len(server.chats) == len(script) - answered
        again = list(run.retriever.asked)
        server.requests.clear()
        assert run().actions == outcome.actions
        assert server.requests == []
    assert len(set(map(str, again))) == len(again), "a retrieval was repeated"
    assert again[: len(first_asked)] == first_asked
    assert [bool(call.error) for call in outcome.calls] == [place == answered for place in range(7)]
    assert outcome.tokens_in == 6 * 11
    assert outcome.tokens_out == 6 * 7


def _stages(script: list[str | Answer]) -> list[str]:
    return ["judgement"] * (len(script) - 2) + ["abduction", "refinement"]


def test_a_malformed_answer_is_asked_again_with_the_reason(tmp_path: Path) -> None:
    bad = "I would add insert_edge(a, calls, b)."
    with OpenAIServer(
        in_order("Perhaps.", "<judge>Maybe</judge>", NO, YES, ABDUCTION, bad, REFINEMENT)
    ) as server:
        run = Run(tmp_path, server)
        outcome = run()
    assert len(outcome.actions) == 1
    third = server.chats[2].messages
    assert [message["role"] for message in third] == [
        "system",
        "user",
        "assistant",
        "user",
        "assistant",
        "user",
    ]
    assert third[:2] == server.chats[0].messages
    assert third[2]["content"] == "Perhaps."
    assert "has no <judge>Yes</judge>" in third[3]["content"]
    assert "“Maybe” is neither Yes nor No" in third[5]["content"]
    assert "no <refinement>" in server.chats[-1].messages[-1]["content"]
    assert len(server.chats[3].messages) == 2, "an old malformed answer went into another prompt"
    assert [call.error[:28] for call in outcome.calls if call.error] == ["the answer could not be read"] * 3
    assert sum("asked again" in text for text in run.said) == 3
    assert outcome.trace.unread == []


def test_the_third_malformed_answer_fails_the_question_and_the_next_run_asks_afresh(tmp_path: Path) -> None:
    with OpenAIServer(in_order(NO, "a", "b", "c")) as server:
        run = Run(tmp_path, server)
        with pytest.raises(ModelError, match="could not be read after 3 answers") as failure:
            run()
        assert failure.value.exit_code == 6
        assert len(server.chats) == 4
        server.respond = in_order(YES, ABDUCTION, REFINEMENT)
        outcome = run()
    assert server.stages == ["judgement"] * 5 + ["abduction", "refinement"]
    assert len(server.chats[4].messages) == 2
    assert len(outcome.calls) == 7


def test_a_run_that_dies_while_asking_again_does_not_start_the_asking_over(tmp_path: Path) -> None:
    with OpenAIServer(in_order("a", "b", Answer(status=400, message="gone"))) as server:
        run = Run(tmp_path, server)
        with pytest.raises(ModelError, match="gone"):
            run()
        server.respond = in_order("c")
        with pytest.raises(ModelError, match="after 3 answers"):
            run()
    assert len(server.chats) == 4
    assert len(server.chats[-1].messages) == 6


def test_thoughts_and_fences_around_answers_are_no_obstacle(tmp_path: Path) -> None:
    answers = [
        "<think>maybe <judge>Yes</judge>?</think>\n<judge>No</judge>",
        f"```\n{YES}\n```",
        f"hmm</think>{ABDUCTION}",
        f"<think>{REFINEMENT}</think>```xml\n<refinement></refinement>\n```",
    ]
    with OpenAIServer(in_order(*answers)) as server:
        run = Run(tmp_path, server)
        outcome = run()
    assert (outcome.early_exit, outcome.actions) == (False, ())
    assert [step.judgement_raw for step in outcome.trace.interaction_history] == [NO, YES]
    assert outcome.trace.error_abduction_reason == "a fact is missing"


@pytest.mark.parametrize(
    ("answer", "reason"),
    [
        (Answer(text="<judge>Ye", finish_reason="length"), "finish_reason=length"),
        (Answer(text=NO, finish_reason="length"), "finish_reason=length"),
        (Answer(text=""), "its answer is empty"),
        (Answer(text=None), "its answer is empty"),
        (Answer(text="<think>and on and on"), "its answer is empty"),
        (Answer(text=NO, finish_reason="content_filter"), "content_filter"),
        (Answer(body='{"object": "chat.completion", "choices": []}'), "not a chat completion"),
        (Answer(body="<html>login</html>", headers={"Content-Type": "text/html"}), "not a chat completion"),
        (Answer(body="{", headers={"Content-Type": "application/json"}), "cannot be read"),
        (Answer(status=400, message="context length exceeded"), "status 400, context length exceeded"),
        (Answer(status=404, body='{"detail": "Not Found"}'), "Not Found"),
        (Answer(status=429, message="no credit", code="insufficient_quota"), "no credit"),
    ],
)
def test_an_unusable_answer_is_an_error_and_not_repeated(tmp_path: Path, answer: Answer, reason: str) -> None:
    with OpenAIServer(in_order(answer)) as server:
        run = Run(tmp_path, server)
        with pytest.raises(CallFailed) as failure:
            run()
    assert reason in failure.value.message
    assert failure.value.exit_code == 6
    assert len(server.chats) == 1
    calls = load_trace(run.path).calls
    assert [call.error for call in calls] == [failure.value.call.error]
    assert load_trace(run.path).pending_step is not None, "the retrieval was lost"


def test_tokens_models_and_digests_are_kept_for_every_call(tmp_path: Path) -> None:
    with OpenAIServer(by_stage([NO, NO, YES])) as server:
        run = Run(tmp_path, server, model="base", judge_model="judge", refine_model="refiner")
        outcome = run()
    assert [request.body["model"] for request in server.chats] == ["judge"] * 3 + ["refiner"] * 2
    assert [(call.stage, call.model) for call in outcome.calls] == [
        *[("judgement", "judge")] * 3, ("abduction", "refiner"), ("refinement", "refiner"),
    ]  # fmt: skip
    assert len({call.prompt_digest for call in outcome.calls}) == 5
    assert all(len(call.prompt_digest) == 64 and call.ts.endswith("Z") for call in outcome.calls)
    assert (outcome.tokens_in, outcome.tokens_out) == (55, 35)
    assert 0 < outcome.seconds < 60


def test_calls_stop_at_the_budget_and_a_repeated_run_finishes(tmp_path: Path) -> None:
    with OpenAIServer(by_stage([NO])) as server:
        run = Run(tmp_path, server)
        for calls in (2, 4):
            with pytest.raises(LimitReached, match="--max-calls") as stop:
                run(Budget(max_calls=2))
            assert stop.value.exit_code == 6
            assert len(server.chats) == calls
        outcome = run(Budget(max_calls=2))
    assert len(server.chats) == len(outcome.calls) == 6


def test_tokens_stop_at_the_budget_even_if_the_server_does_not_count(tmp_path: Path) -> None:
    with OpenAIServer(by_stage([NO])) as server:
        with pytest.raises(LimitReached, match="--max-tokens"):
            Run(tmp_path / "counted", server)(Budget(max_tokens=36))
        assert len(server.chats) == 2
    with OpenAIServer(by_stage([Answer(NO, usage=False)])) as server:
        budget = Budget(max_tokens=150)
        with pytest.raises(LimitReached, match="--max-tokens"):
            Run(tmp_path / "silent", server)(budget)
        assert 1 <= len(server.chats) <= 2
        assert budget.tokens >= 150


def test_an_exhausted_budget_does_not_even_retrieve(tmp_path: Path) -> None:
    with OpenAIServer(by_stage([NO])) as server:
        run = Run(tmp_path, server)
        with pytest.raises(LimitReached):
            run(Budget(max_calls=0))
    assert run.retriever.asked == []
    assert server.requests == []


def test_the_trace_of_another_question_is_refused(tmp_path: Path) -> None:
    with OpenAIServer() as server:
        run = Run(tmp_path, server)
        save_trace(run.path, new_trace("another question"))
        with pytest.raises(UsageError, match="another question"):
            run()


def test_no_key_reaches_the_trace_or_an_error(tmp_path: Path) -> None:
    secret = "sk-very-secret-0123456789"
    echo = Answer(status=401, message=f"Incorrect API key provided: {secret}. Bearer {secret}")
    with OpenAIServer(in_order(NO, echo)) as server:
        run = Run(tmp_path, server, key=SecretStr(secret))
        with pytest.raises(CallFailed) as failure:
            run()
        assert server.chats[0].headers["authorization"] == f"Bearer {secret}"
    chain: BaseException | None = failure.value
    while chain is not None:
        assert secret not in f"{chain} {chain!r} {getattr(chain, 'hint', '')}"
        chain = chain.__cause__ or chain.__context__
    assert "***" in failure.value.message
    assert "DEEPREFINE_LLM_API_KEY" in failure.value.hint
    assert secret not in run.path.read_text(encoding="utf-8")
    assert secret not in repr(run.model) + repr(run.model.settings) + str(run.model.settings)
    assert secret not in run.model.settings.model_dump_json()


def test_finished_trace_keeps_what_the_skill_needs(
    tmp_path: Path, skill_validates: Callable[..., list[str]]
) -> None:
    with OpenAIServer(by_stage([NO, YES])) as server:
        run = Run(tmp_path, server)
        run()
    record = json.loads(run.path.read_text(encoding="utf-8"))
    assert record["driver"] == "refine"
    assert record["mode"] == "agent-loop"
    assert skill_validates(record, refinement_text=record["refinement_raw"]) == []
