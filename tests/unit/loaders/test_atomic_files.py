"""A file that is written is the old one or the new one, whole; what it was to the system stays."""

from __future__ import annotations

import errno
import hashlib
import os
import socket
import stat
import subprocess
import sys
import threading
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from deeprefine_loaders.atomic import NotAFile, remove_left_overs, replace_file, write_durable, write_out


def failing() -> Iterator[bytes]:
    """Give some bytes, then fail."""
    yield b"half"
    raise RuntimeError("no more")


def names(directory: Path) -> set[str]:
    """Give what lies in a directory."""
    return {path.name for path in directory.iterdir()}


def test_the_digest_of_what_was_written_is_given(tmp_path: Path) -> None:
    path = tmp_path / "graph.json"
    assert replace_file(path, iter([b"ab", b"c"])) == hashlib.sha256(b"abc").hexdigest()
    assert path.read_bytes() == b"abc"
    assert write_durable(path, b"d") == hashlib.sha256(b"d").hexdigest()
    assert path.read_bytes() == b"d"
    assert names(tmp_path) == {"graph.json"}


def test_large_chunks_among_small_ones_are_hashed_in_order(tmp_path: Path) -> None:
    chunks = [b"a", bytes(3 << 20), b"b" * (1 << 20), b"", b"c" * 5_000_000, b"d"]
    whole = b"".join(chunks)
    digest = hashlib.sha256(whole).hexdigest()
    for write in (replace_file, write_out, write_durable):
        path = tmp_path / "graph.json"
        assert write(path, iter(chunks)) == digest
        assert path.read_bytes() == whole


def test_the_file_replaced_is_kept(tmp_path: Path) -> None:
    path, backup = tmp_path / "graph.json", tmp_path / "graph.json.bak"
    replace_file(path, [b"one"], backup)
    assert names(tmp_path) == {"graph.json"}
    replace_file(path, [b"two"], backup)
    replace_file(path, [b"three"], backup)
    assert path.read_bytes() == b"three"
    assert backup.read_bytes() == b"two"
    assert names(tmp_path) == {"graph.json", "graph.json.bak"}


def test_a_failure_while_writing_changes_nothing(tmp_path: Path) -> None:
    path, backup = tmp_path / "graph.json", tmp_path / "graph.json.bak"
    path.write_bytes(b"one")
    with pytest.raises(RuntimeError, match="no more"):
        replace_file(path, failing(), backup)
    assert path.read_bytes() == b"one"
    assert names(tmp_path) == {"graph.json"}


def test_a_failure_once_ready_changes_nothing(tmp_path: Path) -> None:
    path = tmp_path / "graph.json"
    path.write_bytes(b"one")
    told: list[str] = []

    def ready(digest: str) -> None:
        told.append(digest)
        assert path.read_bytes() == b"one"
        raise OSError("the journal is full")

    with pytest.raises(OSError, match="the journal is full"):
        replace_file(path, [b"two"], tmp_path / "graph.json.bak", ready)
    assert told == [hashlib.sha256(b"two").hexdigest()]
    assert path.read_bytes() == b"one"
    assert names(tmp_path) == {"graph.json"}


def test_a_failing_rename_changes_nothing(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = tmp_path / "graph.json"
    path.write_bytes(b"one")

    def refuse(self: Path, target: Path) -> None:
        raise PermissionError(f"{self} {target}")

    monkeypatch.setattr(Path, "replace", refuse)
    with pytest.raises(PermissionError):
        replace_file(path, [b"two"])
    assert path.read_bytes() == b"one"
    assert names(tmp_path) == {"graph.json"}


@pytest.mark.skipif(os.name == "nt", reason="permissions and links of POSIX")
def test_links_and_permissions_stay(tmp_path: Path) -> None:
    (tmp_path / "real").mkdir()
    target, link = tmp_path / "real" / "graph.json", tmp_path / "graph.json"
    target.write_bytes(b"one")
    target.chmod(0o640)
    link.symlink_to(Path("real") / "graph.json")
    replace_file(link, [b"two"], tmp_path / "graph.json.bak")
    assert link.is_symlink()
    assert target.read_bytes() == b"two"
    assert stat.S_IMODE(target.stat().st_mode) == 0o640
    assert (tmp_path / "graph.json.bak").read_bytes() == b"one"
    assert names(tmp_path / "real") == {"graph.json"}


@pytest.mark.skipif(os.name == "nt", reason="directories cannot be synced there")
def test_content_is_durable_before_the_name_and_the_name_before_the_return(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    steps: list[str] = []
    fsync, rename = os.fsync, Path.replace

    def note_fsync(handle: int) -> None:
        steps.append("directory" if stat.S_ISDIR(os.fstat(handle).st_mode) else "content")
        fsync(handle)

    def note_rename(self: Path, target: Path) -> Path:
        steps.append(f"rename {Path(target).name}")
        return rename(self, target)

    monkeypatch.setattr(os, "fsync", note_fsync)
    monkeypatch.setattr(Path, "replace", note_rename)
    path = tmp_path / "graph.json"
    path.write_bytes(b"one")
    replace_file(path, [b"two"], tmp_path / "graph.json.bak", lambda _digest: steps.append("ready"))
    assert steps == [
        "content",
        "ready",
        "rename graph.json.bak",
        "directory",
        "rename graph.json",
        "directory",
    ]


def test_a_backup_is_a_copy_where_the_system_has_no_second_names(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def refuse(*_names: object) -> None:
        raise OSError("not supported")

    monkeypatch.setattr(os, "link", refuse)
    path, backup = tmp_path / "graph.json", tmp_path / "graph.json.bak"
    path.write_bytes(b"one")
    replace_file(path, [b"two"], backup)
    assert (path.read_bytes(), backup.read_bytes()) == (b"two", b"one")
    assert names(tmp_path) == {"graph.json", "graph.json.bak"}


@pytest.fixture
def pipe(tmp_path: Path) -> Path:
    """Make a named pipe."""
    path = tmp_path / "pipe"
    os.mkfifo(path)
    return path


@pytest.mark.skipif(os.name == "nt", reason="pipes with a name in a folder")
def test_what_is_no_file_is_never_replaced(pipe: Path, tmp_path: Path) -> None:
    with socket.socket(socket.AF_UNIX) as server:
        end = tmp_path / "socket"
        server.bind(str(end))
        link = tmp_path / "link"
        link.symlink_to(pipe)
        for path in (pipe, end, tmp_path, link):
            before = path.stat().st_ino
            with pytest.raises(NotAFile) as refused:
                replace_file(path, [b"x"])
            assert refused.value.filename
            assert path.stat().st_ino == before
        for path in (pipe, end, tmp_path):
            with pytest.raises(NotAFile):
                write_durable(path, b"x")
        graph = tmp_path / "graph.json"
        graph.write_bytes(b"one")
        with pytest.raises(NotAFile):
            replace_file(graph, [b"two"], backup=pipe)
        assert graph.read_bytes() == b"one"
    assert names(tmp_path) == {"pipe", "socket", "link", "graph.json"}


@pytest.mark.skipif(os.name == "nt", reason="pipes with a name in a folder")
def test_output_goes_through_what_is_no_file(pipe: Path) -> None:
    read: list[bytes] = []
    reader = threading.Thread(target=lambda: read.append(pipe.read_bytes()))
    reader.start()
    content = [b"a" * 200_000, b"b"]
    assert write_out(pipe, content) == hashlib.sha256(b"".join(content)).hexdigest()
    reader.join(timeout=20)
    assert read == [b"".join(content)]
    assert stat.S_ISFIFO(pipe.stat().st_mode)


@pytest.mark.skipif(not Path("/dev/fd").exists(), reason="names of open streams")
def test_output_goes_to_the_end_of_a_stream(tmp_path: Path) -> None:
    reading, writing = os.pipe()
    try:
        write_out(Path(f"/dev/fd/{writing}"), [b"text"])
        assert os.read(reading, 10) == b"text"
    finally:
        os.close(reading)
        os.close(writing)
    with (tmp_path / "gone").open("w+b") as gone:
        (tmp_path / "gone").unlink()
        write_out(Path(f"/dev/fd/{gone.fileno()}"), [b"text"])
        assert gone.read() == b"text"
    assert names(tmp_path) == set()


def test_output_to_a_file_replaces_it(tmp_path: Path) -> None:
    path = tmp_path / "new.json"
    write_out(path, [b"one"])
    with pytest.raises(RuntimeError, match="no more"):
        write_out(path, failing())
    assert path.read_bytes() == b"one"
    write_out(path, [b"two"])
    assert path.read_bytes() == b"two"
    assert names(tmp_path) == {"new.json"}


@pytest.mark.parametrize("write", [write_durable, replace_file, write_out])
def test_a_full_disk_is_told_with_the_name_of_the_file(
    write: Callable[[Path, list[bytes]], str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def full(handle: int) -> None:
        raise OSError(errno.ENOSPC, "No space left on device")

    monkeypatch.setattr(os, "fsync", full)
    path = tmp_path / "graph.json"
    with pytest.raises(OSError, match="No space left") as told:
        write(path, [b"x"])
    assert told.value.filename == str(path)
    assert names(tmp_path) == set()


@pytest.mark.skipif(os.name == "nt", reason="processes cannot be asked for there")
def test_what_killed_writers_left_is_removed_and_nothing_else(tmp_path: Path) -> None:
    dead = subprocess.Popen([sys.executable, "-c", ""])
    dead.wait()
    keep = {
        f".a.txt.{os.getpid()}-0123abcd.tmp",
        f".a.txt.{dead.pid}-xyz.tmp",
        "a.tmp",
        f"a.{dead.pid}-0123abcd.tmp",
    }
    for name in {*keep, f".a.txt.{dead.pid}-0123abcd.tmp", f".b.{dead.pid}-0123abcd.tmp"}:
        (tmp_path / name).touch()
    remove_left_overs(tmp_path)
    assert names(tmp_path) == keep
