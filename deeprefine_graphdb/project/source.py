"""Reading a graph.json of the user's."""

from __future__ import annotations

from pathlib import Path

from deeprefine_graphdb.model.errors import GraphFormatError
from deeprefine_loaders.errors import FormatError
from deeprefine_loaders.graphfile import GraphFile, read_graph


def read_source(path: Path) -> GraphFile:
    """Parse a graph.json, its faults as :class:`GraphFormatError`."""
    try:
        return read_graph(path)
    except FormatError as error:
        raise GraphFormatError(error.message, error.hint) from error
