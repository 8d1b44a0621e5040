"""``deeprefine-db``: the commands, and how an error ends them."""

from __future__ import annotations

import os
import sys
import traceback
from collections.abc import Sequence

import click

from deeprefine_graphdb import __version__
from deeprefine_graphdb.cli import failures, streams
from deeprefine_graphdb.cli.lazy import LazyGroup, PipeClosed
from deeprefine_graphdb.cli.options import Options, common_options
from deeprefine_graphdb.cli.output import warn
from deeprefine_graphdb.model.errors import DeepRefineError

HERE = "deeprefine_graphdb.cli"
INTERRUPTED = 130
PIPE_CLOSED = 141

COMMANDS = {
    "sync": (f"{HERE}.sync", "Read graph.json into the store."),
    "refine": (f"{HERE}.refine", "Ask a model what to change so that questions can be answered."),
    "review": (f"{HERE}.review", "Label the actions of a proposal, with the evidence."),
    "apply": (f"{HERE}.apply", "Apply a proposal: all of it or nothing."),
    "reject": (f"{HERE}.reject", "Record that a proposal is not wanted."),
    "export": (f"{HERE}.export", "Write graph.json from the store."),
    "diff": (f"{HERE}.diff", "Show what differs from graph.json, from the base, or by a refinement."),
    "update": (f"{HERE}.update", "Run graphify so that nothing of it and no refinement is lost."),
    "export-log": (f"{HERE}.export_log", "Write the log to a file, for another copy."),
    "apply-log": (f"{HERE}.apply_log", "Take in the refinements of another log."),
    "merge": (f"{HERE}.merge", "Merge two people's graph.json, as git's merge driver."),
    "hook": (f"{HERE}.hook", "Let git's hooks sync and export after graphify's, and git merge graph.json."),
    "undo": (f"{HERE}.undo", "Take refinements out of the graph, or an undo back."),
    "conflicts": (f"{HERE}.conflicts", "List what is suspended, why, and what can be done."),
    "resolve": (f"{HERE}.resolve", "Say what is to become of an action that is in conflict."),
    "status": (f"{HERE}.status", "Say where the knowledge base stands and what comes next."),
    "log": (f"{HERE}.log", "List the refinements."),
    "show": (f"{HERE}.show", "Show one refinement, whole."),
    "history": (f"{HERE}.history", "The queue of questions: add, list, take over from graphify's notes."),
    "index": (f"{HERE}.index", "Bring the retrieval index to the state of the store."),
    "search": (f"{HERE}.search", "Find the edges that a text is about."),
    "expand": (f"{HERE}.expand", "Give the edges around entities."),
    "cypher": (f"{HERE}.cypher", "Run one reading Cypher statement on the store."),
    "audit": (f"{HERE}.audit", "Ask the history named questions, and verify it."),
    "doctor": (f"{HERE}.doctor", "Check the store, rebuild it, or fold its write-ahead log."),
    "demo": (f"{HERE}.demo", "Show the whole way on a small bundled knowledge base."),
}


@click.group(
    cls=LazyGroup,
    lazy=COMMANDS,
    context_settings={"help_option_names": ["-h", "--help"], "max_content_width": 110},
    epilog="Exit codes: 0 done, 1 error, 2 usage, 3 nothing to do, 4 conflict, stale or needs review, "
    "5 store locked or busy, 6 model failed or limit reached, 7 graph.json unreadable.",
)
@common_options
@click.version_option(__version__, prog_name="deeprefine-db")
def cli() -> None:
    """Refine a graphify knowledge base in a graph database: recorded, undoable, byte-exact."""


def main(arguments: Sequence[str] | None = None) -> None:
    """Run the command line and exit with its code."""
    streams.make_usable()
    code = run(arguments, Options())
    sys.exit(streams.finish(code))


def run(arguments: Sequence[str] | None, options: Options) -> int:
    """Run the command line and give its exit code; errors are one sentence on stderr."""
    try:
        code = cli.main(
            arguments,
            prog_name="deeprefine-db",
            obj=options,
            color=False if os.environ.get("NO_COLOR") else None,
            standalone_mode=False,
        )
    except (BrokenPipeError, PipeClosed):
        streams.discard(sys.stdout)
        return PIPE_CLOSED
    except (KeyboardInterrupt, click.exceptions.Abort):
        warn("Interrupted.")
        return INTERRUPTED
    except click.exceptions.NoArgsIsHelpError as error:
        click.echo(error.format_message(), err=True)
        return error.exit_code
    except click.ClickException as error:
        warn(_usage(error))
        return error.exit_code
    except DeepRefineError as error:
        if options.debug:
            traceback.print_exc()
        warn(f"Error: {error.message}")
        if error.hint:
            warn(error.hint)
        return error.exit_code
    except OSError as error:
        if options.debug:
            traceback.print_exc()
        for line in failures.of_the_system(error, options):
            warn(line)
        return 1
    except MemoryError:
        warn("Error: There is not enough memory for this.")
        return 1
    except Exception as error:  # the last place where an error can still be said in one sentence
        if options.debug:
            traceback.print_exc()
        warn(f"Error: {type(error).__name__}: {error}")
        warn("This was not foreseen. Run the command again with --debug to see where it happened.")
        return 1
    return code if isinstance(code, int) else 0


def _usage(error: click.ClickException) -> str:
    text = f"Error: {error.format_message()}"
    context = getattr(error, "ctx", None)
    if context is not None:
        text += f"\nTry `{context.command_path} --help`."
    return text


if __name__ == "__main__":
    main()
