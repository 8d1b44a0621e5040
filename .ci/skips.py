"""Fail when a test was skipped that this machine could have run; reads JUnit reports."""

from __future__ import annotations

import os
import re
import sys
import xml.etree.ElementTree as ET
from collections.abc import Callable
from pathlib import Path

SHARED_GRAPHS = Path(__file__).resolve().parents[2] / "shared" / "graphs"

# Why a skip is in order, and whether that reason holds here.
REASONS: tuple[tuple[str, Callable[[], bool]], ...] = (
    (r"capability", lambda: True),
    (r"shared/graphs", lambda: not SHARED_GRAPHS.is_dir()),
    (r"\broot\b", lambda: hasattr(os, "geteuid") and os.geteuid() == 0),
    (r"only on Windows", lambda: os.name != "nt"),
    (r"not on Windows", lambda: os.name == "nt"),
)


def needless(reason: str) -> bool:
    """Tell whether a skip's reason does not hold on this machine, or is none that is known."""
    return not any(re.search(pattern, reason) and holds() for pattern, holds in REASONS)


def main(reports: list[str]) -> int:
    """Print what was skipped needlessly and give the exit code."""
    ran, found = 0, []
    for report in reports:
        for case in ET.parse(report).iter("testcase"):  # noqa: S314
            skip = case.find("skipped")
            ran += skip is None
            if (
                skip is not None
                and skip.get("type") != "pytest.xfail"
                and needless(skip.get("message") or "")
            ):
                found.append(f"{case.get('classname')}::{case.get('name')}: {skip.get('message')}")
    if not ran:
        found.append(f"no test ran, says {', '.join(reports) or 'no report'}")
    for line in found:
        print(f"skipped although this machine could run it: {line}", file=sys.stderr)
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
