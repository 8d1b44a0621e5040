"""Imports only go down, and what a layer may not know it does not import."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[1]
PACKAGE = ROOT / "deeprefine_graphdb"
LAYERS = (
    "model",
    "grammar",
    "stores",
    "graph",
    "retrieval",
    "loop",
    "review",
    "provenance",
    "project",
    "skills",
    "cli",
)
ENGINES = {"kuzu", "ladybug", "neo4j", "pyarrow"}
MODULES = sorted(path for path in PACKAGE.rglob("*.py") if PACKAGE / "demo" not in path.parents)
LOADERS = sorted((ROOT / "loaders" / "deeprefine_loaders").rglob("*.py"))


def imports(path: Path) -> Iterator[str]:
    """Yield the full names that a file imports, inside functions and under TYPE_CHECKING too."""
    package = ".".join(path.relative_to(ROOT).parts[:-1])
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        if isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            parent = (
                ".".join(package.split(".")[: len(package.split(".")) - node.level + 1]) if node.level else ""
            )
            module = ".".join(part for part in (parent, node.module or "") if part)
            yield module
            yield from (f"{module}.{alias.name}" for alias in node.names)


def layer(name: str) -> str:
    """Give the layer of a module of the package, ``""`` for what stands outside the layers."""
    parts = name.split(".")
    return parts[1] if len(parts) > 1 and parts[0] == "deeprefine_graphdb" and parts[1] in LAYERS else ""


def test_every_folder_of_the_package_is_a_layer() -> None:
    folders = {path.name for path in PACKAGE.iterdir() if (path / "__init__.py").is_file()}
    assert folders == set(LAYERS)


@pytest.mark.parametrize("path", MODULES, ids=lambda path: str(path.relative_to(ROOT)))
def test_imports_only_go_down(path: Path) -> None:
    own = path.relative_to(PACKAGE).parts[0]
    if own not in LAYERS:
        pytest.fail(f"{path} stands outside the layers") if path.name != "__init__.py" else None
        return
    upward = {name for name in imports(path) if layer(name) and LAYERS.index(layer(name)) > LAYERS.index(own)}
    assert not upward


@pytest.mark.parametrize("path", LOADERS, ids=lambda path: path.name)
def test_loaders_know_no_database_no_model_and_nothing_of_the_package(path: Path) -> None:
    tops = {name.split(".")[0] for name in imports(path) if name}
    assert not tops & (ENGINES - {"pyarrow"} | {"deeprefine_graphdb", "openai", "faiss", "click", "pydantic"})


@pytest.mark.parametrize("path", MODULES, ids=lambda path: str(path.relative_to(ROOT)))
def test_only_stores_import_an_engine(path: Path) -> None:
    if path.relative_to(PACKAGE).parts[0] != "stores":
        assert not {name.split(".")[0] for name in imports(path)} & ENGINES


@pytest.mark.parametrize("path", [*MODULES, *LOADERS], ids=lambda path: str(path.relative_to(ROOT)))
def test_a_module_stays_readable(path: Path) -> None:
    assert len(path.read_text(encoding="utf-8").splitlines()) <= 400


@pytest.mark.parametrize("path", [*MODULES, *LOADERS], ids=lambda path: str(path.relative_to(ROOT)))
def test_nothing_is_unpickled_or_evaluated(path: Path) -> None:
    tree = ast.parse(path.read_text(encoding="utf-8"))
    called = {
        node.func.id
        for node in ast.walk(tree)
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Name)
    }
    assert not called & {"eval", "exec", "__import__", "compile"}
    assert not {name.split(".")[0] for name in imports(path)} & {"pickle", "marshal", "shelve", "dill"}
