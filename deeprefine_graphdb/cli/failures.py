"""What the system refused, in a sentence that names the file or the folder."""

from __future__ import annotations

import errno
from collections.abc import Iterator

from deeprefine_graphdb.cli.options import Options
from deeprefine_graphdb.model.errors import DeepRefineError

FULL = {errno.ENOSPC, errno.EDQUOT}
REFUSED = {errno.EACCES, errno.EPERM, errno.EROFS}


def of_the_system(error: OSError, options: Options) -> Iterator[str]:
    """Give the lines to print for an error of the operating system that nothing nearer to it has told."""
    reason = error.strerror or str(error) or type(error).__name__
    place = error.filename2 if error.filename2 is not None else error.filename
    if place is None:
        place = _folder(options)
    yield f"Error: {place} cannot be used: {reason}." if place else f"Error: {reason}."
    if error.errno in FULL:
        yield "Free some space there and run the command again; what was written before is whole."
    elif error.errno in REFUSED:
        yield "Check who may write there, and run the command again."
    else:
        yield "Run the command again with --debug to see where it happened."


def _folder(options: Options) -> str:
    """Give the folder that this program writes in; the system often names no file with its error."""
    try:
        return str(options.project().deeprefine)
    except (DeepRefineError, OSError):
        return ""
