"""The documentation and the command line say the same."""

from __future__ import annotations

import re
import runpy
from collections.abc import Iterator
from pathlib import Path

import click
import pytest

from benchmarks.__main__ import make_parser as benchmark_options
from deeprefine_graphdb.cli.main import COMMANDS, cli
from deeprefine_graphdb.project.settings import KNOWN

ROOT = Path(__file__).resolve().parents[1]
PAGES = sorted((ROOT / "docs").glob("*.md"))
TEXTS = [ROOT / "README.md", ROOT / "CHANGELOG.md", *PAGES]
FOREIGN = re.compile(r"(?:vllm|llama-server|ollama|pip|docker|graphify|uv)\b.*")


def leaves(
    command: click.Command, path: tuple[str, ...] = ()
) -> Iterator[tuple[tuple[str, ...], click.Command]]:
    if isinstance(command, click.Group):
        context = click.Context(command)
        for name in command.list_commands(context):
            sub = command.get_command(context, name)
            assert sub is not None
            yield from leaves(sub, (*path, name))
    else:
        yield path, command


ALL = dict(leaves(cli))
OPTIONS = {
    option
    for command in ALL.values()
    for parameter in command.params
    for option in (*parameter.opts, *parameter.secondary_opts)
}
OPTIONS |= {"--help", "--version"}
MEASURING = {option for action in benchmark_options()._actions for option in action.option_strings}


def commands_in(text: str) -> Iterator[list[str]]:
    """Yield the words of every ``deeprefine-db …`` in code of a page."""
    code = re.findall(r"```.*?```|`[^`\n]+`", text, re.DOTALL)
    for line in "\n".join(code).replace("`", "\n").splitlines():
        for found in re.finditer(r"deeprefine-db +([a-z-]+.*)", line.partition("  #")[0]):
            yield found[1].split()


@pytest.mark.parametrize("path", ALL, ids=" ".join)
def test_every_command_and_option_has_help(path: tuple[str, ...]) -> None:
    command = ALL[path]
    assert command.help
    assert len(command.help.splitlines()[0]) > 20
    without = [
        parameter.name
        for parameter in command.params
        if isinstance(parameter, click.Option) and not (parameter.help or "").strip()
    ]
    assert not without


def test_the_reference_is_what_the_commands_say() -> None:
    made = runpy.run_path(str(ROOT / "docs" / "generate.py"))["reference"]()
    assert (ROOT / "docs" / "commands.md").read_text(encoding="utf-8") == made, "run `make docs`"


@pytest.mark.parametrize("name", [name for name in COMMANDS if name != "demo"])
def test_every_command_has_a_place_on_a_task_page(name: str) -> None:
    pages = "\n".join(page.read_text(encoding="utf-8") for page in PAGES if page.name != "commands.md")
    assert re.search(rf"`(?:deeprefine-db )?{name}\b|deeprefine-db {name}\b", pages)


@pytest.mark.parametrize("page", TEXTS, ids=lambda page: page.name)
def test_pages_name_no_option_and_no_command_that_does_not_exist(page: Path) -> None:
    text = page.read_text(encoding="utf-8")
    ours = "\n".join(FOREIGN.sub("", line) for line in text.splitlines())
    named = set(re.findall(r"(?<![\w-])--[a-z][a-z-]*", ours)) - {"--max-"}
    assert named <= (OPTIONS | MEASURING if page.name == "performance.md" else OPTIONS)
    for words in commands_in(text):
        assert words[0] in COMMANDS, words


@pytest.mark.parametrize("page", TEXTS, ids=lambda page: page.name)
def test_commands_on_pages_take_the_options_that_they_are_given(page: Path) -> None:
    for words in commands_in(page.read_text(encoding="utf-8")):
        path = tuple(words[:2]) if tuple(words[:2]) in ALL else (words[0],)
        command = ALL.get(path)
        if command is None:
            continue
        taken = {
            option for parameter in command.params for option in (*parameter.opts, *parameter.secondary_opts)
        }
        assert {word for word in words if word.startswith("--")} <= taken | {"--help"}, words


@pytest.mark.parametrize("page", TEXTS, ids=lambda page: page.name)
def test_links_lead_somewhere(page: Path) -> None:
    for target in re.findall(r"\]\(([^)#]+)\)", page.read_text(encoding="utf-8")):
        if not target.startswith("http"):
            assert (page.parent / target).exists(), target


def test_settings_are_all_documented() -> None:
    text = "\n".join(
        (ROOT / "docs" / name).read_text(encoding="utf-8") for name in ("settings.md", "models.md")
    )
    for known in KNOWN:
        assert known.secret or f"`{known.name}`" in text
        assert [variable for variable in known.variables if f"`{variable}`" not in text] == []


def test_the_readme_begins_with_what_a_fresh_clone_can_run() -> None:
    text = (ROOT / "README.md").read_text(encoding="utf-8")
    assert text.index("make demo") < text.index("make test") < text.index("pip install .")
    targets = set(re.findall(r"^([a-z]+):", (ROOT / "Makefile").read_text(encoding="utf-8"), re.MULTILINE))
    assert set(re.findall(r"\bmake ([a-z]+)", text)) <= targets | {"sure"}
