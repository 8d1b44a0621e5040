"""The graph to measure on, and what of it the work is done to."""

from __future__ import annotations

import hashlib
import lzma
import random
import shutil
from collections import Counter
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from deeprefine_loaders.graphfile import read_graph
from deeprefine_loaders.identity import norm_label

REPOSITORY = Path(__file__).resolve().parents[1]
FOLDERS = (REPOSITORY.parent / "shared" / "graphs", REPOSITORY / "tests" / "data")
PREFERRED = ("large", "flask")
SUFFIX = ".graph.json.xz"
MERGED_DEGREE = 3_000
MERGES = 4
HUBS = 200
SAMPLE = 20_000
SEED = 20_26
QUESTION = "Which classes handle the parsing of configuration files?"


@dataclass(frozen=True)
class Workload:
    """What to work on: names that resolve, edges that can be deleted, entity ids; drawn with a fixed seed.

    ``merge`` are names for a chain of merges, the first of which has about 3,000 edges; ``namesake`` is the label
    that most entities share, ``namesakes`` how many do.
    """

    nodes: int
    links: int
    names: tuple[str, ...]
    edges: tuple[tuple[str, str, str], ...]
    entities: tuple[str, ...]
    hubs: tuple[str, ...]
    merge: tuple[str, ...]
    merge_degree: int
    namesake: str
    namesakes: int

    def as_json(self) -> dict[str, Any]:
        """Give the fields for a file."""
        return asdict(self)

    @classmethod
    def from_json(cls, fields: dict[str, Any]) -> Workload:
        """Take the fields from a file."""
        lists = {name: tuple(value) for name, value in fields.items() if isinstance(value, list)}
        return cls(**{**fields, **lists, "edges": tuple((s, r, t) for s, r, t in fields["edges"])})


def graph_file(given: str | None) -> Path:
    """Find a graph: a path, the name of a known one, or by default the largest that is there.

    Raises ``FileNotFoundError``.
    """
    if given is not None and Path(given).is_file():
        return Path(given)
    for name in (given,) if given is not None else PREFERRED:
        for folder in FOLDERS:
            if (found := folder / f"{name}{SUFFIX}").is_file():
                return found
    raise FileNotFoundError(f"There is no graph {given or ' or '.join(PREFERRED)}; give a file with --graph.")


def unpack(source: Path, target: Path) -> str:
    """Write a graph, compressed or not, as a plain graph.json; give its SHA-256."""
    target.parent.mkdir(parents=True, exist_ok=True)
    digest = hashlib.sha256()
    with (
        lzma.open(source) if source.suffix == ".xz" else source.open("rb") as packed,
        target.open("wb") as plain,
    ):
        shutil.copyfileobj(packed, plain, 1 << 20)
    with target.open("rb") as plain:
        while chunk := plain.read(1 << 20):
            digest.update(chunk)
    return digest.hexdigest()


def choose(path: Path) -> Workload:
    """Draw the workload from a graph.json."""
    graph = read_graph(path)
    nodes, links = graph.nodes, graph.links
    pick = random.Random(SEED)
    norms = [norm_label(label) for label in nodes.label]
    sharing = Counter(norms)
    ids = set(nodes.id)
    alone = {
        entity_id: label
        for entity_id, label, norm in zip(nodes.id, nodes.label, norms, strict=True)
        if sharing[norm] == 1
        and label == label.strip()
        and label
        and (label == entity_id or label not in ids)
    }
    degree = Counter(links.source) + Counter(links.target)
    triples = Counter(zip(links.source, links.relation, links.target, strict=True))
    between = [
        (alone[source], relation, alone[target])
        for (source, relation, target), count in triples.items()
        if count == 1 and source in alone and target in alone and source != target
    ]
    first = min(alone, key=lambda entity_id: abs(degree[entity_id] - MERGED_DEGREE))
    names = pick.sample(sorted(set(alone.values()) - {alone[first]}), min(SAMPLE, len(alone) - 1))
    labels = Counter(nodes.label)
    namesake, namesakes = labels.most_common(1)[0]
    return Workload(
        nodes=len(nodes.id),
        links=len(links.key),
        names=tuple(names[MERGES:]),
        edges=tuple(pick.sample(between, min(SAMPLE, len(between)))),
        entities=tuple(pick.sample(nodes.id, min(SAMPLE, len(nodes.id)))),
        hubs=tuple(entity_id for entity_id, _ in degree.most_common(HUBS)),
        merge=(alone[first], *names[:MERGES]),
        merge_degree=degree[first],
        namesake=namesake,
        namesakes=namesakes,
    )
