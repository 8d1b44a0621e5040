"""``update``: graphify works on the base and not on our export, so that nothing of either is lost."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager

from deeprefine_graphdb import stores
from deeprefine_graphdb.model.actions import Frozen
from deeprefine_graphdb.model.errors import DeepRefineError, StoreMissing
from deeprefine_graphdb.project import graphify
from deeprefine_graphdb.project.export import ExportReport, export
from deeprefine_graphdb.project.interrupted import finish_update, recover, start_update, update_lock
from deeprefine_graphdb.project.knowledge_base import KnowledgeBase
from deeprefine_graphdb.project.sync import Say, SyncReport, take_in
from deeprefine_loaders.atomic import replace_file
from deeprefine_loaders.basefile import BaseFile

COMMANDS = frozenset({"update", "cluster-only", "label", "add", "extract"})
"""Commands of graphify's that write graph.json; without one of them, ``update`` is meant."""


class UpdateReport(Frozen):
    """What graphify was asked for, and what the sync and the export after it did."""

    command: tuple[str, ...]
    sync: SyncReport
    export: ExportReport


def update(
    base: KnowledgeBase, arguments: Sequence[str], *, say: Say, quiet_stdout: bool = False
) -> UpdateReport:
    """Put the base in place of graph.json, run graphify on it, take in what it made, and export.

    Raises :class:`DeepRefineError` when graphify fails: graph.json is then as it was before. A kill at any moment
    leaves a state from which the next sync, export or update goes on by itself.
    """
    graphify.program()
    command = graphify_command(arguments)
    if not base.has_store():
        raise StoreMissing(f"There is no store at {base.url}.", "Run `deeprefine-db sync` first.")
    with update_lock(base) as held:
        recover(base, running=True)
        take_in(base, say)
        with _base_in_place(base):
            say(f"Running graphify {' '.join(command)} on the graph without refinements …")
            code = graphify.run(base.project, command, held=held, quiet_stdout=quiet_stdout)
            if code:
                raise DeepRefineError(
                    f"graphify {' '.join(command)} ended with the code {code}.",
                    "graph.json is as it was before, and no refinement is lost.",
                )
        taken = take_in(base, say)
        finish_update(base)
        return UpdateReport(command=command, sync=taken, export=export(base))


def graphify_command(arguments: Sequence[str]) -> tuple[str, ...]:
    """Give the command line of graphify: ``update`` of the project unless something else is asked for."""
    given = tuple(arguments)
    if given and given[0] in COMMANDS:
        return given
    has_path = any(not one.startswith("-") for one in given)
    return ("update", *(() if has_path else (".",)), *given)


@contextmanager
def _base_in_place(base: KnowledgeBase) -> Iterator[None]:
    """Have the base's own bytes as graph.json; when the block fails, the file that was there is put back."""
    path, saved = base.project.graph_json, base.project.before_update
    directory = stores.base_path(base.url)
    if directory is None:
        raise StoreMissing(f"There is no store at {base.url}.", "Run `deeprefine-db sync` first.")
    start_update(base)
    try:
        with graphify.rebuild_lock(base.project, base.wait):
            kept = BaseFile.open(directory)
            try:
                replace_file(path, kept.chunks(), backup=saved)
            finally:
                kept.close()
        yield
    except BaseException:
        recover(base, running=True, put_back=True)
        raise
