"""One job in a process of its own, so that its memory is its own: ``python -m benchmarks.child JOB ROOT …``."""

from __future__ import annotations

import argparse
import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

from benchmarks import jobs, rebase_jobs
from benchmarks.graphs import Workload

Job = Callable[[Path, Workload, int, int], dict[str, Any]]
JOBS: dict[str, Job] = {
    "apply": jobs.apply_in_process,
    "merge": jobs.merge_chain,
    "expand": lambda root, load, repeats, warm_ups: jobs.expand(root, load, repeats, warm_ups, False),
    "hubs": lambda root, load, repeats, warm_ups: jobs.expand(root, load, repeats, warm_ups, True),
    "resolve": jobs.resolve_names,
    "namesakes": jobs.resolve_namesakes,
    "grow": lambda root, load, at_least, proposals: jobs.grow_wal(root, load, at_least, proposals),
    "log": rebase_jobs.make_log,
    "undos": rebase_jobs.choose_undos,
    "derive": rebase_jobs.derive_many,
    "what-if": rebase_jobs.what_ifs,
    "update": rebase_jobs.update_once,
    "one": lambda root, load, number, _none: jobs.one_refinement(root, load, number),
}


def main() -> None:
    """Do one job and print what it found as JSON."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.child")
    parser.add_argument("job", choices=[*JOBS, "choose"])
    parser.add_argument("root", type=Path)
    parser.add_argument("--workload", type=Path)
    parser.add_argument("--first", type=int, default=0, help="repeats, bytes or a number, as the job has it")
    parser.add_argument("--second", type=int, default=0, help="warm-ups, or another number")
    given = parser.parse_args()
    if given.job == "choose":
        found = jobs.chosen(given.root)
    else:
        found = JOBS[given.job](given.root, jobs.read_workload(given.workload), given.first, given.second)
    print(json.dumps(found))


if __name__ == "__main__":
    main()
