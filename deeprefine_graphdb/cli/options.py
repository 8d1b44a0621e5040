"""The options that every command takes, before or after its name, and what is made from them."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

import click

if TYPE_CHECKING:
    from deeprefine_graphdb.project.knowledge_base import KnowledgeBase
    from deeprefine_graphdb.project.paths import ProjectPaths
    from deeprefine_graphdb.project.settings import Settings, Value

Command = TypeVar("Command", bound=Callable[..., Any])


@dataclass
class Options:
    """Values of the common options; ``flags`` holds settings given by a command's own, by setting name."""

    project_root: Path | None = None
    store: str | None = None
    as_json: bool = False
    debug: bool = False
    quiet: bool = False
    flags: dict[str, Value] = field(default_factory=dict)
    _project: ProjectPaths | None = None
    _settings: Settings | None = None

    def project(self) -> ProjectPaths:
        """Find the knowledge base that the command is about."""
        from deeprefine_graphdb.project.paths import find_project

        if self._project is None:
            self._project = find_project(self.project_root)
        return self._project

    def settings(self) -> Settings:
        """Gather the settings of the knowledge base, the command's flags first."""
        from deeprefine_graphdb.project.settings import load_settings

        if self._settings is None:
            self._settings = load_settings(self.project(), {"store": self.store, **self.flags})
        return self._settings

    def base(self) -> KnowledgeBase:
        """Give the knowledge base with its store."""
        from deeprefine_graphdb.project.knowledge_base import KnowledgeBase

        return KnowledgeBase.of(self.project(), self.settings())


def _keep(ctx: click.Context, param: click.Parameter, value: Any) -> None:
    if value is not None and value is not False:
        setattr(ctx.find_root().ensure_object(Options), str(param.name), value)


def common_options(command: Command) -> Command:
    """Add the common options to a command or group."""
    options = (
        click.option(
            "--project-root",
            type=click.Path(path_type=Path),
            metavar="DIR",
            help="Folder with graphify-out/. Default: found by walking up from here.",
        ),
        click.option(
            "--store",
            metavar="URL",
            help="Store, as in kuzu:DIR. Default: a setting, else below graphify-out/.",
        ),
        click.option("--json", "as_json", is_flag=True, help="Print JSON: the stored record."),
        click.option("--debug", is_flag=True, help="Show a traceback when something fails."),
        click.option("--quiet", "-q", is_flag=True, help="Print no notes and no progress on stderr."),
    )
    for option in reversed(options):
        command = _hidden_from_call(option)(command)
    return command


def _hidden_from_call(option: Callable[[Command], Command]) -> Callable[[Command], Command]:
    def decorate(command: Command) -> Command:
        command = option(command)
        params: list[click.Parameter] = (
            command.params if isinstance(command, click.Command) else getattr(command, "__click_params__", [])
        )
        added = params[-1]
        added.expose_value = False
        added.callback = _keep
        return command

    return decorate


pass_options = click.make_pass_decorator(Options, ensure=True)
