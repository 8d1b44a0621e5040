"""The client's patience and discretion: retries, waiting, keys, addresses."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from email.utils import format_datetime

import pytest
from pydantic import SecretStr

from deeprefine_graphdb.loop.llm import CallFailed, ChatModel, Message, ModelSettings
from deeprefine_graphdb.model.errors import ModelError
from tests.support.openai_server import Answer, OpenAIServer, in_order

MESSAGES = [Message(role="system", content="s"), Message(role="user", content="u")]


class Patient:
    """A chat model that notes how long it would have slept."""

    def __init__(self, server: OpenAIServer, **settings: object) -> None:
        self.slept: list[float] = []
        given = {"url": server.url, "model": "m", "timeout": 10, **settings}
        self.model = ChatModel(ModelSettings.model_validate(given), sleep=self.slept.append)


def test_retry_after_is_honoured_in_seconds_milliseconds_and_as_a_date() -> None:
    date = format_datetime(datetime.now(UTC) + timedelta(seconds=30), usegmt=True)
    limits = [
        Answer(status=429, headers={"Retry-After": "7"}),
        Answer(status=429, headers={"Retry-After": "90.5"}),
        Answer(status=503, headers={"retry-after-ms": "250", "Retry-After": "9"}),
        Answer(status=429, headers={"Retry-After": date}),
        Answer(status=429, headers={"Retry-After": "soon"}),
    ]
    with OpenAIServer(in_order(*limits, "done")) as server:
        patient = Patient(server)
        reply = patient.model.complete("judgement", MESSAGES)
    assert reply.text == "done"
    assert reply.call.retries == 5
    assert not reply.call.error
    assert patient.slept[:3] == [7, 90.5, 0.25]
    assert 20 < patient.slept[3] <= 30
    assert patient.slept[4] == 8
    assert len(server.chats) == 6


def test_a_429_is_waited_for_in_real_time() -> None:
    with OpenAIServer(in_order(Answer(status=429, headers={"Retry-After": "0.3"}), "done")) as server:
        model = ChatModel(ModelSettings(url=server.url, timeout=10))
        reply = model.complete("judgement", MESSAGES)
    assert reply.call.retries == 1
    assert 0.3 <= reply.call.seconds < 10


def test_a_wait_beyond_two_minutes_fails_and_says_so() -> None:
    with OpenAIServer(in_order(Answer(status=429, headers={"Retry-After": "3600"}))) as server:
        patient = Patient(server)
        with pytest.raises(CallFailed) as failure:
            patient.model.complete("judgement", MESSAGES)
    assert "wait 3600 seconds" in failure.value.hint
    assert patient.slept == []
    assert len(server.chats) == 1


def test_failures_that_may_pass_are_retried_and_then_given_up() -> None:
    passing = [
        Answer(status=500),
        Answer(drop=True),
        Answer(status=408),
        Answer(status=409),
        Answer(status=502),
    ]
    with OpenAIServer(in_order(*passing, "done")) as server:
        patient = Patient(server)
        assert patient.model.complete("abduction", MESSAGES).text == "done"
    assert patient.slept == [0.5, 1, 2, 4, 8]
    with OpenAIServer(lambda _: Answer(status=500, message="on fire")) as server:
        patient = Patient(server, max_retries=2)
        with pytest.raises(CallFailed, match="status 500, on fire") as failure:
            patient.model.complete("abduction", MESSAGES)
    assert len(server.chats) == 3
    assert failure.value.call.retries == 2
    assert "failed at the abduction" in failure.value.message


def test_a_slow_server_times_out() -> None:
    with OpenAIServer(lambda _: Answer("late", delay=1.5)) as server:
        patient = Patient(server, timeout=0.2, max_retries=1)
        with pytest.raises(CallFailed, match=r"did not answer within 0\.2 seconds"):
            patient.model.complete("judgement", MESSAGES)
    assert len(server.chats) == 2


def test_nobody_there_is_said_with_the_address() -> None:
    with OpenAIServer() as server:
        address = server.url
    model = ChatModel(ModelSettings(url=address, max_retries=0, timeout=5))
    with pytest.raises(CallFailed, match="cannot be reached") as failure:
        model.complete("judgement", MESSAGES)
    assert address in failure.value.message


def test_a_local_server_never_gets_the_key_of_openai(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("OPENAI_API_KEY", "sk-of-somewhere-else")
    monkeypatch.setenv("OPENAI_ADMIN_KEY", "sk-admin-of-somewhere-else")
    with OpenAIServer(in_order("done")) as server:
        Patient(server).model.complete("judgement", MESSAGES)
    assert "somewhere-else" not in str(server.chats[0].headers)


def test_without_key_and_address_there_is_nobody_to_ask() -> None:
    with pytest.raises(ModelError, match="no key and no endpoint") as failure:
        ChatModel(ModelSettings()).complete("judgement", MESSAGES)
    assert "DEEPREFINE_LLM_URL" in failure.value.hint


def test_password_and_query_of_an_address_are_not_shown() -> None:
    with OpenAIServer(lambda _: Answer(status=403, message="hunter2 and letmein are wrong")) as server:
        url = server.url.replace("http://", "http://me:hunter2@") + "?api-key=letmein"
        settings = ModelSettings(url=url, key=SecretStr("k-1234567"))
        assert "hunter2" not in settings.place + repr(ChatModel(settings))
        assert "letmein" not in settings.place + repr(ChatModel(settings)) + repr(settings)
        with pytest.raises(CallFailed) as failure:
            ChatModel(settings).complete("judgement", MESSAGES)
    assert server.requests[0].path == "/v1/chat/completions?api-key=letmein"
    assert "*** and *** are wrong" in failure.value.message
    assert "hunter2" not in str(failure.value)
    assert "letmein" not in str(failure.value)


def test_the_request_is_what_any_compatible_server_takes() -> None:
    with OpenAIServer(in_order("done")) as server:
        Patient(server).model.complete("judgement", MESSAGES)
    assert server.chats[0].body == {"model": "m", "messages": MESSAGES}


def test_half_characters_are_mended_both_ways() -> None:
    body = (
        '{"id":"1","object":"chat.completion","created":1,"model":"m","choices":[{"index":0,'
        '"finish_reason":"stop","message":{"role":"assistant","content":"a\\ud83db"}}]}'
    )
    with OpenAIServer(in_order(Answer(body=body))) as server:
        reply = Patient(server).model.complete("judgement", [Message(role="user", content="x\ud83dy")])
    assert reply.text == "a\ufffdb"
    assert server.chats[0].messages[0]["content"] == "x\ufffdy"
    assert (reply.call.tokens_in, reply.call.tokens_out) == (0, 0)


def test_a_key_is_not_shown_in_whatever_form_the_client_quotes_it() -> None:
    with OpenAIServer(in_order("done")) as server:
        patient = Patient(server, key="sk-line\nbreak", max_retries=0)
        with pytest.raises(CallFailed) as failure:
            patient.model.complete("judgement", MESSAGES)
    assert "sk-line" not in str(failure.value)
