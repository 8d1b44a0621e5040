"""The one error of this package."""

from __future__ import annotations


class FormatError(ValueError):
    """A file is not what it should be.

    ``message`` is one sentence that names the file and the place, ``hint`` says what to do.
    """

    def __init__(self, message: str, hint: str = "") -> None:
        super().__init__(message)
        self.message = message
        self.hint = hint

    def __str__(self) -> str:
        return f"{self.message} {self.hint}".strip()
