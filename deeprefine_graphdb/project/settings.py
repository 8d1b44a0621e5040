"""Settings and where each one comes from: flag > environment > config.toml > default."""

from __future__ import annotations

import os
import tomllib
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

from deeprefine_graphdb.model.errors import UsageError
from deeprefine_graphdb.project.paths import ProjectPaths

Value = str | int | float | bool | None


@dataclass(frozen=True)
class Known:
    """A setting that exists: its type, default, environment variables in order of precedence, and meaning.

    ``least`` and ``most`` bound a number; no clock of the system counts much further.
    """

    name: str
    type: type
    default: Value
    variables: tuple[str, ...]
    meaning: str
    secret: bool = False
    least: float = 0
    most: float = 1_000_000


KINDS = {str: "a text", int: "a whole number", float: "a number", bool: "true or false"}
_SHARED_KEYS = ("DEEPREFINE_API_KEY", "OPENAI_API_KEY")
KNOWN = (
    Known("store", str, None, ("DEEPREFINE_STORE",), "URL of the store, as in kuzu:DIR"),
    Known("llm_url", str, None, ("DEEPREFINE_LLM_URL", "OPENAI_BASE_URL"), "chat completions endpoint"),
    Known("model", str, "gpt-4.1-mini", ("DEEPREFINE_MODEL",), "chat model"),
    Known("judge_model", str, None, ("DEEPREFINE_JUDGE_MODEL",), "model that judges; default: model"),
    Known("refine_model", str, None, ("DEEPREFINE_REFINE_MODEL",), "model that refines; default: model"),
    Known("embed_url", str, None, ("DEEPREFINE_EMBED_URL", "OPENAI_BASE_URL"), "embeddings endpoint"),
    Known("embed_model", str, "text-embedding-3-small", ("DEEPREFINE_EMBED_MODEL",), "embedding model"),
    Known(
        "timeout",
        float,
        120.0,
        ("DEEPREFINE_TIMEOUT",),
        "seconds to wait for one answer of a model",
        least=0.001,
    ),
    Known("jobs", int, 1, ("DEEPREFINE_JOBS",), "questions that refine works on at once", least=1, most=64),
    Known("wait", float, 5.0, ("DEEPREFINE_WAIT",), "seconds to wait for a store that is in use"),
    Known("auto_export", bool, False, ("DEEPREFINE_AUTO_EXPORT",), "whether apply always writes graph.json"),
    Known(
        "what_if", bool, True, ("DEEPREFINE_WHAT_IF",), "whether refine asks what each proposal would bring"
    ),
    Known("llm_key", str, "", ("DEEPREFINE_LLM_API_KEY", *_SHARED_KEYS), "key of llm_url", secret=True),
    Known("embed_key", str, "", ("DEEPREFINE_EMBED_API_KEY", *_SHARED_KEYS), "key of embed_url", secret=True),
)
BY_NAME = {known.name: known for known in KNOWN}


@dataclass(frozen=True)
class Setting:
    """A value and its origin: a flag, a variable's name, ``config.toml`` or ``default``."""

    name: str
    value: Value
    origin: str
    secret: bool = False

    def shown(self) -> Value:
        """Give the value as it may be printed; of a secret only whether it is set."""
        if self.secret:
            return "(set)" if self.value else "(not set)"
        return self.value


@dataclass(frozen=True)
class Endpoint:
    """An OpenAI-like service: ``url`` is ``None`` for OpenAI's own, ``key`` empty for a local server."""

    url: str | None
    model: str
    timeout: float
    key: str = field(default="", repr=False)


@dataclass(frozen=True)
class Settings:
    """All settings of one run."""

    values: Mapping[str, Setting]

    def text(self, name: str) -> str:
        """Give a text setting, ``""`` when it is unset."""
        return str(self.values[name].value or "")

    def number(self, name: str) -> float:
        """Give a numeric setting."""
        return float(self.values[name].value or 0)

    def flag(self, name: str) -> bool:
        """Give a yes-or-no setting."""
        return bool(self.values[name].value)

    def origin(self, name: str) -> str:
        """Give where a setting comes from."""
        return self.values[name].origin

    def shown(self) -> list[dict[str, Value]]:
        """Give name, value and origin of every setting in order, secrets masked."""
        return [{"name": s.name, "value": s.shown(), "origin": s.origin} for s in self.values.values()]

    def chat(self, stage: str = "") -> Endpoint:
        """Give the chat endpoint of a stage: ``judge``, ``refine`` or any.

        Raises :class:`UsageError` for a URL or a key that no request can be made with.
        """
        model = (self.text(f"{stage}_model") if stage else "") or self.text("model")
        return Endpoint(self._url("llm"), model, self.number("timeout"), self._key("llm"))

    def embedding(self) -> Endpoint | None:
        """Give the embeddings endpoint, or ``None`` when none is set and retrieval is lexical.

        OpenAI's own is used only when no URL is set anywhere and there is a key: a graph whose chat model is
        local is not sent elsewhere because a key happens to lie in the environment. Raises :class:`UsageError` as
        :meth:`chat` does.
        """
        url = self._url("embed")
        key = self._key("embed")
        if url is None and (self.text("llm_url") or not key):
            return None
        return Endpoint(url, self.text("embed_model"), self.number("timeout"), key)

    def _url(self, service: str) -> str | None:
        setting = self.values[f"{service}_url"]
        url = str(setting.value or "")
        if not url:
            return None
        if not _is_http(url):
            # The text itself is not shown: a password may be in it.
            raise UsageError(
                f"{setting.origin}: {setting.name} is not a URL of an OpenAI-compatible endpoint.",
                "It is written like http://127.0.0.1:8000/v1.",
            )
        return url

    def _key(self, service: str) -> str:
        """Give the key of a service; OPENAI_API_KEY is never sent to a URL that a config.toml names."""
        key = self.values[f"{service}_key"]
        if key.origin == "OPENAI_API_KEY" and self.origin(f"{service}_url") == "config.toml":
            return ""
        text = str(key.value or "")
        if not all("!" <= character <= "~" for character in text):
            raise UsageError(
                f"{key.origin} holds a key with a blank, a line break or another character that no key has.",
                "Set it again; it is sent as one word of ASCII.",
            )
        return text


def _is_http(url: str) -> bool:
    try:
        parts = urlsplit(url)
        has_place = bool(parts.hostname) and parts.port != 0
    except ValueError:
        return False
    return parts.scheme in {"http", "https"} and has_place and url.isprintable() and " " not in url


def load_settings(
    project: ProjectPaths,
    flags: Mapping[str, Value] | None = None,
    environment: Mapping[str, str] | None = None,
) -> Settings:
    """Gather the settings. ``flags`` holds what the command line gives, by name; ``None`` means not given.

    Raises :class:`UsageError` for a config.toml that cannot be read, that has a setting nobody knows, a value
    of the wrong type, or a key: keys belong in the environment, since the folder is meant to be shared.
    """
    env = os.environ if environment is None else environment
    config = _read_config(project.config)
    values = {known.name: _resolve(known, flags or {}, env, config, project) for known in KNOWN}
    return Settings(values)


def _resolve(
    known: Known,
    flags: Mapping[str, Value],
    env: Mapping[str, str],
    config: Mapping[str, Value],
    project: ProjectPaths,
) -> Setting:
    given = flags.get(known.name)
    if given is not None:
        return Setting(known.name, given, "--" + known.name.replace("_", "-"), known.secret)
    for variable in known.variables:
        text = env.get(variable, "").strip()
        if text:
            return Setting(known.name, _convert(known, text, variable), variable, known.secret)
    if known.name in config:
        return Setting(known.name, _at_root(known, config[known.name], project), "config.toml", known.secret)
    default = f"kuzu:{project.store}" if known.name == "store" else known.default
    return Setting(known.name, default, "default", known.secret)


def _at_root(known: Known, value: Value, project: ProjectPaths) -> Value:
    """Let the relative directory of a store in config.toml count from the root, from wherever a command is run."""
    scheme, colon, place = str(value).partition(":")
    if known.name != "store" or not colon or place.startswith("//"):
        return value
    return f"{scheme}:{project.root / place}"


def _convert(known: Known, text: str, variable: str) -> Value:
    if known.type is str:
        return text
    if known.type is bool:
        if text.lower() in {"1", "true", "yes", "on"}:
            return True
        if text.lower() in {"0", "false", "no", "off"}:
            return False
        raise UsageError(f"{variable}={text} is neither true nor false.", f"Set {variable} to true or false.")
    try:
        number: int | float = int(text) if known.type is int else float(text)
    except ValueError:
        raise UsageError(f"{variable}={text} is not a number.", f"Set {variable} to a number.") from None
    return _within(known, number, variable)


def _within(known: Known, number: int | float, where: str) -> int | float:
    if not known.least <= number <= known.most:
        raise UsageError(
            f"{where}: {known.name} is {number}.", f"It must be from {known.least} to {known.most}."
        )
    return number


def _read_config(path: Path) -> dict[str, Value]:
    try:
        data: dict[str, Any] = tomllib.loads(path.read_text(encoding="utf-8"))
    except FileNotFoundError:
        return {}
    except RecursionError:
        raise UsageError(f"{path} is nested too deep.", "Correct it, or move it away.") from None
    except (OSError, ValueError) as error:
        raise UsageError(f"{path} cannot be read: {error}.", "Correct it, or move it away.") from error
    for name, value in data.items():
        known = BY_NAME.get(name)
        if known is None and name.endswith("key"):
            raise UsageError(
                f"{path} has a setting `{name}` that does not exist.",
                "A key is set in the environment only, as DEEPREFINE_API_KEY.",
            )
        if known is None:
            names = ", ".join(k.name for k in KNOWN if not k.secret)
            raise UsageError(f"{path} has a setting `{name}` that does not exist.", f"There are: {names}.")
        if known.secret:
            raise UsageError(
                f"{path} holds the key `{name}`.",
                f"Remove it and set {known.variables[0]} in the environment.",
            )
        if known.type is float and type(value) is int:
            value = float(value)
        if type(value) is not known.type:
            raise UsageError(f"{path}: `{name}` must be {KINDS[known.type]}.", f"It is {value!r}.")
        if isinstance(value, (int, float)) and not isinstance(value, bool):
            value = _within(known, value, str(path))
        data[name] = value
    return data
