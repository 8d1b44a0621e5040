"""Whatever JSON a server answers with is an answer, or one sentence and exit 6 for its question alone."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from deeprefine_graphdb.loop.completion import LONGEST_ANSWER
from deeprefine_graphdb.loop.driver import Task, run_questions
from deeprefine_graphdb.loop.llm import CallFailed, ChatModel, Message, ModelSettings
from deeprefine_graphdb.loop.trace import CallRecord, load_trace, query_id, trace_file_name
from deeprefine_graphdb.model.counts import MOST_TOKENS
from tests.support.chain_retriever import ChainRetriever
from tests.support.openai_server import Answer, OpenAIServer, Request, in_order

MESSAGES = [Message(role="system", content="s"), Message(role="user", content="u")]
MISSING: Any = object()


def body(message: Any = MISSING, **members: Any) -> str:
    """Give the text of a completion with one choice."""
    choice = {"index": 0, "finish_reason": "stop", "message": message}
    if message is MISSING:
        del choice["message"]
    completion = {"id": "1", "object": "chat.completion", "created": 1, "model": "m", "choices": [choice]}
    return json.dumps(completion | members)


def says(content: Any, **members: Any) -> str:
    return body({"role": "assistant", "content": content}, **members)


def ask(server: OpenAIServer) -> tuple[str, CallRecord]:
    reply = ChatModel(ModelSettings(url=server.url, max_retries=0)).complete("judgement", MESSAGES)
    return reply.text, reply.call


NO_ANSWER = {
    "message null": (body(None), "not a chat completion"),
    "no message": (body(), "not a chat completion"),
    "message a text": (body("hello"), "not a chat completion"),
    "message a list": (body([]), "not a chat completion"),
    "no choices": (json.dumps({"id": "1"}), "not a chat completion"),
    "choices null": (json.dumps({"choices": None}), "not a chat completion"),
    "choices empty": (json.dumps({"choices": []}), "not a chat completion"),
    "choices an object": (json.dumps({"choices": {"0": {}}}), "not a chat completion"),
    "choices of numbers": (json.dumps({"choices": [1]}), "not a chat completion"),
    "a list": ("[]", "not a chat completion"),
    "a number": ("5", "not a chat completion"),
    "null": ("null", "not a chat completion"),
    "no JSON": ("<html>", "cannot be read"),
    "nested too deep": ("[" * 100_000, "cannot be read"),
    "content null": (says(None), "is empty"),
    "content missing": (body({"role": "assistant"}), "is empty"),
    "content a number": (says(5), "is no text but a int"),
    "content an object": (says({"text": "x"}), "is no text but a dict"),
    "content of numbers": (says([5]), "a part of its answer is no text but a int"),
    "content of thoughts": (says([{"type": "thinking", "text": "x"}]), "is empty"),
    "content too large": (says("x" * (LONGEST_ANSWER + 1)), "at most 1,000,000 are taken"),
    "refused": (body({"role": "assistant", "content": None, "refusal": ["no"]}), "it refused"),
}


@pytest.mark.parametrize("name", NO_ANSWER)
def test_what_is_no_answer_fails_for_good_in_one_sentence(name: str) -> None:
    text, said = NO_ANSWER[name]
    with OpenAIServer(in_order(Answer(body=text))) as server, pytest.raises(CallFailed) as failure:
        ask(server)
    assert said in failure.value.message
    assert failure.value.exit_code == 6
    assert len(failure.value.message) < 500


def test_an_answer_in_parts_is_joined_without_its_thoughts() -> None:
    parts = [
        {"type": "thinking", "thinking": [{"type": "text", "text": "No"}]},
        {"type": "text", "text": "<judge>"},
        "Yes",
        {"type": "output_text", "text": "</judge>"},
        {"type": "image_url", "image_url": {"url": "x"}},
    ]
    with OpenAIServer(in_order(Answer(body=says(parts)))) as server:
        assert ask(server)[0] == "<judge>Yes</judge>"


@pytest.mark.parametrize(
    ("usage", "counted"),
    [
        ({"prompt_tokens": 3, "completion_tokens": 4.0}, (3, 4)),
        ({"prompt_tokens": -5, "completion_tokens": 1e30}, (0, 0)),
        ({"prompt_tokens": "many", "completion_tokens": 10**30}, (0, 0)),
        ({"prompt_tokens": None, "completion_tokens": True}, (0, 0)),
        ({"prompt_tokens": MOST_TOKENS + 1, "completion_tokens": [1]}, (0, 0)),
        ({}, (0, 0)),
        (None, (0, 0)),
        ("none", (0, 0)),
        ([], (0, 0)),
    ],
)
def test_only_counts_are_taken_as_tokens(usage: Any, counted: tuple[int, int]) -> None:
    with OpenAIServer(in_order(Answer(body=says("done", usage=usage)))) as server:
        call = ask(server)[1]
    assert (call.tokens_in, call.tokens_out) == counted
    assert type(call.tokens_in) is type(call.tokens_out) is int


json_values = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(), inner, max_size=3),
    max_leaves=6,
)
choices = st.fixed_dictionaries(
    {}, optional={"message": json_values, "finish_reason": json_values, "index": json_values}
) | st.fixed_dictionaries({
    "message": st.fixed_dictionaries(
        {}, optional={"content": json_values, "refusal": json_values, "role": json_values}
    )
})
bodies = json_values | st.fixed_dictionaries(
    {},
    optional={
        "choices": st.lists(choices | json_values, max_size=2) | json_values,
        "usage": st.dictionaries(st.sampled_from(["prompt_tokens", "completion_tokens"]), json_values)
        | json_values,
    },
)


def test_any_json_is_an_answer_or_a_failed_call() -> None:
    current: list[str] = []
    with OpenAIServer(lambda _: Answer(body=current[-1])) as server:
        model = ChatModel(ModelSettings(url=server.url, max_retries=0))

        @settings(max_examples=120, deadline=None)
        @given(bodies)
        def holds(value: Any) -> None:
            current.append(json.dumps(value))
            try:
                reply = model.complete("judgement", MESSAGES)
            except CallFailed as failure:
                call = failure.call
            else:
                assert reply.text.strip()
                call = reply.call
            assert 0 <= call.tokens_in <= MOST_TOKENS
            assert 0 <= call.tokens_out <= MOST_TOKENS

        holds()


def test_an_odd_answer_stops_its_own_question_only(tmp_path: Path) -> None:
    def respond(request: Request) -> Answer | str:
        return Answer(body=body(None)) if "n1?" in request.user else "<judge>Yes</judge>"

    questions = [f"what calls n{number}?" for number in range(3)]
    tasks = [Task(question, tmp_path / trace_file_name(query_id(question))) for question in questions]
    with OpenAIServer(respond) as server:
        model = ChatModel(ModelSettings(url=server.url, max_retries=0))
        outcomes = run_questions(tasks, ChainRetriever(), model, print)
    assert [type(outcome.error) for outcome in outcomes] == [type(None), CallFailed, type(None)]


def test_counts_that_no_store_takes_are_dropped_from_a_saved_trace(tmp_path: Path) -> None:
    question = "what calls n1?"
    path = tmp_path / trace_file_name(query_id(question))
    with OpenAIServer(in_order("<judge>Yes</judge>")) as server:
        model = ChatModel(ModelSettings(url=server.url))
        run_questions([Task(question, path)], ChainRetriever(), model, print)
    saved = json.loads(path.read_text(encoding="utf-8"))
    saved["calls"][0] |= {"tokens_in": -5, "tokens_out": 10**30, "retries": "x"}
    path.write_text(json.dumps(saved), encoding="utf-8")
    (call,) = load_trace(path).calls
    assert (call.tokens_in, call.tokens_out, call.retries) == (0, 0, 0)


def test_a_retry_is_told_with_its_reason() -> None:
    said: list[str] = []
    with OpenAIServer(in_order(Answer(status=500, message="on fire"), "done")) as server:
        ChatModel(ModelSettings(url=server.url), lambda _: None, said.append).complete("judgement", MESSAGES)
    assert said == ["gpt-4.1-mini: status 500, on fire; trying again in 0.5 s."]
