"""Every setting says where it comes from, and no key is ever shown or sent where it was not meant to go."""

from __future__ import annotations

from pathlib import Path

import pytest

from deeprefine_graphdb.model.errors import UsageError
from deeprefine_graphdb.project.paths import ProjectPaths
from deeprefine_graphdb.project.settings import KNOWN, load_settings


@pytest.fixture
def project(tmp_path: Path) -> ProjectPaths:
    project = ProjectPaths(tmp_path)
    project.deeprefine.mkdir(parents=True)
    return project


def write(project: ProjectPaths, text: str) -> None:
    project.config.write_text(text, encoding="utf-8")


def test_flag_beats_environment_beats_file_beats_default(project: ProjectPaths) -> None:
    assert load_settings(project, {}, {}).values["model"].origin == "default"
    write(project, 'model = "from-file"')
    assert load_settings(project, {}, {}).text("model") == "from-file"
    env = {"DEEPREFINE_MODEL": "from-env"}
    assert load_settings(project, {}, env).text("model") == "from-env"
    settings = load_settings(project, {"model": "from-flag"}, env)
    assert (settings.text("model"), settings.origin("model")) == ("from-flag", "--model")


def test_the_store_lies_below_the_project_by_default(project: ProjectPaths) -> None:
    assert load_settings(project, {}, {}).text("store") == f"kuzu:{project.store}"
    assert load_settings(project, {"store": None}, {"DEEPREFINE_STORE": "kuzu:x"}).text("store") == "kuzu:x"


def test_a_relative_store_of_the_file_counts_from_the_root(project: ProjectPaths) -> None:
    write(project, 'store = "kuzu:db"')
    assert load_settings(project, {}, {}).text("store") == f"kuzu:{project.root / 'db'}"
    write(project, 'store = "neo4j://host/db"')
    assert load_settings(project, {}, {}).text("store") == "neo4j://host/db"


def test_models_when_none_is_named_are_those_of_the_contract(project: ProjectPaths) -> None:
    settings = load_settings(project, {}, {"OPENAI_API_KEY": "k"})
    assert settings.chat().model == "gpt-4.1-mini"
    embedding = settings.embedding()
    assert embedding is not None
    assert (embedding.model, embedding.url) == ("text-embedding-3-small", None)


def test_each_stage_can_have_its_own_model(project: ProjectPaths) -> None:
    settings = load_settings(project, {}, {"DEEPREFINE_JUDGE_MODEL": "small", "DEEPREFINE_MODEL": "big"})
    assert settings.chat("judge").model == "small"
    assert settings.chat("refine").model == "big"


def test_keys_fall_back_in_order(project: ProjectPaths) -> None:
    env = {"OPENAI_API_KEY": "o"}
    assert load_settings(project, {}, env).chat().key == "o"
    env["DEEPREFINE_API_KEY"] = "s"
    assert load_settings(project, {}, env).chat().key == "s"
    env["DEEPREFINE_LLM_API_KEY"] = "l"
    settings = load_settings(project, {}, env)
    assert settings.chat().key == "l"
    embedding = settings.embedding()
    assert embedding is None or embedding.key == "s"


def test_a_local_chat_model_sends_no_text_to_openai_for_embedding(project: ProjectPaths) -> None:
    env = {"OPENAI_API_KEY": "k", "DEEPREFINE_LLM_URL": "http://127.0.0.1:8000/v1"}
    assert load_settings(project, {}, env).embedding() is None
    env["DEEPREFINE_EMBED_URL"] = "http://127.0.0.1:8001/v1"
    embedding = load_settings(project, {}, env).embedding()
    assert embedding is not None
    assert embedding.url == "http://127.0.0.1:8001/v1"


def test_without_key_and_url_there_is_no_embedding(project: ProjectPaths) -> None:
    assert load_settings(project, {}, {}).embedding() is None


def test_the_openai_key_is_not_sent_to_a_url_of_the_projects_file(project: ProjectPaths) -> None:
    write(project, 'llm_url = "http://elsewhere.example/v1"')
    assert load_settings(project, {}, {"OPENAI_API_KEY": "k"}).chat().key == ""
    assert load_settings(project, {}, {"DEEPREFINE_API_KEY": "k"}).chat().key == "k"


def test_no_secret_is_shown(project: ProjectPaths) -> None:
    settings = load_settings(project, {}, {"DEEPREFINE_API_KEY": "sk-secret"})
    shown = {row["name"]: row for row in settings.shown()}
    assert shown["llm_key"]["value"] == "(set)"
    assert shown["llm_key"]["origin"] == "DEEPREFINE_API_KEY"
    assert "sk-secret" not in repr(settings.shown())
    assert "sk-secret" not in repr(settings.chat())
    assert [row["name"] for row in settings.shown()] == [known.name for known in KNOWN]


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("modle = 'x'", "`modle` that does not exist"),
        ("llm_key = 'x'", "holds the key"),
        ("jobs = 'two'", "must be a whole number"),
        ("jobs = true", "must be a whole number"),
        ("model = 1", "must be a text"),
        ("timeout = 'x'", "must be a number"),
        ("auto_export = 1", "must be true or false"),
        ("api_key = 'x'", "in the environment only"),
        ("jobs = 0", "from 1 to 64"),
        ("jobs = 65", "from 1 to 64"),
        ("timeout = -1", "from 0.001"),
        ("timeout = 0", "from 0.001"),
        ("timeout = nan", "from 0.001"),
        ("wait = inf", "from 0 to"),
        ("wait = 1e300", "from 0 to"),
        ("store = " + "[" * 100_000, "nested too deep"),
        ("jobs = [", "cannot be read"),
    ],
)
def test_a_wrong_file_is_refused_by_name(project: ProjectPaths, text: str, said: str) -> None:
    write(project, text)
    with pytest.raises(UsageError) as caught:
        load_settings(project, {}, {})
    assert said in str(caught.value)
    assert "config.toml" in str(caught.value)


def test_a_whole_number_is_taken_for_seconds(project: ProjectPaths) -> None:
    write(project, "timeout = 30\nauto_export = true\n")
    settings = load_settings(project, {}, {})
    assert settings.number("timeout") == 30.0
    assert settings.flag("auto_export") is True


@pytest.mark.parametrize(
    ("variable", "text"),
    [
        ("DEEPREFINE_JOBS", "many"),
        ("DEEPREFINE_JOBS", "9" * 5000),
        ("DEEPREFINE_AUTO_EXPORT", "perhaps"),
        ("DEEPREFINE_WAIT", "nan"),
        ("DEEPREFINE_WAIT", "inf"),
        ("DEEPREFINE_TIMEOUT", "0"),
    ],
)
def test_a_wrong_variable_is_refused_by_name(project: ProjectPaths, variable: str, text: str) -> None:
    with pytest.raises(UsageError, match=variable):
        load_settings(project, {}, {variable: text})


@pytest.mark.parametrize(
    "url", ["notaurl", "ftp://x/v1", "http://", "http://[::1/v1", "http://a b/v1", "http://x:y/"]
)
@pytest.mark.parametrize("variable", ["DEEPREFINE_LLM_URL", "DEEPREFINE_EMBED_URL"])
def test_a_url_that_is_none_is_refused_when_it_is_used(
    project: ProjectPaths, url: str, variable: str
) -> None:
    settings = load_settings(project, {}, {variable: url})
    with pytest.raises(UsageError, match=variable) as caught:
        settings.chat() if "LLM" in variable else settings.embedding()
    assert url == "http://" or url not in str(caught.value)
    write(project, f"llm_url = '{url}'")
    with pytest.raises(UsageError, match=r"config\.toml"):
        load_settings(project, {}, {}).chat()


@pytest.mark.parametrize("key", ["sk-a\nb", "sk-ä", "sk a", "sk-\x00"])
def test_a_key_that_cannot_be_sent_is_refused_and_not_shown(project: ProjectPaths, key: str) -> None:
    settings = load_settings(project, {}, {"DEEPREFINE_LLM_API_KEY": key, "DEEPREFINE_EMBED_API_KEY": key})
    for endpoint, variable in (
        (settings.chat, "DEEPREFINE_LLM_API_KEY"),
        (settings.embedding, "DEEPREFINE_EMBED_API_KEY"),
    ):
        with pytest.raises(UsageError, match=variable) as caught:
            endpoint()
        assert key not in str(caught.value)
        assert repr(key)[1:-1] not in str(caught.value)
