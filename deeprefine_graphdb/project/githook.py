"""git's hooks: behind graphify's own, which rebuilds graph.json in the background, ours syncs and exports."""

from __future__ import annotations

import os
import shlex
import subprocess
import sys
import time
from pathlib import Path

from deeprefine_graphdb.model.actions import Frozen
from deeprefine_graphdb.model.errors import UsageError
from deeprefine_graphdb.project import graphify
from deeprefine_graphdb.project import merge_driver as driver
from deeprefine_graphdb.project.export import export
from deeprefine_graphdb.project.knowledge_base import KnowledgeBase
from deeprefine_graphdb.project.marked import read_text, without_part
from deeprefine_graphdb.project.paths import ProjectPaths
from deeprefine_graphdb.project.sync import Say, SyncReport, sync
from deeprefine_loaders.atomic import replace_file

HOOKS = ("post-commit", "post-checkout", "post-merge", "post-rewrite")
START, END = "# deeprefine-db hook: start", "# deeprefine-db hook: end"
LOG = "hook.log"
SETTLED_SECONDS = 5.0
LONGEST_SECONDS = 3600.0
PAUSE = 0.2


class HookReport(Frozen):
    """Which of git's hooks have our part, after what was done, and whether git merges graph.json with us."""

    folder: str
    hooks: tuple[str, ...]
    merge_driver: bool = False


def install(project: ProjectPaths, *, merge_driver: bool = True) -> HookReport:
    """Put our part behind whatever git's hooks and .gitattributes have; a part that is there is written anew."""
    folder = hook_folder(project)
    folder.mkdir(parents=True, exist_ok=True)
    for name in HOOKS:
        path = folder / name
        rest = without_part(read_text(path), START, END) or "#!/bin/sh\n"
        if not rest.endswith("\n"):
            rest += "\n"
        replace_file(path, [(rest + _part(project)).encode("utf-8", "surrogateescape")])
        path.chmod(path.stat().st_mode | 0o111)
    if merge_driver:
        driver.install(project)
    return installed(project)


def uninstall(project: ProjectPaths) -> HookReport:
    """Take our part out of git's hooks and .gitattributes; a file of which nothing is left goes."""
    folder = hook_folder(project)
    for name in HOOKS:
        path = folder / name
        text = read_text(path)
        rest = without_part(text, START, END)
        if rest == text:
            continue
        if rest.strip() in {"", "#!/bin/sh"}:
            path.unlink()
        else:
            replace_file(path, [rest.encode("utf-8", "surrogateescape")])
    driver.uninstall(project)
    return installed(project)


def installed(project: ProjectPaths) -> HookReport:
    """Tell which of git's hooks have our part."""
    folder = hook_folder(project)
    return HookReport(
        folder=str(folder),
        hooks=tuple(name for name in HOOKS if START in read_text(folder / name)),
        merge_driver=driver.is_installed(project),
    )


def run(base: KnowledgeBase, say: Say) -> SyncReport:
    """Wait until graphify has been quiet for some seconds, then sync and export."""
    _wait_for_graphify(base.project)
    report = sync(base, say)
    export(base)
    return report


def hook_folder(project: ProjectPaths) -> Path:
    """Give the folder that git takes hooks from. Raises :class:`UsageError` outside a repository."""
    try:
        done = subprocess.run(
            ["git", "rev-parse", "--git-path", "hooks"],  # noqa: S607 - whichever git the user has
            cwd=project.root,
            capture_output=True,
            text=True,
            check=True,
        )
    except (OSError, subprocess.CalledProcessError) as error:
        raise UsageError(f"{project.root} is in no git repository.", "Run `git init` first.") from error
    return (project.root / done.stdout.strip()).resolve()


def _part(project: ProjectPaths) -> str:
    """Give our lines: they start a process that outlives the hook, and never make it fail."""
    command = shlex.join([
        sys.executable,
        "-m",
        "deeprefine_graphdb.cli.main",
        "--project-root",
        str(project.root),
        "hook",
        "run",
    ])
    log = shlex.quote(str(project.deeprefine / LOG))
    return (
        f"{START}\n"
        f'if [ -z "$DEEPREFINE_SKIP_HOOK" ] && [ -d {shlex.quote(str(project.deeprefine))} ]; then\n'
        f"  ( trap '' HUP; unset GIT_DIR GIT_INDEX_FILE GIT_WORK_TREE; {command} >>{log} 2>&1 </dev/null & ) || true\n"
        "fi\n"
        f"{END}\n"
    )


def _wait_for_graphify(project: ProjectPaths) -> None:
    """Wait until graphify's lock has been free, and graph.json unchanged, for a few seconds.

    graphify's own hook detaches its rebuild, which takes a moment before it takes the lock.
    """
    began = quiet = time.monotonic()
    stamp = _stamp(project.graph_json)
    while time.monotonic() - quiet < SETTLED_SECONDS and time.monotonic() - began < LONGEST_SECONDS:
        time.sleep(PAUSE)
        now = _stamp(project.graph_json)
        if now != stamp or graphify.is_rebuilding(project):
            stamp, quiet = now, time.monotonic()


def _stamp(path: Path) -> tuple[int, int] | None:
    try:
        found = os.stat(path)
    except FileNotFoundError:
        return None
    return found.st_mtime_ns, found.st_size
