"""The index of a base file: where each object stands, found by kind and key without reading it all.

Layout of the bytes: a fixed head with a checksum of all that follows, the header as JSON, then for each
section 16 bytes an object (start and end, in file order), then for each kind 16 bytes an object (a digest of
its key and its ordinal among its kind, sorted). Numbers of the spans are little-endian, ordinals big-endian.
"""

from __future__ import annotations

import json
import mmap
import struct
import sys
import zlib
from array import array
from collections.abc import Iterable, Mapping, Sequence
from hashlib import blake2b
from typing import NamedTuple

from .errors import FormatError
from .header import SECTIONS_OF_KIND, Header

MAGIC = b"deeprefine base index 2\n"
_HEAD = struct.Struct(f"<{len(MAGIC)}sQI")
_SPAN = struct.Struct("<QQ")
_DIGEST = 12
_ENTRY = _DIGEST + 4
_BITS = 8 * _DIGEST
_NEAR = 64


class Found(NamedTuple):
    """An object's section, its ordinal there, and its byte span."""

    section: str
    ordinal: int
    start: int
    end: int


def build_index(header: Header, keys: Mapping[str, Sequence[str]], spans: Mapping[str, array[int]]) -> bytes:
    """Make the index. ``keys`` are in file order by kind, ``spans`` start, end, start, end, … by section."""
    text = json.dumps(header.to_json(), separators=(",", ":")).encode("ascii")
    parts = [text]
    for section in header.sections:
        numbers = spans[section.name]
        if sys.byteorder == "big":
            numbers = numbers[:]
            numbers.byteswap()
        parts.append(numbers.tobytes())
    for kind in SECTIONS_OF_KIND:
        entries = [_digest(key) + at.to_bytes(4, "big") for at, key in enumerate(keys[kind])]
        entries.sort()
        parts.append(b"".join(entries))
    body = b"".join(parts)
    return _HEAD.pack(MAGIC, len(text), zlib.crc32(body)) + body


def is_whole(chunks: Iterable[bytes]) -> bool:
    """Tell whether the bytes of an index, the head in the first piece, have the checksum that they tell of."""
    wanted = found = 0
    for number, chunk in enumerate(chunks):
        if number == 0:
            try:
                _, _, wanted = _HEAD.unpack_from(chunk)
            except struct.error:
                return False
        found = zlib.crc32(chunk[_HEAD.size :] if number == 0 else chunk, found)
    return found == wanted


class Index:
    """Reads an index in place. Raises :class:`FormatError` when the bytes are none."""

    def __init__(self, data: bytes | mmap.mmap, source: str) -> None:
        self._data = data
        try:
            magic, length, _ = _HEAD.unpack_from(data)
            if magic != MAGIC:
                raise ValueError("another format")
            place = _HEAD.size + length
            self.header = Header.from_json(json.loads(data[_HEAD.size : place]))
            self._spans: dict[str, int] = {}
            for section in self.header.sections:
                self._spans[section.name] = place
                place += _SPAN.size * section.count
            self._entries: dict[str, tuple[int, int]] = {}
            self._sections: dict[str, list[tuple[str, int, int]]] = {}
            for kind in SECTIONS_OF_KIND:
                count = sum(section.count for section in self.header.of_kind(kind))
                self._entries[kind] = (place, count)
                place += _ENTRY * count
                self._sections[kind] = [
                    (section.name, section.count, self._spans[section.name])
                    for section in self.header.of_kind(kind)
                ]
            if place != len(data):
                raise ValueError("another length")
        except (ValueError, KeyError, TypeError, AttributeError, struct.error) as error:
            raise FormatError(
                f"{source} is no index of a base file ({error}).", "Run `deeprefine-db doctor --rebuild`."
            ) from error

    def span(self, section: str, ordinal: int) -> tuple[int, int]:
        """Give start and end of an element of a section. Raises ``IndexError`` when there is none."""
        layout = self.header.section(section)
        if layout is None or not 0 <= ordinal < layout.count:
            raise IndexError(f"{section}[{ordinal}]")
        start, end = _SPAN.unpack_from(self._data, self._spans[section] + _SPAN.size * ordinal)
        return start, end

    def find(self, kind: str, key: str) -> Found | None:
        """Find an object by kind and key, or give ``None``."""
        at = self._search(kind, _digest(key))
        return None if at is None else self._found(kind, at)

    def _search(self, kind: str, digest: bytes) -> int | None:
        """Give the ordinal of the first object with a digest.

        Digests are spread evenly, so a wanted one stands about where its share of their range says, and closer to
        where the one that stands there says. Where it does not, as in a damaged file, it is sought by halves.
        """
        place, count = self._entries[kind]
        if not count:
            return None
        data, wanted = self._data, int.from_bytes(digest, "big")
        guess = wanted * count >> _BITS
        at = place + _ENTRY * guess
        guess += (wanted - int.from_bytes(data[at : at + _DIGEST], "big")) * count >> _BITS
        guess = min(max(guess, 0), count)
        start, end = max(guess - _NEAR, 0), min(guess + _NEAR, count)
        near = data[place + _ENTRY * start : place + _ENTRY * end]
        at = near.find(digest)
        if at > 0 and at % _ENTRY == 0:
            return int.from_bytes(near[at + _DIGEST : at + _ENTRY], "big")
        return self._search_by_halves(place, count, digest)

    def _search_by_halves(self, place: int, count: int, digest: bytes) -> int | None:
        low, high = 0, count
        while low < high:
            middle = (low + high) // 2
            at = place + _ENTRY * middle
            if self._data[at : at + _DIGEST] < digest:
                low = middle + 1
            else:
                high = middle
        at = place + _ENTRY * low
        if low == count or self._data[at : at + _DIGEST] != digest:
            return None
        return int.from_bytes(self._data[at + _DIGEST : at + _ENTRY], "big")

    def missing(self, kind: str, keys: Iterable[str]) -> list[Found]:
        """Give the objects of a kind whose key is not among these, in file order."""
        known = {blake2b(key.encode("utf-8", "surrogatepass"), digest_size=_DIGEST).digest() for key in keys}
        place, count = self._entries[kind]
        entries = bytes(self._data[place : place + _ENTRY * count])
        ordinals = [
            int.from_bytes(entries[at + _DIGEST : at + _ENTRY], "big")
            for at in range(0, len(entries), _ENTRY)
            if entries[at : at + _DIGEST] not in known
        ]
        return [found for at in sorted(ordinals) if (found := self._found(kind, at)) is not None]

    def _found(self, kind: str, ordinal: int) -> Found | None:
        for section, count, place in self._sections[kind]:
            if ordinal < count:
                start, end = _SPAN.unpack_from(self._data, place + _SPAN.size * ordinal)
                return Found(section, ordinal, start, end)
            ordinal -= count
        return None


def _digest(key: str) -> bytes:
    return blake2b(key.encode("utf-8", "surrogatepass"), digest_size=_DIGEST).digest()
