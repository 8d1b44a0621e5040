"""A process that opens a store, says so, and holds it until its input ends: ``URL LOG_DIR MODE WAIT``."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from deeprefine_graphdb import stores
from deeprefine_graphdb.model.errors import DeepRefineError
from tests.contract.harness import Harness

ROOT = Path(__file__).parents[2]


@contextmanager
def holding(harness: Harness, mode: str) -> Iterator[subprocess.Popen[str]]:
    """Have another process hold the store; it is killed at the end unless it went before."""
    command = [sys.executable, "-m", "tests.stores.holder", harness.url, str(harness.log_dir), mode, "10"]
    process = subprocess.Popen(command, cwd=ROOT, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
    assert process.stdout is not None
    try:
        assert process.stdout.readline() == "open\n"
        yield process
    finally:
        process.kill()
        process.communicate()


def main() -> int:
    """Open, say so, wait."""
    url, log_dir, mode, wait = sys.argv[1:5]
    try:
        with stores.open_store(
            url, log_dir=Path(log_dir), mode="write" if mode == "write" else "read", wait=float(wait)
        ):
            sys.stdout.write("open\n")
            sys.stdout.flush()
            sys.stdin.read()
    except DeepRefineError as error:
        sys.stderr.write(str(error))
        return error.exit_code
    return 0


if __name__ == "__main__":
    sys.exit(main())
