from __future__ import annotations

import json
from pathlib import Path

import pytest

from deeprefine_graphdb.model.errors import StoreDamaged, StoreTooNew, UsageError
from deeprefine_graphdb.model.write import FORMAT_VERSION
from deeprefine_graphdb.stores import generations
from deeprefine_graphdb.stores.generations import Pointer
from deeprefine_graphdb.stores.urls import Place, parse_url


def test_urls_of_embedded_stores() -> None:
    assert parse_url("kuzu:a/b c") == Place("kuzu", Path("a/b c"))
    assert parse_url("ladybug:/x:y") == Place("ladybug", Path("/x:y"))


@pytest.mark.parametrize("url", ["", "kuzu", "kuzu:", "kuzu: ", "sqlite:x", "/a/b", "KUZU:x"])
def test_other_urls_are_refused(url: str) -> None:
    with pytest.raises(UsageError):
        parse_url(url)


def test_a_pointer_is_read_as_it_was_written(tmp_path: Path) -> None:
    assert generations.read_pointer(tmp_path) is None
    pointer = Pointer(FORMAT_VERSION, "kuzu", "s1", "gen-000001")
    generations.write_pointer(tmp_path, pointer)
    assert generations.read_pointer(tmp_path) == pointer
    assert [path.name for path in tmp_path.iterdir()] == ["CURRENT"]


def test_a_newer_format_is_refused_before_anything_is_opened(tmp_path: Path) -> None:
    newer = {"format": FORMAT_VERSION + 1, "anything": "else"}
    (tmp_path / "CURRENT").write_text(json.dumps(newer), encoding="utf-8")
    with pytest.raises(StoreTooNew, match="Upgrade"):
        generations.read_pointer(tmp_path)


@pytest.mark.parametrize("text", ["", "gen-000001", "[]", '{"format": 1}'])
def test_a_pointer_that_cannot_be_read_is_damage(tmp_path: Path, text: str) -> None:
    (tmp_path / "CURRENT").write_text(text, encoding="utf-8")
    with pytest.raises(StoreDamaged):
        generations.read_pointer(tmp_path)


def test_generations_are_numbered_on_and_all_but_one_removed(tmp_path: Path) -> None:
    made = [generations.new_generation(tmp_path) for _ in range(3)]
    assert [path.name for path in made] == ["gen-000001", "gen-000002", "gen-000003"]
    (tmp_path / "gen-other").mkdir()
    generations.remove_superseded(tmp_path, "gen-000002")
    assert sorted(path.name for path in tmp_path.iterdir()) == ["gen-000002", "gen-other"]
    assert generations.new_generation(tmp_path).name == "gen-000003"


@pytest.mark.parametrize(
    "changed",
    [{"generation": "../gen-000001"}, {"generation": "aside-000001"}, {"store_id": "../x"}, {"store_id": ""}],
)
def test_a_pointer_out_of_the_store_is_damage(tmp_path: Path, changed: dict[str, str]) -> None:
    content = {"format": FORMAT_VERSION, "engine": "kuzu", "store_id": "s1", "generation": "gen-000001"}
    (tmp_path / "CURRENT").write_text(json.dumps(content | changed), encoding="utf-8")
    with pytest.raises(StoreDamaged, match="doctor --rebuild"):
        generations.read_pointer(tmp_path)


@pytest.mark.parametrize("content", ["[" * 100_000, "[]", '{"format": 1, "engine": 1, "store_id": 2}'])
def test_a_pointer_of_any_content_is_damage(tmp_path: Path, content: str) -> None:
    (tmp_path / "CURRENT").write_text(content, encoding="utf-8")
    with pytest.raises(StoreDamaged):
        generations.read_pointer(tmp_path)


def test_a_pointer_that_is_a_folder_and_a_store_that_is_a_file_are_named(tmp_path: Path) -> None:
    (tmp_path / "CURRENT").mkdir()
    with pytest.raises(StoreDamaged, match="CURRENT"):
        generations.read_pointer(tmp_path)
    (tmp_path / "store").write_bytes(b"")
    with pytest.raises(StoreDamaged, match="not a folder"):
        generations.read_pointer(tmp_path / "store")


def test_a_generation_that_is_set_aside_is_kept_and_its_number_is_not_used_again(tmp_path: Path) -> None:
    generation = generations.new_generation(tmp_path)
    (generation / "base.json").write_text("{}", encoding="utf-8")
    generations.write_pointer(tmp_path, Pointer(FORMAT_VERSION, "kuzu", "s1", generation.name))
    assert generations.in_use(tmp_path) == [generation]
    (aside,) = generations.set_aside(tmp_path, [generation])
    assert (aside / "base.json").read_text(encoding="utf-8") == "{}"
    generations.remove_superseded(tmp_path, "none")
    assert aside.is_dir()
    assert generations.in_use(tmp_path) == []
    assert generations.new_generation(tmp_path).name == "gen-000002"
    assert [path.name for path in generations.folders(tmp_path)] == ["gen-000002", "aside-000001"]


def test_a_number_that_only_the_pointer_has_is_not_used_again(tmp_path: Path) -> None:
    generations.write_pointer(tmp_path, Pointer(FORMAT_VERSION, "kuzu", "s1", "gen-000007"))
    assert generations.new_generation(tmp_path).name == "gen-000008"


def test_every_generation_may_be_in_use_where_the_pointer_cannot_be_read(tmp_path: Path) -> None:
    made = [generations.new_generation(tmp_path) for _ in range(2)]
    (tmp_path / "CURRENT").write_text("", encoding="utf-8")
    assert generations.in_use(tmp_path) == made


def test_a_generation_that_counted_says_whose_it_is(tmp_path: Path) -> None:
    first, second = (generations.new_generation(tmp_path) for _ in range(2))
    pointer = Pointer(FORMAT_VERSION, "kuzu", "s1", first.name)
    generations.mark_generation(tmp_path, pointer)
    (second / generations.MARK).write_text("{", encoding="utf-8")
    assert generations.marked(tmp_path) == [pointer]
