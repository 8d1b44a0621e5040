"""Write files so that a crash at any moment leaves the old one or the new one, whole."""

from __future__ import annotations

import contextlib
import errno
import glob
import hashlib
import os
import re
import secrets
import shutil
import stat
import threading
from collections.abc import Callable, Iterable, Iterator
from pathlib import Path

_TEMPORARY = re.compile(r"\..+\.(\d+)-[0-9a-f]{8}\.tmp")
_LARGE = 1 << 20
KINDS = {
    stat.S_IFDIR: "a folder",
    stat.S_IFCHR: "a device",
    stat.S_IFBLK: "a device",
    stat.S_IFIFO: "a pipe",
    stat.S_IFSOCK: "a socket",
}


class NotAFile(OSError):
    """Something is there that is no regular file, and a rename would put a file in its place."""

    def __init__(self, path: Path, mode: int) -> None:
        kind = KINDS.get(stat.S_IFMT(mode), "no regular file")
        super().__init__(errno.EEXIST, f"it is {kind}", str(path))


def write_durable(path: Path, data: bytes | Iterable[bytes]) -> str:
    """Write a file of our own and put it in place at once; give the SHA-256 of its content in hex.

    Raises :class:`NotAFile` where something else has the name; every ``OSError`` names the file.
    """
    with naming(path):
        return _replace(path, [data] if isinstance(data, bytes) else data, None, None)


def replace_file(
    path: Path,
    chunks: Iterable[bytes],
    backup: Path | None = None,
    ready: Callable[[str], None] | None = None,
) -> str:
    """Replace a file of the user's, or make it; give the SHA-256 of its content in hex.

    A symbolic link stays one and what it points at is replaced; permissions are kept. ``backup`` is where the
    file that is replaced is kept (a former backup there gives way to it). ``ready`` is told the digest when
    the new content is durable and not yet in place. When ``chunks`` or ``ready`` raises, the file has not
    changed. Raises :class:`NotAFile` where something else has the name; every ``OSError`` names the file.
    """
    with naming(path):
        return _replace(Path(os.path.realpath(path)) if path.is_symlink() else path, chunks, backup, ready)


def write_out(path: Path, chunks: Iterable[bytes]) -> str:
    """Write to whatever a path names; give the SHA-256 of what was written in hex.

    A file is replaced as :func:`replace_file` does it. What is no regular file (a device, a pipe, a socket, the end
    of a stream below ``/dev/fd``) is opened and written to.
    """
    try:
        mode = path.stat().st_mode
    except OSError:
        return replace_file(path, chunks)
    if stat.S_ISREG(mode) and Path(os.path.realpath(path)).exists():
        return replace_file(path, chunks)
    digest = hashlib.sha256()
    with naming(path), path.open("wb", buffering=0) as stream:
        for chunk in _hashing(chunks, digest):
            _write_all(stream.fileno(), chunk)
    return digest.hexdigest()


@contextlib.contextmanager
def naming(path: Path) -> Iterator[None]:
    """Let every ``OSError`` of the block name a file: a full disk names none by itself."""
    try:
        yield
    except OSError as error:
        if error.errno is not None and error.filename is None:
            error.filename = str(path)
        raise


def fsync_directory(path: Path) -> None:
    """Make the names in a directory durable, where the system can."""
    if os.name == "nt":
        return
    handle = os.open(path, os.O_RDONLY | getattr(os, "O_DIRECTORY", 0))
    try:
        os.fsync(handle)
    finally:
        os.close(handle)


def _replace(
    path: Path, chunks: Iterable[bytes], backup: Path | None, ready: Callable[[str], None] | None
) -> str:
    digest = hashlib.sha256()
    for target in (path, backup):
        if target is not None:
            _refuse_other_kinds(target)
    _remove_left_over(path)
    temporary = _temporary(path)
    try:
        with temporary.open("xb") as stream:
            for chunk in _hashing(chunks, digest):
                stream.write(chunk)
            stream.flush()
            with contextlib.suppress(FileNotFoundError):
                temporary.chmod(stat.S_IMODE(path.stat().st_mode))
            os.fsync(stream.fileno())
        if ready is not None:
            ready(digest.hexdigest())
        if backup is not None and path.exists():
            _keep(path, backup)
        temporary.replace(path)
    except BaseException:
        temporary.unlink(missing_ok=True)
        raise
    fsync_directory(path.parent)
    return digest.hexdigest()


def _hashing(chunks: Iterable[bytes], digest: hashlib._Hash) -> Iterator[bytes]:
    """Give the chunks and hash them; a large one is hashed in a thread while it is being written."""
    for chunk in chunks:
        if len(chunk) < _LARGE:
            digest.update(chunk)
            yield chunk
            continue
        hashing = threading.Thread(target=digest.update, args=(chunk,))
        hashing.start()
        try:
            yield chunk
        finally:
            hashing.join()


def _refuse_other_kinds(path: Path) -> None:
    try:
        mode = path.lstat().st_mode
    except FileNotFoundError:
        return
    if not (stat.S_ISREG(mode) or stat.S_ISLNK(mode)):
        raise NotAFile(path, mode)


def _write_all(descriptor: int, chunk: bytes) -> None:
    rest = memoryview(chunk)
    while rest:
        rest = rest[os.write(descriptor, rest) :]


def _keep(path: Path, backup: Path) -> None:
    """Put a copy of a file at ``backup``: a second name for it where that is possible."""
    _remove_left_over(backup)
    temporary = _temporary(backup)
    try:
        try:
            os.link(path, temporary)
        except OSError:
            shutil.copy2(path, temporary)
            with temporary.open("rb+") as stream:
                os.fsync(stream.fileno())
        temporary.replace(backup)
        # Renaming one name of a file over another name of the same file does nothing, and leaves both.
        temporary.unlink(missing_ok=True)
    except BaseException:
        temporary.unlink(missing_ok=True)
        raise
    fsync_directory(backup.parent)


def _remove_left_over(path: Path) -> None:
    """Remove temporary files that writers of this file left behind when they were killed."""
    _remove_dead(path.parent.glob(f".{glob.escape(path.name)}.*-*.tmp"))


def remove_left_overs(folder: Path) -> None:
    """Remove the temporary files of a folder whose writers were killed, whatever they wrote."""
    _remove_dead(folder.glob(".*.*-*.tmp"))


def _remove_dead(found: Iterable[Path]) -> None:
    for left in found:
        writer = _TEMPORARY.fullmatch(left.name)
        if writer is not None and not _is_running(int(writer[1])):
            left.unlink(missing_ok=True)


def _is_running(pid: int) -> bool:
    if os.name == "nt":
        return True
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return False
    except (PermissionError, OverflowError):
        return True
    return True


def _temporary(path: Path) -> Path:
    return path.with_name(f".{path.name}.{os.getpid()}-{secrets.token_hex(4)}.tmp")
