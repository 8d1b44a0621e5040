"""Our part of somebody else's file comes out again, and the rest stays to the byte."""

from __future__ import annotations

from pathlib import Path

import pytest

from deeprefine_graphdb.project.marked import read_text, without_part
from deeprefine_graphdb.project.paths import write_whole

START, END = "# ours: start", "# ours: end"


@pytest.mark.parametrize("rest", ["", "a\n", "a\r\nb\r\n", "no end of line", "\udcff\n"])
def test_the_rest_is_as_it_was(tmp_path: Path, rest: str) -> None:
    file = tmp_path / "file"
    before = rest.encode("utf-8", "surrogateescape")
    file.write_bytes(before)
    write_whole(file, f"{read_text(file)}{START}\nours\n{END}\n")
    assert file.read_bytes() != before
    write_whole(file, without_part(read_text(file), START, END))
    assert file.read_bytes() == before


def test_a_part_without_an_end_goes_to_the_end_of_the_file() -> None:
    assert without_part(f"a\n{START}\nb\n", START, END) == "a\n"
    assert without_part("a\n", START, END) == "a\n"


def test_no_file_is_no_text(tmp_path: Path) -> None:
    assert read_text(tmp_path / "none") == ""
