"""A digest that was begun early is never that of another file than the one that is there when it is asked for."""

from __future__ import annotations

import hashlib
import os
from pathlib import Path

import pytest

from deeprefine_graphdb.model.errors import GraphFormatError
from deeprefine_graphdb.project import digests
from deeprefine_graphdb.project.digests import DigestAhead, file_digest


def sha(data: bytes) -> str:
    return hashlib.sha256(data).hexdigest()


def test_a_digest_is_that_of_all_pieces(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(digests, "CHUNK", 3)
    path = tmp_path / "graph.json"
    path.write_bytes(b"0123456789")
    assert file_digest(path) == DigestAhead(path).result() == sha(b"0123456789")


def test_a_file_that_was_read_ahead_is_not_read_again(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = tmp_path / "graph.json"
    path.write_bytes(b"one")
    ahead = DigestAhead(path)
    assert ahead.result() == sha(b"one")
    monkeypatch.setattr(digests, "file_digest", lambda _: pytest.fail("it was read again"))
    assert ahead.result() == sha(b"one")


def test_a_file_that_is_another_one_now_is_read_again(tmp_path: Path) -> None:
    path, other = tmp_path / "graph.json", tmp_path / "other"
    path.write_bytes(b"one")
    ahead = DigestAhead(path)
    ahead.result()
    known = path.stat()
    other.write_bytes(b"two")
    os.utime(other, ns=(known.st_atime_ns, known.st_mtime_ns))
    other.replace(path)
    assert ahead.result() == sha(b"two")
    path.unlink()
    assert ahead.result() is None


def test_a_file_that_came_later_is_read(tmp_path: Path) -> None:
    path = tmp_path / "graph.json"
    ahead = DigestAhead(path)
    assert ahead.result() is None
    path.write_bytes(b"one")
    assert ahead.result() == sha(b"one")


def test_a_file_that_cannot_be_read_is_named_when_it_is_asked_for(tmp_path: Path) -> None:
    ahead = DigestAhead(tmp_path)
    with pytest.raises(GraphFormatError, match="cannot be read"):
        ahead.result()
