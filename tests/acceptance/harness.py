"""The real command in processes of its own, on a knowledge base in a folder of the test's."""

from __future__ import annotations

import hashlib
import json
import lzma
import os
import subprocess
import sys
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from deeprefine_graphdb.project.demo import copy_demo
from tests.support.openai_server import Answer, Request

ENGINE = os.environ.get("DEEPREFINE_TEST_ENGINE", "kuzu")
DATA = Path(__file__).resolve().parents[1] / "data"
COMMAND = (sys.executable, "-m", "deeprefine_graphdb.cli.main")
LIMIT = 120
YES, NO = "<judge>Yes</judge>", "<judge>No</judge>"


@dataclass(frozen=True)
class Done:
    """How a process ended, and what it printed."""

    code: int
    out: str
    err: str

    @property
    def data(self) -> Any:
        """What was printed, as JSON."""
        return json.loads(self.out)


def environment(**more: str) -> dict[str, str]:
    """Give an environment in which nothing of the machine's own settings reaches the command."""
    kept = {
        name: value
        for name, value in os.environ.items()
        if not name.startswith(("OPENAI_", "DEEPREFINE_", "GRAPHIFY_", "GEMINI_", "GOOGLE_", "ANTHROPIC_"))
        and not name.lower().endswith("_proxy")
    }
    path = os.pathsep.join(str(Path(entry).absolute()) for entry in sys.path if entry)
    return {**kept, "PYTHONPATH": path, "NO_PROXY": "127.0.0.1", **more}


@dataclass(frozen=True)
class Base:
    """A knowledge base, and ``deeprefine-db`` run in it. ``env`` is set for every command."""

    root: Path
    env: dict[str, str] = field(default_factory=dict)

    @property
    def out(self) -> Path:
        return self.root / "graphify-out"

    @property
    def graph(self) -> Path:
        return self.out / "graph.json"

    @property
    def ours(self) -> Path:
        return self.out / ".deeprefine"

    @property
    def store(self) -> str:
        return f"{ENGINE}:{self.ours / 'store'}"

    def with_env(self, **more: str) -> Base:
        """Give the same knowledge base with further variables."""
        return Base(self.root, {**self.env, **more})

    def start(self, *arguments: str | Path, **options: Any) -> subprocess.Popen[str]:
        """Start a command; both its outputs are pipes."""
        return subprocess.Popen(
            [*COMMAND, *map(str, arguments)],
            cwd=self.root,
            env=environment(**{"DEEPREFINE_STORE": self.store, **self.env}),
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            encoding="utf-8",
            **options,
        )

    def __call__(self, *arguments: str | Path, code: int = 0) -> Done:
        """Run a command, which has to end with ``code`` and without a traceback."""
        process = self.start(*arguments)
        try:
            out, err = process.communicate(timeout=LIMIT)
        except subprocess.TimeoutExpired:
            process.kill()
            out, err = process.communicate()
        assert process.returncode == code, f"{arguments} ended with {process.returncode}\n{out}\n{err}"
        assert "Traceback" not in err
        return Done(process.returncode, out, err)

    def refused(self, *arguments: str | Path, code: int) -> str:
        """Run a command that must fail with nothing on stdout, one sentence, and a hint at most; give both."""
        done = self(*arguments, code=code)
        assert done.out == ""
        errors = [line for line in done.err.splitlines() if line.startswith("Error: ")]
        assert len(errors) == 1, done.err
        assert errors[0].endswith((".", "?", "!", ")")), errors[0]
        said = done.err[done.err.index("Error: ") :].splitlines()
        assert len(said) <= 2, done.err
        return "\n".join(said)

    def actions(self, text: str, name: str = "actions.txt") -> Path:
        """Write an actions file."""
        path = self.root / name
        path.write_text(f"<refinement>{text}</refinement>\n", encoding="utf-8")
        return path

    def apply(self, text: str, *more: str, name: str = "actions.txt") -> Done:
        """Apply actions of one's own, whatever the review says of them."""
        file = self.actions(text, name)
        flags = ("--skip-trace-check", "--allow-low-confidence", "--json", *more)
        return self("apply", "--refinement-file", file, *flags)

    def triples(self) -> set[tuple[str, str, str]]:
        """Give the links of graph.json by the labels of their ends."""
        return triples(self.graph)

    def file(self, name: str, question: str) -> Path:
        """Give one of the files of a question, as in ``file("loop_trace_{}.json", question)``."""
        return self.ours / name.format(query_id(question))

    def results(self) -> list[dict[str, Any]]:
        """Give the rows of all results files."""
        files = sorted(self.ours.glob("refinement_results_*.jsonl"))
        return [json.loads(line) for file in files for line in file.read_text(encoding="utf-8").splitlines()]

    def marked(self) -> dict[str, bool]:
        """Tell of each question of the queue whether it is refined."""
        lines = (self.ours / "history.jsonl").read_text(encoding="utf-8").splitlines()
        rows = [json.loads(line) for line in lines]
        return {row["query"]: row["refined"] for row in rows}

    def healthy(self) -> None:
        """Hold that status, doctor and the audit are content, and that graph.json is whole."""
        self("status", "--json")
        assert self("doctor", "--json").data["healthy"] is True
        assert {"nodes", "links"} <= set(json.loads(self.graph.read_bytes()))


def query_id(question: str) -> str:
    """Give a question's id as the contract has it."""
    return hashlib.sha256(question.strip().encode("utf-8")).hexdigest()[:16]


def triples(path: Path) -> set[tuple[str, str, str]]:
    """Give the links of a graph file by the labels of their ends."""
    graph = json.loads(path.read_bytes())
    labels = {node["id"]: node["label"] for node in graph["nodes"]}
    return {(labels[each["source"]], each["relation"], labels[each["target"]]) for each in graph["links"]}


def real_graph(root: Path, name: str = "requests") -> Base:
    """Make a knowledge base with a graph that graphify made of a real package, its sources not there."""
    base = Base(root)
    base.out.mkdir(parents=True)
    base.graph.write_bytes(lzma.decompress((DATA / f"{name}.graph.json.xz").read_bytes()))
    return base


def lantern(folder: Path) -> Base:
    """Make the small bundled knowledge base, with its sources."""
    return Base(copy_demo(folder))


def by_question(scripts: dict[str, Iterable[Answer | str]]) -> Callable[[Request], Answer | str]:
    """Answer the prompts of each question in that question's own order; one prompt too many is a 400."""
    left = {question: iter(script) for question, script in scripts.items()}

    def respond(request: Request) -> Answer | str:
        question = next(each for each in left if each in request.user)
        return next(left[question], Answer(status=400, message=f"{question} is asked too often"))

    return respond
