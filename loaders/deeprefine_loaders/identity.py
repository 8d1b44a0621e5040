"""What identifies an object of graph.json: ids, keys and the texts that names are compared by."""

from __future__ import annotations

import hashlib
import json
import unicodedata
from typing import Any

JSON_PREFIX = "json:"


def storable_text(value: Any) -> str | None:
    """Give a JSON value as text that every engine can hold, without two values sharing a text.

    A string stays as it is, unless it has a lone surrogate or begins with ``json:``; these and every other
    value become ``json:`` and their JSON text, so that ``1`` and ``"1"`` differ. ``None`` stays ``None``.
    """
    if value is None:
        return None
    if isinstance(value, str):
        if value.isascii():
            if not value.startswith(JSON_PREFIX):
                return value
        elif not value.startswith(JSON_PREFIX) and not has_surrogate(value):
            return value
    return JSON_PREFIX + json.dumps(value, ensure_ascii=True, separators=(",", ":"))


def column_text(value: Any) -> str | None:
    """Give a JSON value as text to read and search by: a string as it is, anything else as its JSON text.

    Where the value identifies nothing, that ``10`` and ``"10"`` have one text does no harm. A string with a lone
    surrogate becomes its storable form. ``None`` stays ``None``.
    """
    if value is None or (isinstance(value, str) and (value.isascii() or not has_surrogate(value))):
        return value
    if isinstance(value, str):
        return storable_text(value)
    return json.dumps(value, ensure_ascii=True, separators=(",", ":"))


def original_value(text: str | None) -> Any:
    """Undo :func:`storable_text`."""
    if text is not None and text.startswith(JSON_PREFIX):
        return json.loads(text[len(JSON_PREFIX) :])
    return text


def has_surrogate(text: str) -> bool:
    """Tell whether a string has a lone surrogate, which UTF-8 and the engines refuse."""
    try:
        text.encode("utf-8")
    except UnicodeEncodeError:
        return True
    return False


def edge_key(source: str, relation: str, target: str, occurrence: int = 0) -> str:
    """Name one link of a file: a digest of its triple, and ``#n`` for the n-th further equal triple.

    Ends are entity ids in their storable form and in true direction. The key is stable for one base.
    """
    triple = f"{len(source)}:{source}{len(relation)}:{relation}{target}"
    digest = hashlib.blake2b(triple.encode("utf-8", "surrogatepass"), digest_size=12).hexdigest()
    return f"{digest}#{occurrence}" if occurrence else digest


def hyperedge_key(slot: str, identity: str, occurrence: int = 0) -> str:
    """Name a hyperedge by slot (``hyperedges``, ``graph.hyperedges``) and id, or a digest of its text."""
    suffix = f"#{occurrence}" if occurrence else ""
    return f"{slot}:{identity}{suffix}"


def norm_label(label: str) -> str:
    """Normalise a label the way graphify does: NFKD, combining marks dropped, ``lower()`` (not casefold)."""
    if label.isascii():
        return label.lower()
    decomposed = unicodedata.normalize("NFKD", label)
    return "".join(ch for ch in decomposed if not unicodedata.combining(ch)).lower()


def shown_label(node: dict[str, Any]) -> str:
    """Give the label that a person sees: ``label``, else ``name``, else the id in storable form."""
    for member in ("label", "name"):
        text = column_text(node.get(member))
        if text is not None:
            return text
    return storable_text(node.get("id")) or ""
