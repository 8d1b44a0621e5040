"""``deeprefine-db merge`` as git's merge driver of graph.json and of the manifest beside it.

graphify's own line for graph.json stays where it is, since graphify would put it back behind ours: of two lines that
name a driver git takes the last. Taking ours out again leaves graphify's in force.
"""

from __future__ import annotations

import shlex
import sys
from pathlib import Path

from deeprefine_graphdb.model.errors import DeepRefineError, UsageError
from deeprefine_graphdb.project import git
from deeprefine_graphdb.project.marked import read_text, without_part
from deeprefine_graphdb.project.paths import ProjectPaths, write_whole

START, END = "# deeprefine-db merge: start", "# deeprefine-db merge: end"
NAME = "deeprefine"
SECTION = f"merge.{NAME}"


def install(project: ProjectPaths) -> None:
    """Make git merge the files of a knowledge base with us: by a part at the end of .gitattributes, and git's settings.

    A part that is there is written anew. Raises :class:`UsageError` outside a repository, :class:`DeepRefineError` when
    git does not take the settings.
    """
    top = _top(project)
    settings = {
        "name": "deeprefine-db merge of graph.json",
        "driver": shlex.join([sys.executable, "-m", "deeprefine_graphdb.cli.main", "merge"]) + " %O %A %B %P",
    }
    for name, value in settings.items():
        if git.run(top, ["config", "--local", f"{SECTION}.{name}", value]) is None:
            raise DeepRefineError(f"git did not take the setting {SECTION}.{name}.")
    before = read_text(_attributes(top))
    rest = without_part(before, START, END)
    if rest and not rest.endswith("\n"):
        rest += "\n"
    wanted = rest + _part(project, top)
    if wanted != before:
        write_whole(_attributes(top), wanted)


def uninstall(project: ProjectPaths) -> None:
    """Take our part out of .gitattributes and out of git's settings; what else is there stays as it is."""
    top = _top(project)
    before = read_text(_attributes(top))
    rest = without_part(before, START, END)
    if rest != before:
        if rest:
            write_whole(_attributes(top), rest)
        else:
            _attributes(top).unlink()
    git.run(top, ["config", "--local", "--remove-section", SECTION])


def is_installed(project: ProjectPaths) -> bool:
    """Tell whether git merges graph.json with us."""
    top = git.top(project.root)
    if top is None or not git.text(top, "config", "--get", f"{SECTION}.driver"):
        return False
    told = git.text(top, "check-attr", "merge", "--", str(project.graph_json))
    return told.rpartition(": ")[2] == NAME


def _part(project: ProjectPaths, top: Path) -> str:
    below = project.root.resolve().relative_to(top.resolve())
    paths = ProjectPaths(below)
    files = (
        (paths.graph_json, f"merge={NAME} -text"),
        (paths.sidecar, f"merge={NAME} -text"),
        (paths.log / "*.jsonl", f"merge={NAME} -text"),
    )
    lines = (f"{_pattern(path.as_posix())} {says}\n" for path, says in files)
    return f"{START}\n{''.join(lines)}{END}\n"


def _pattern(path: str) -> str:
    """Write a path as .gitattributes has it, from the top of the repository on."""
    if any(character in path for character in ' "\\\t'):
        escaped = path.replace("\\", "\\\\").replace('"', '\\"')
        return f'"/{escaped}"'
    return f"/{path}"


def _top(project: ProjectPaths) -> Path:
    top = git.top(project.root)
    if top is None:
        raise UsageError(f"{project.root} is in no git repository.", "Run `git init` first.")
    return top


def _attributes(top: Path) -> Path:
    return top / ".gitattributes"
