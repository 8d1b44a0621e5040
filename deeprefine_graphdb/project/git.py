"""Asking git for what it keeps. Where there is no git, or no repository, there is nothing."""

from __future__ import annotations

import json
import os
import subprocess
from collections.abc import Iterable, Iterator, Sequence
from contextlib import suppress
from pathlib import Path

from deeprefine_graphdb.graph.ancestor import State
from deeprefine_graphdb.project.paths import ProjectPaths
from deeprefine_graphdb.project.sidecar import parse_sidecar
from deeprefine_loaders.atomic import replace_file

MERGES = "deeprefine-merges"
KEPT_MERGES = 8
HEADS = ("HEAD", "MERGE_HEAD", "CHERRY_PICK_HEAD", "REBASE_HEAD", "REVERT_HEAD", "FETCH_HEAD", "ORIG_HEAD")
SEARCHED_COMMITS = 2000


def run(folder: Path, arguments: Sequence[str], given: bytes | None = None) -> bytes | None:
    """Give what a git command prints, or ``None`` when it fails or there is no git."""
    try:
        done = subprocess.run(
            ["git", *arguments],  # noqa: S607 - whichever git the user has
            cwd=folder,
            input=given,
            stdin=subprocess.DEVNULL if given is None else None,
            capture_output=True,
            check=True,
        )
    except (OSError, subprocess.CalledProcessError):
        return None
    return done.stdout


def text(folder: Path, *arguments: str) -> str:
    """Give what a git command prints as text without its line end, ``""`` when it fails."""
    return text_of(folder, arguments)


def text_of(folder: Path, arguments: Sequence[str], given: bytes | None = None) -> str:
    """Give what a git command that is given some input prints, as :func:`text` does."""
    found = run(folder, arguments, given)
    return "" if found is None else found.decode("utf-8", "surrogateescape").rstrip("\n")


def top(folder: Path) -> Path | None:
    """Give the top folder of the work tree that a folder is in."""
    found = text(folder, "rev-parse", "--show-toplevel")
    return Path(found) if found else None


def committed(project: ProjectPaths, path: Path) -> bytes | None:
    """Give a file of the knowledge base as it is in the last commit."""
    return run(project.root, ["cat-file", "blob", f"HEAD:./{project.shown(path)}"])


def blob(folder: Path, name: str) -> bytes | None:
    """Give the content of what ``<commit>:<path>`` or an object's id names, if it is a file."""
    return run(folder, ["cat-file", "blob", name])


def blob_id(folder: Path, path: Path) -> str:
    """Give the id that git has for the content of a file, as it is."""
    return text(folder, "hash-object", "--no-filters", "--", str(path.absolute()))


def commits_with(folder: Path, path: str, wanted: str) -> Iterator[str]:
    """Give commits in which a file, named from the repository's top, has the content with this id.

    What is being merged comes first, then all commits that touched the file, the newest first.
    """
    heads = [name.removeprefix("GITHEAD_") for name in os.environ if name.startswith("GITHEAD_")]
    yield from _with(folder, path, wanted, [*HEADS, *heads])
    touched = ["rev-list", "--all", "HEAD", f"--max-count={SEARCHED_COMMITS}", "--", f":(top){path}"]
    yield from _with(folder, path, wanted, text(folder, *touched).split())


def _with(folder: Path, path: str, wanted: str, commits: Sequence[str]) -> Iterator[str]:
    ids = _ids(folder, [f"{commit}:{path}" for commit in commits])
    yield from (commit for commit, found in zip(commits, ids, strict=True) if found == wanted)


def _ids(folder: Path, names: Sequence[str]) -> list[str]:
    """Give the ids of objects, ``""`` for one that is not there."""
    found = run(
        folder, ["cat-file", "--batch-check=%(objectname)"], "".join(f"{name}\n" for name in names).encode()
    )
    lines = [] if found is None else found.decode("utf-8", "surrogateescape").splitlines()
    if len(lines) != len(names):
        return [""] * len(names)
    return ["" if " " in line else line for line in lines]


def files_in(folder: Path, commit: str, path: str) -> list[str]:
    """Give the paths, from the repository's top, of the files right in a folder of a commit."""
    found = run(folder, ["ls-tree", "-z", "--name-only", "--full-tree", commit, f"{path.rstrip('/')}/"])
    return (
        []
        if found is None
        else [name.decode("utf-8", "surrogateescape") for name in found.split(b"\0") if name]
    )


def keep_merged(folder: Path, file_digest: str, sides: Iterable[str], sidecar: bytes) -> None:
    """Keep the manifest of a merged file by its digest, and by the digests of the files that were merged."""
    place = _merges(folder)
    if place is None:
        return
    with suppress(OSError):
        place.mkdir(exist_ok=True)
        for name in (file_digest, _of_sides(sides)):
            replace_file(place / f"{name}.json", [sidecar])
        kept = sorted(place.glob("*.json"), key=lambda path: path.stat().st_mtime_ns, reverse=True)
        for path in kept[2 * KEPT_MERGES :]:
            path.unlink(missing_ok=True)


def merged_of(folder: Path, sides: Iterable[str]) -> bytes | None:
    """Give the manifest of the file that the files with these digests were merged to, if it is kept."""
    return _read(_merges(folder), _of_sides(sides))


def merged_sidecar_in(folder: Path, file_digest: str) -> State | None:
    """Give the state of a file that a merge in this repository made."""
    found = _read(_merges(folder), file_digest)
    return None if found is None else parse_sidecar(found)


def digest_in_sidecar(data: bytes) -> str:
    """Give the digest of the file that a sidecar is of, ``""`` when it cannot be read."""
    try:
        return str(json.loads(data)["file_digest"])
    except (ValueError, KeyError, TypeError, RecursionError):
        return ""


def _merges(folder: Path) -> Path | None:
    found = text(folder, "rev-parse", "--git-path", MERGES)
    return (folder / found) if found else None


def _of_sides(sides: Iterable[str]) -> str:
    return "-".join(sorted(side[:24] for side in sides))


def _read(place: Path | None, name: str) -> bytes | None:
    try:
        return None if place is None else (place / f"{name}.json").read_bytes()
    except OSError:
        return None
