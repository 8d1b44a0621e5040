"""Which link of the file is which link of the base, where a triple stands there more than once."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import Any

from deeprefine_graphdb.graph.unecho_found import Found
from deeprefine_loaders.basefile import BaseFile
from deeprefine_loaders.objects import read_object

STEM = 24
"""Characters of an edge key before the mark of its occurrence: equal triples share them."""


class Matches:
    """Matches links of the base with links of the file by triple, then by text, place in the source, and order."""

    def __init__(
        self, base: BaseFile, found: Found, touched: set[str], settled: set[str], ours: set[int]
    ) -> None:
        """``touched`` are base keys that a manifest names, ``settled`` those known by a stamp of the file.

        ``ours`` are the numbers of the file's links that carry a stamp of ours.
        """
        self._base = base
        self._found = found
        self._touched = touched
        self._settled = settled
        self._ours = ours
        self._of_stem: dict[str, dict[str, int | None]] = {}

    def number(self, key: str) -> int | None:
        """Give the number of the file's link that is this link of the base, or ``None``."""
        return self.of(key[:STEM]).get(key)

    def of(self, stem: str) -> dict[str, int | None]:
        """Give for every base link of a triple (but those known by a stamp) the number of the file's link."""
        if stem not in self._of_stem:
            self._of_stem[stem] = self._match(stem)
        return self._of_stem[stem]

    def _match(self, stem: str) -> dict[str, int | None]:
        keys = [key for key in self._base_keys(stem) if key not in self._settled]
        keys.sort(key=lambda key: key in self._touched)
        numbers = [number for number in self._numbers(stem) if number not in self._ours]
        matched: dict[str, int | None] = dict.fromkeys(keys)
        if len(keys) == 1 and len(numbers) == 1:
            return {keys[0]: numbers[0]}
        old = {key: self._base.slice("link", key) or "{}" for key in keys} if numbers else {}
        new = {number: self._found.raw(self._found.place("link", number)) for number in numbers}
        for same in _TESTS:
            for key in keys:
                if matched[key] is None:
                    number = next((each for each in numbers if same(old[key], new[each])), None)
                    if number is not None:
                        matched[key] = number
                        numbers.remove(number)
        return matched

    def _base_keys(self, stem: str) -> Iterator[str]:
        occurrence = 0
        while self._base.place("link", key := _key(stem, occurrence)) is not None:
            yield key
            occurrence += 1

    def _numbers(self, stem: str) -> list[int]:
        numbers: list[int] = []
        while (number := self._found.link_at.get(_key(stem, len(numbers)))) is not None:
            numbers.append(number)
        return numbers


def _key(stem: str, occurrence: int) -> str:
    return f"{stem}#{occurrence}" if occurrence else stem


def _at(members: dict[str, Any]) -> tuple[Any, ...]:
    return members.get("source_file"), members.get("source_location")


_TESTS: Sequence[Callable[[str, str], bool]] = (
    lambda old, new: old == new,
    lambda old, new: _at(read_object(old)) == _at(read_object(new)),
    lambda old, new: read_object(old).get("source_file") == read_object(new).get("source_file"),
    lambda _old, _new: True,
)
