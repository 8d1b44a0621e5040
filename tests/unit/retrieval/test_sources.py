"""Source text of entities: what is read, how much, and what never is."""

from __future__ import annotations

import os
import tempfile
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from deeprefine_graphdb.model.graph import Entity
from deeprefine_graphdb.retrieval.sources import MAX_CHARACTERS, MAX_LINES, SourceReader

SECRET = "the secret of the house"


def at(source_file: str | None, location: str | None = "L1", label: str = "thing") -> Entity:
    return Entity(id="e", label=label, source_file=source_file, source_location=location)


@pytest.fixture
def root(tmp_path: Path) -> Path:
    inside = tmp_path / "project"
    (inside / "src").mkdir(parents=True)
    (inside / "src" / "long.py").write_text("".join(f"line {n}\n" for n in range(1, 201)), encoding="utf-8")
    (tmp_path / "secret.txt").write_text(SECRET, encoding="utf-8")
    (tmp_path / "project-too").mkdir()
    (tmp_path / "project-too" / "secret.txt").write_text(SECRET, encoding="utf-8")
    return inside


def test_the_lines_around_the_location_are_given(root: Path) -> None:
    text = SourceReader(root).text([at("src/long.py", "L100")])
    lines = text.splitlines()
    assert lines[0] == "# src/long.py:96-135"
    assert lines[1:] == [f"line {n}" for n in range(96, 136)]
    assert len(lines) - 1 == MAX_LINES


@pytest.mark.parametrize(
    ("location", "first", "last"),
    [
        ("L1", 1, 40),
        (None, 1, 40),
        ("", 1, 40),
        ("L199", 195, 200),
        ("L9999", 196, 200),
        ("50-60", 46, 85),
        ("7", 3, 42),
    ],
)
def test_any_location_gives_lines_of_the_file(
    root: Path, location: str | None, first: int, last: int
) -> None:
    excerpt = SourceReader(root).excerpt(at("src/long.py", location))
    assert excerpt is not None
    assert (excerpt.first, excerpt.last) == (first, last)


def test_lines_that_entities_share_are_given_once(root: Path) -> None:
    text = SourceReader(root).text([
        at("src/long.py", "L50"),
        at("src/long.py", "L60"),
        at("src/long.py", "L50"),
    ])
    assert text.splitlines().count("line 60") == 1
    assert [line for line in text.splitlines() if line.startswith("#")] == [
        "# src/long.py:46-85",
        "# src/long.py:86-95",
    ]


def test_there_are_never_more_than_twelve_thousand_characters(root: Path) -> None:
    (root / "wide.py").write_text("\n".join("x" * 390 for _ in range(400)), encoding="utf-8")
    text = SourceReader(root).text([at("wide.py", f"L{n}") for n in range(5, 400, 40)])
    assert 11_000 < len(text) <= MAX_CHARACTERS


@pytest.mark.parametrize(
    "source_file",
    [
        "../secret.txt",
        "src/../../secret.txt",
        "..\\secret.txt",
        "src\\..\\..\\secret.txt",
        "../project-too/secret.txt",
        "link.txt",
        "linked/secret.txt",
        "src/../linked/secret.txt",
        "/etc/passwd",
        "file:///etc/passwd",
        "https://example.org/x",
        "~/.ssh/id_rsa",
        "missing.py",
        "src",
        "",
        ".",
        "a\0b",
        "x" * 5000,
        ".git/config",
        "graphify-out/.deeprefine/config.toml",
        "pipe",
        None,
    ],
)
def test_nothing_outside_the_root_is_ever_read(root: Path, source_file: str | None) -> None:
    (root / "link.txt").symlink_to(root.parent / "secret.txt")
    (root / "linked").symlink_to(root.parent, target_is_directory=True)
    for private in (".git/config", "graphify-out/.deeprefine/config.toml"):
        (root / private).parent.mkdir(parents=True)
        (root / private).write_text(SECRET, encoding="utf-8")
    os.mkfifo(root / "pipe")
    assert SourceReader(root).excerpt(at(source_file)) is None
    assert SourceReader(root).text([at(source_file)]) == ""


def test_the_secret_by_its_absolute_path_is_not_read(root: Path) -> None:
    assert SourceReader(root).excerpt(at(str(root.parent / "secret.txt"))) is None


def test_links_and_absolute_paths_that_stay_inside_are_read(root: Path) -> None:
    (root / "inner.py").symlink_to(root / "src" / "long.py")
    for source_file in ("inner.py", str(root / "src" / "long.py"), "src\\long.py", "src/../src/long.py"):
        assert SourceReader(root).excerpt(at(source_file)) is not None, source_file


def test_a_root_that_is_itself_a_link_works(root: Path) -> None:
    (root.parent / "alias").symlink_to(root, target_is_directory=True)
    assert SourceReader(root.parent / "alias").excerpt(at("src/long.py")) is not None


@settings(max_examples=60, deadline=None)
@given(
    st.lists(st.sampled_from(["..", ".", "src", "out", "secret.txt", "/", "\\", "%2e%2e", "a"]), max_size=8)
)
def test_no_combination_of_path_parts_leads_out(parts: list[str]) -> None:
    with tempfile.TemporaryDirectory() as folder:
        root = Path(folder) / "root"
        (root / "src").mkdir(parents=True)
        (Path(folder) / "secret.txt").write_text(SECRET, encoding="utf-8")
        (root / "out").symlink_to(folder, target_is_directory=True)
        for written in ("/".join(parts), "\\".join(parts), "".join(parts)):
            assert SECRET not in SourceReader(root).text([at(written)])


@pytest.mark.parametrize("data", [b"\0\1\2text", b"%PDF-1.7\n" + bytes(range(128, 256)) * 20, b"", b"\n\n\n"])
def test_what_is_not_text_gives_nothing(root: Path, data: bytes) -> None:
    (root / "odd.bin").write_bytes(data)
    assert SourceReader(root).text([at("odd.bin")]) == ""


@pytest.mark.parametrize("data", [b"\xef\xbb\xbffirst\r\nsecond\r\n", b"first\rsecond", b"first\nsecond"])
def test_marks_of_other_systems_are_read_as_text(root: Path, data: bytes) -> None:
    (root / "text.md").write_bytes(data)
    excerpt = SourceReader(root).excerpt(at("text.md"))
    assert excerpt is not None
    assert excerpt.lines == ("first", "second")


def test_an_entity_owns_the_lines_that_its_indentation_spans(root: Path) -> None:
    code = (
        "import os\n\n\ndef one(\n    a,\n) -> None:\n    use(a)\n\n    more()\n\ndef two():\n    other()\n"
    )
    (root / "code.py").write_text(code, encoding="utf-8")
    excerpt = SourceReader(root).excerpt(at("code.py", "L4"))
    assert excerpt is not None
    assert [line for line in excerpt.own().lines if line] == [
        *("def one(", "    a,", ") -> None:", "    use(a)", "    more()")
    ]
    assert excerpt.own().first == 4
