"""The wheel has exactly what it must have, and what is installed from it works."""

from __future__ import annotations

import os
import subprocess
import sys
import sysconfig
import zipfile
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[1]
pytestmark = pytest.mark.slow


@pytest.fixture(scope="module")
def wheel(tmp_path_factory: pytest.TempPathFactory) -> Path:
    target = tmp_path_factory.mktemp("wheel")
    command = [
        sys.executable,
        "-m",
        "pip",
        "wheel",
        "--quiet",
        "--no-deps",
        "--no-build-isolation",
        "--no-index",
    ]
    subprocess.run([*command, "--wheel-dir", str(target), str(ROOT)], check=True, capture_output=True)
    (built,) = target.glob("*.whl")
    return built


@pytest.fixture(scope="module")
def python(wheel: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Install the wheel in an environment of its own, which sees the dependencies of this one and not the clone."""
    home = tmp_path_factory.mktemp("installed")
    subprocess.run([sys.executable, "-m", "venv", "--without-pip", str(home)], check=True)
    scripts = home / ("Scripts" if os.name == "nt" else "bin")
    python = scripts / ("python.exe" if os.name == "nt" else "python")
    install = [
        sys.executable,
        "-m",
        "pip",
        "--python",
        str(python),
        "install",
        "--quiet",
        "--no-deps",
        "--no-index",
    ]
    subprocess.run([*install, str(wheel)], check=True, capture_output=True)
    return python


def run(python: Path, *arguments: str, home: Path) -> subprocess.CompletedProcess[str]:
    # PYTHONPATH and not a .pth file: the outer environment's .pth would bring the clone itself in.
    outer = os.pathsep.join(dict.fromkeys(sysconfig.get_paths()[name] for name in ("purelib", "platlib")))
    environment = {
        name: value for name, value in os.environ.items() if not name.startswith(("PYTHON", "DEEPREFINE_"))
    }
    return subprocess.run(
        [str(python), *arguments],
        cwd=home,
        env={**environment, "PYTHONPATH": outer},
        capture_output=True,
        text=True,
        check=False,
    )


def test_the_top_level_is_the_two_packages_and_nothing_else(wheel: Path) -> None:
    with zipfile.ZipFile(wheel) as archive:
        names = archive.namelist()
    info = next(name.split("/")[0] for name in names if ".dist-info/" in name)
    assert {name.split("/")[0] for name in names} == {"deeprefine_graphdb", "deeprefine_loaders", info}


def test_the_wheel_carries_every_data_file(wheel: Path) -> None:
    with zipfile.ZipFile(wheel) as archive:
        names = set(archive.namelist())
    statements = {
        f"deeprefine_graphdb/{path.relative_to(ROOT)}" for path in (ROOT / "cypher").rglob("*.cypher")
    }
    assert statements
    assert statements <= names
    prompts = {
        str(path.relative_to(ROOT))
        for path in (ROOT / "deeprefine_graphdb" / "loop" / "prompts").glob("*.txt")
    }
    assert len(prompts) == 6
    assert prompts <= names
    assert {
        "deeprefine_graphdb/py.typed",
        "deeprefine_loaders/py.typed",
        "deeprefine_graphdb/demo/session.json",
        "deeprefine_graphdb/demo/lantern/graphify-out/graph.json",
    } <= names
    assert any(name.endswith("licenses/NOTICE") for name in names)
    assert not [name for name in names if name.endswith((".pyc", ".cypher.orig")) or "/tests/" in name]


def test_what_is_installed_runs_and_is_not_the_clone(python: Path, tmp_path: Path) -> None:
    where = run(
        python,
        "-c",
        "import deeprefine_graphdb, deeprefine_loaders as l; print(deeprefine_graphdb.__file__, l.__file__)",
        home=tmp_path,
    )
    assert str(ROOT) not in where.stdout
    assert str(python.parent.parent) in where.stdout, where.stderr
    script = python.with_name("deeprefine-db.exe" if os.name == "nt" else "deeprefine-db")
    shown = run(python, str(script), "--help", home=tmp_path)
    assert shown.returncode == 0, shown.stderr
    assert "Usage: deeprefine-db" in shown.stdout


def test_statements_are_read_from_the_wheel(python: Path, tmp_path: Path) -> None:
    script = (
        "from deeprefine_graphdb.stores import statements as s; "
        "print(s.load('graph/entity', 'kuzu').name, len(list(s.names('graph', 'kuzu'))), s._root())"
    )
    loaded = run(python, "-c", script, home=tmp_path)
    assert loaded.returncode == 0, loaded.stderr
    name, count, place = loaded.stdout.split(maxsplit=2)
    assert name == "graph/entity"
    assert int(count) > 10
    assert str(ROOT) not in place


def test_the_installed_demo_plays(python: Path, tmp_path: Path) -> None:
    played = run(python, "-m", "deeprefine_graphdb.cli.main", "demo", home=tmp_path)
    assert played.returncode == 0, played.stderr
    assert "$ deeprefine-db audit verify" in played.stdout
