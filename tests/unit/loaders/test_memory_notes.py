"""graphify's memory notes are read with all their escapes, and a broken one is named."""

from __future__ import annotations

import tempfile
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from deeprefine_loaders.notes import MemoryNote, read_notes
from tests.unit.loaders.odd_files import few


def note(**fields: str) -> str:
    """Write a note with these front matter lines."""
    lines = "\n".join(f"{name}: {text}" for name, text in fields.items())
    return f'---\n{lines}\n---\n\n# Q: asked\n\n## Answer\n\n---\nquestion: "not this one"\n'


def write(directory: Path, name: str, text: str) -> Path:
    """Write a note's file."""
    path = directory / name
    path.write_bytes(text.encode("utf-8"))
    return path


def test_a_note_is_read_with_its_escapes(tmp_path: Path) -> None:
    path = write(
        tmp_path,
        "query_1.md",
        note(
            type='"query"',
            date='"2025-01-02T03:04:05+00:00"',
            question='"say \\"hi\\"\\n\\\\n \\L\\x1b\\u00e9 [x]: y"',
            contributor='"graphify"',
            outcome='"corrected"',
            correction='"a, \\"b\\""',
            source_nodes='["Session", "a\\", \\"b", "c]"]',
        ),
    )
    assert read_notes(tmp_path) == [
        MemoryNote(
            path,
            'say "hi"\n\\n \u2028\x1bé [x]: y',
            "corrected",
            'a, "b"',
            ("Session", 'a", "b', "c]"),
            "2025-01-02T03:04:05+00:00",
        )
    ]


def test_notes_come_by_date_and_other_files_are_left_out(tmp_path: Path) -> None:
    write(tmp_path, "query_a.md", note(question='"later"', date='"2025-02-01"'))
    write(tmp_path, "query_b.md", note(question='"earlier"', date='"2025-01-01"').replace("\n", "\r\n"))
    write(tmp_path, "LESSONS.md", "# Lessons\n")
    assert [item.question for item in read_notes(tmp_path)] == ["earlier", "later"]
    assert read_notes(tmp_path / "not there") == []


@pytest.mark.parametrize(
    ("text", "told"),
    [
        ("# no front matter\n", "does not begin with front matter"),
        ('---\nquestion: "a"\n', "has no end"),
        ('---\ntype: "query"\n---\n', "has no question"),
        ('---\nquestion: ""\n---\n', "has no question"),
        ('---\nquestion: "a" b\n---\n', "line 2 of its front matter"),
        ('---\nquestion: "a\n---\n', "line 2 of its front matter"),
        ('---\nquestion: "\\q"\n---\n', "unknown escape"),
        ('---\nquestion: "\\ud83d"\n---\n', "lone surrogate"),
    ],
)
def test_a_broken_note_is_skipped_and_named(text: str, told: str, tmp_path: Path) -> None:
    broken = write(tmp_path, "query_0.md", text)
    write(tmp_path, "query_1.md", note(question='"whole"'))
    warnings: list[str] = []
    assert [item.question for item in read_notes(tmp_path, warnings.append)] == ["whole"]
    assert len(warnings) == 1
    assert str(broken) in warnings[0]
    assert told in warnings[0]


def test_a_note_that_is_not_utf8_is_named(tmp_path: Path) -> None:
    (tmp_path / "query_0.md").write_bytes(b'---\nquestion: "\xe9"\n---\n')
    warnings: list[str] = []
    assert read_notes(tmp_path, warnings.append) == []
    assert "query_0.md is skipped: it is not UTF-8 (at byte 15)." in warnings[0]


@few
@given(st.text(min_size=1).filter(str.strip), st.lists(st.text(max_size=5), max_size=4))
def test_graphifys_own_notes_are_read(question: str, nodes: list[str]) -> None:
    ingest = pytest.importorskip("graphify.ingest")
    with tempfile.TemporaryDirectory() as name:
        path = ingest.save_query_result(
            question, "answer", Path(name), source_nodes=nodes, outcome="dead_end", correction=question
        )
        assert [
            (item.path, item.question, item.outcome, item.correction, item.source_nodes)
            for item in read_notes(Path(name))
        ] == [(path, question, "dead_end", question, tuple(nodes))]
