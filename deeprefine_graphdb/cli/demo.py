"""``demo``: the whole way on a small knowledge base, with the real commands and recorded answers."""

from __future__ import annotations

import contextlib
import io
import json
import os
import shlex
import shutil
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import click

from deeprefine_graphdb.cli.options import Options, common_options, pass_options
from deeprefine_graphdb.cli.output import emit
from deeprefine_graphdb.model.errors import DeepRefineError

INTRO = """\
This demo runs on a copy of a small knowledge base: a shop in eight Python files, and the graph.json that graphify made
of them. No model is asked: the answers were recorded beforehand and are played back by a server on 127.0.0.1 to the
same client that talks to real models. Everything else is real: store, retrieval, review, transactions, log, export.
"""
CHAIN = "What happens after place_order() publishes order.placed?"
NAMES = "Which class is the PaymentProvider that charge_customer() uses?"
CALLS = "When does subscribe() call register()?"
FILES = "Which file contains the Order class?"
CONFLICT = 4


@click.command("demo")
@click.option(
    "--dir", "folder", type=click.Path(path_type=Path, file_okay=False), metavar="DIR", help="Keep it there."
)
@common_options
@pass_options
def command(options: Options, folder: Path | None) -> None:
    """Show the whole way on a small bundled knowledge base: no key, no server, recorded answers.

    Without --dir it works in a temporary folder that is removed at the end. With --json the story is told on stderr,
    and stdout has the commands with their results, and the lines in which graph.json differs.
    """
    from deeprefine_graphdb.project.demo import copy_demo
    from deeprefine_graphdb.project.recorded import RecordedSession, serving

    kept = folder is not None
    place = folder or Path(tempfile.mkdtemp(prefix="deeprefine-demo-"))
    session = RecordedSession.of_demo()
    try:
        root = copy_demo(place)
        click.echo(INTRO, err=options.as_json)
        with serving(session) as url, _no_other_model():
            _Demo(options, root, url).play()
        if session.left():
            raise DeepRefineError(
                f"{session.left()} recorded answers were never asked for.", "Report this as a bug."
            )
        if kept:
            click.echo(
                f"\nThe knowledge base is in {root}; go on with `deeprefine-db --project-root {root} status`."
            )
    finally:
        if not kept:
            shutil.rmtree(place, ignore_errors=True)


class _Demo:
    """Runs commands one after another and shows them; one that ends otherwise than it must ends the demo."""

    def __init__(self, options: Options, root: Path, url: str) -> None:
        self._options = options
        self._root = root
        self._url = url
        self._told: list[dict[str, Any]] = []

    def play(self) -> None:
        """Play it all."""
        from deeprefine_graphdb.project.demo import object_diff

        graph = self._root / "graphify-out" / "graph.json"
        before = self._root / "graph.before.json"
        shutil.copyfile(graph, before)
        self._head("Read graphify's graph into the store")
        self._run("sync")
        self._head(
            "Ask four questions; each that the graph cannot answer at once ends with a proposal, its review and a "
            "what-if"
        )
        for question in (CHAIN, NAMES, CALLS, FILES):
            self._run("history", "add", "--query", question)
        self._run("refine")
        chain, names, calls = self._proposals()
        self._head(
            "One action of the first proposal is LOW: as a whole it is refused, without that action it applies"
        )
        self._run("apply", chain, code=CONFLICT)
        self._run("apply", chain, "--reject", "4")
        self._run("apply", names, "--dry-run")
        self._run("apply", names)
        self._run("apply", calls)
        self._head("What happened, and why an edge is there")
        self._run("log")
        self._run("audit", "run", "question-changes", "-p", f"question={CHAIN}")
        self._run("audit", "run", "why-edge", "-p", "subject=place_order()", "-p", "object=charge_customer()")
        self._run(
            "cypher",
            "MATCH (q:Query)-[:HAS_TRACE]->(t:Trace)-[:HAS_STEP]->(s:Step) RETURN q.caption, count(s)",
        )
        self._run("audit", "verify")
        self._head("Write graph.json; what nothing touched keeps its bytes")
        self._run("export")
        self._run("export", "--check")
        difference = object_diff(before, graph)
        for line in difference:
            self._say(line, fg="red" if line.startswith("-") else "green")
        self._head("From place_order() the graph now leads on")
        self._run("expand", "place_order()", "--text", "triggers", "--limit", "3")
        self._run("status")
        if self._options.as_json:
            emit(self._options, {"commands": self._told, "diff": difference}, "")

    def _proposals(self) -> list[str]:
        """Give the ids of the proposals in the order of their questions."""
        log = self._child().base().log()
        ids = {entry.question: entry.id for entry in log.proposals()}
        return [ids[question] for question in (CHAIN, NAMES, CALLS)]

    def _child(self) -> Options:
        from deeprefine_graphdb.project.recorded import MODEL

        return Options(
            project_root=self._root,
            store=self._options.store,
            as_json=self._options.as_json,
            debug=self._options.debug,
            quiet=self._options.quiet,
            flags={"llm_url": self._url, "model": MODEL},
        )

    def _run(self, *arguments: str, code: int = 0) -> None:
        from deeprefine_graphdb.cli.main import run

        self._say(f"\n$ deeprefine-db {shlex.join(arguments)}", bold=True)
        if self._options.as_json:
            with contextlib.redirect_stdout(io.StringIO()) as shown:
                ended = run(arguments, self._child())
            result = json.loads(shown.getvalue() or "null")
            self._told.append({"command": arguments, "code": ended, "result": result})
        else:
            ended = run(arguments, self._child())
        if ended != code:
            raise DeepRefineError(
                f"`deeprefine-db {shlex.join(arguments)}` ended with {ended}, and the demo needs {code}.",
                "Run `deeprefine-db demo --debug` to see more.",
            )

    def _head(self, text: str) -> None:
        self._say(f"\n── {text} ──", fg="cyan")

    def _say(self, text: str, **style: Any) -> None:
        """Tell the story: on stdout, or with --json on stderr, so that stdout has JSON only."""
        click.secho(text, err=self._options.as_json, **style)


@contextlib.contextmanager
def _no_other_model() -> Iterator[None]:
    """Take away every variable that could send the demo's texts anywhere else, for as long as it runs."""
    taken = {
        name: os.environ.pop(name) for name in list(os.environ) if name.startswith(("DEEPREFINE_", "OPENAI_"))
    }
    try:
        yield
    finally:
        os.environ.update(taken)
