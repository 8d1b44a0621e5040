"""Where everything of a knowledge base lies, below the folder that has ``graphify-out/graph.json``."""

from __future__ import annotations

import os
from dataclasses import dataclass
from pathlib import Path

from deeprefine_graphdb.model.errors import GraphFormatError, UsageError
from deeprefine_loaders.atomic import remove_left_overs, replace_file
from deeprefine_loaders.identity import has_surrogate

GITIGNORE = """\
# The store and the index are built from graph.json and the log; log/ is meant to be committed.
/store/
/store.*/
/index/
/bases/
/graph.json.before-update
/graph.json.bak
/hook.log
/here.json
*.lock
*.tmp
"""


@dataclass(frozen=True)
class ProjectPaths:
    """The files of one knowledge base; ``root`` is absolute. Asking for a path creates nothing."""

    root: Path

    @property
    def out(self) -> Path:
        """The folder that graphify writes."""
        return self.root / "graphify-out"

    @property
    def graph_json(self) -> Path:
        """The graph that graphify and this program exchange."""
        return self.out / "graph.json"

    @property
    def memory(self) -> Path:
        """The notes that graphify keeps of asked questions (``query_*.md``)."""
        return self.out / "memory"

    @property
    def deeprefine(self) -> Path:
        """The folder of everything that is ours."""
        return self.out / ".deeprefine"

    @property
    def store(self) -> Path:
        """The default place of an embedded store."""
        return self.deeprefine / "store"

    @property
    def bases(self) -> Path:
        """The folder of former bases, which files of other branches descend from."""
        return self.deeprefine / "bases"

    @property
    def log(self) -> Path:
        """The folder of the journals, one file a store, meant to be committed."""
        return self.deeprefine / "log"

    @property
    def here(self) -> Path:
        """What is true of this folder alone; never committed."""
        return self.deeprefine / "here.json"

    @property
    def index(self) -> Path:
        """The folder of the retrieval index and of embeddings."""
        return self.deeprefine / "index"

    @property
    def config(self) -> Path:
        """The settings of this knowledge base."""
        return self.deeprefine / "config.toml"

    @property
    def history(self) -> Path:
        """The queue of questions."""
        return self.deeprefine / "history.jsonl"

    @property
    def backup(self) -> Path:
        """The graph.json that the last export replaced."""
        return self.deeprefine / "graph.json.bak"

    @property
    def before_update(self) -> Path:
        """The graph.json that an update which is under way took the place of."""
        return self.deeprefine / "graph.json.before-update"

    @property
    def update_lock(self) -> Path:
        """The lock of an update."""
        return self.deeprefine / "update.lock"

    @property
    def sidecar(self) -> Path:
        """The manifest of the last export, meant to be committed with graph.json."""
        return self.deeprefine / "export.json"

    def trace(self, query_id: str) -> Path:
        """Give the loop trace of a question."""
        return self.deeprefine / f"loop_trace_{query_id}.json"

    def actions(self, query_id: str) -> Path:
        """Give the actions file that an agent's loop writes."""
        return self.deeprefine / f"refinement_actions_{query_id}.txt"

    def proposed(self, query_id: str) -> Path:
        """Give the actions file that ``refine`` writes."""
        return self.deeprefine / f"proposed_refinement_actions_{query_id}.txt"

    def review(self, query_id: str, suffix: str) -> Path:
        """Give the review of a question's proposal; ``suffix`` is ``md`` or ``json``."""
        return self.deeprefine / f"proposed_refinement_review_{query_id}.{suffix}"

    def what_if(self, proposal_id: str) -> Path:
        """Give the trace of a what-if of a proposal that is under way."""
        return self.deeprefine / f"what_if_{proposal_id}.json"

    def results(self, day: str) -> Path:
        """Give the results file of a day (``YYYYMMDD``)."""
        return self.deeprefine / f"refinement_results_{day}.jsonl"

    def shown(self, path: Path) -> str:
        """Give a path as messages and records name it: relative to the root, with ``/``."""
        try:
            return path.relative_to(self.root).as_posix()
        except ValueError:
            return str(path)

    def prepare(self) -> None:
        """Make ``graphify-out/.deeprefine`` and its ``.gitignore``, unless they are there; tidy up after the killed."""
        self.deeprefine.mkdir(parents=True, exist_ok=True)
        remove_left_overs(self.deeprefine)
        ignore = self.deeprefine / ".gitignore"
        if not ignore.exists():
            write_whole(ignore, GITIGNORE)


def find_project(given: Path | None = None, start: Path | None = None) -> ProjectPaths:
    """Find the knowledge base: the folder given, or the first one upwards from ``start`` (default: here).

    A folder counts when it has ``graphify-out/graph.json``, or ``graphify-out/.deeprefine`` where the file
    has been lost and can be exported again. Raises :class:`UsageError` when the given folder does not exist,
    and :class:`GraphFormatError` when there is no graph, or something that is no file has its name.
    """
    if given is not None:
        root = given.expanduser().absolute()
        if not root.is_dir():
            raise UsageError(
                f"The project root {given} is not a folder.", "Give the folder that has graphify-out/."
            )
        if not _is_project(root):
            raise GraphFormatError(
                f"{root / 'graphify-out' / 'graph.json'} does not exist.",
                "Run `graphify update .` there first, or give another --project-root.",
            )
        return _with_a_file(ProjectPaths(root))
    here = (start or Path.cwd()).absolute()
    for folder in (here, *here.parents):
        if _is_project(folder):
            return _with_a_file(ProjectPaths(folder))
    raise GraphFormatError(
        f"No graphify-out/graph.json in {here} or above it.",
        "Run `graphify update .` first, or say where it is with --project-root DIR.",
    )


def _with_a_file(project: ProjectPaths) -> ProjectPaths:
    """Refuse a graph.json that is a folder, a pipe or a device: a pipe would be waited for for ever."""
    if has_surrogate(str(project.root)):
        raise UsageError(
            f"The name of the folder {project.root} is not valid text, and no store can be opened in it.",
            "Rename it.",
        )
    if os.path.lexists(project.graph_json) and not project.graph_json.is_file():
        raise GraphFormatError(
            f"{project.graph_json} is not a file.", "Put the graph.json of graphify in its place."
        )
    return project


def _is_project(folder: Path) -> bool:
    out = folder / "graphify-out"
    return os.path.lexists(out / "graph.json") or (out / ".deeprefine").is_dir()


def write_whole(path: Path, text: str) -> None:
    """Write a text file so that a reader or a crash sees the old content or the new one, never a part."""
    path.parent.mkdir(parents=True, exist_ok=True)
    replace_file(path, [text.encode("utf-8", "surrogateescape")])
