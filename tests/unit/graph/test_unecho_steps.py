"""A simple graphify run on an export and on its base: less our echo, the one is the other wherever the rules say so."""

from __future__ import annotations

import json
import os
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

from hypothesis import given, settings
from hypothesis import strategies as st

from deeprefine_graphdb.graph.unecho_found import pair_of
from tests.unit.graph.echoes import Export, Json, base_of, by_graphify, parsed
from tests.unit.graph.test_unecho_laws import actions, graphs, refined

few = settings(max_examples=int(os.environ.get("DEEPREFINE_TEST_EXAMPLES", "80")), deadline=None)
FRESH = {"id": "fresh", "label": "Fresh", "norm_label": "fresh", "_origin": "ast", "source_file": "a.py"}


@dataclass(frozen=True)
class Step:
    """What happens: ``mode`` is how graphify runs, ``truth`` what the sources say, ``gone`` are files that went.

    ``read`` are the files that an incremental run reads; ``fuses`` says whether a pair keeps one link only.
    """

    mode: str
    truth: Json
    gone: frozenset[str]
    read: frozenset[str]
    fuses: bool
    shift: int

    def __call__(self, data: Json) -> Json:
        """Run on a file."""
        if self.mode == "cluster":
            return self._finished(data, data["nodes"], data["links"])
        read = {"a.py", "b.py"} if self.mode == "full" else set(self.read)
        made = {each["id"] for each in self.truth["nodes"] if self._is_read(each, read)}
        nodes = [each for each in self.truth["nodes"] if self._is_read(each, read)]
        nodes += [each for each in data["nodes"] if self._stays(each, read) and each["id"] not in made]
        ids = {each["id"] for each in nodes}
        links = [each for each in self.truth["links"] if self._is_read(each, read)]
        links += [each for each in data["links"] if self._stays(each, read)]
        links = [each for each in links if {each["source"], each["target"]} <= ids]
        return self._finished(data, nodes, links)

    def _is_read(self, each: Json, read: set[str]) -> bool:
        return each["_origin"] == "ast" and each["source_file"] in read - self.gone

    def _stays(self, each: Json, read: set[str]) -> bool:
        if each.get("source_file") in self.gone:
            return False
        return not (each["_origin"] == "ast" and each.get("source_file") in read)

    def _finished(self, data: Json, nodes: Iterable[Json], links: Iterable[Json]) -> Json:
        nodes = [{**each, "community": (len(each["id"]) + self.shift) % 3} for each in nodes]
        ids = {each["id"] for each in nodes}
        hyperedges = [
            {**each, "nodes": [member for member in each["nodes"] if member in ids]}
            for each in data["hyperedges"]
        ]
        return {
            **data,
            "multigraph": False,
            "nodes": nodes,
            "links": self._fused(links) if self.fuses else list(links),
            "hyperedges": [each for each in hyperedges if each["nodes"]],
        }

    @staticmethod
    def _fused(links: Iterable[Json]) -> list[Json]:
        fused: dict[tuple[str, str], Json] = {}
        for each in links:
            pair = pair_of(each["source"], each["target"])
            fused[pair] = {**fused.get(pair, {}), **each}
        return list(fused.values())


@st.composite
def histories(draw: st.DrawFn) -> tuple[Export, Step]:
    """Make a base that graphify wrote, an export of refinements over it, and what happens then."""
    data = draw(graphs())
    for each in (*data["nodes"], *data["links"]):
        if each["_origin"] == "ast" and not each["source_file"]:
            each["source_file"] = "b.py"
    fuses = draw(st.booleans())
    seen: set[Any] = set()
    links = []
    for each in data["links"]:
        pair = pair_of(each["source"], each["target"])
        key: tuple[str, ...] = pair if fuses else (each["source"], each["relation"], each["target"])
        if key not in seen:
            links.append(each)
        seen.add(key)
    data |= {"links": links, "multigraph": False}
    truth = {
        "nodes": [each for each in data["nodes"] if draw(st.integers(0, 5)) or each["_origin"] != "ast"],
        "links": [each for each in links if draw(st.integers(0, 5)) or each["_origin"] != "ast"],
    }
    more = draw(st.booleans())
    if more:
        ends = st.sampled_from([FRESH["id"], *(each["id"] for each in truth["nodes"])])
        source, target = draw(ends), draw(ends)
        fresh = {
            "source": source,
            "target": target,
            "relation": "fresh",
            "_origin": "ast",
            "source_file": "a.py",
        }
        truth = {"nodes": [*truth["nodes"], FRESH], "links": [*truth["links"], fresh]}
    step = Step(
        mode=draw(st.sampled_from(["full", "hook", "cluster"])),
        truth=truth,
        gone=frozenset(draw(st.sets(st.sampled_from(["a.py", "b.py"]), max_size=1))),
        read=frozenset(draw(st.sets(st.sampled_from(["a.py", "b.py"])))),
        fuses=fuses,
        shift=draw(st.integers(0, 2)),
    )
    return refined(by_graphify(data), draw(st.lists(actions, min_size=1, max_size=5))), step


def objects(data: Json) -> dict[tuple[Any, ...], Json]:
    named: dict[tuple[Any, ...], Json] = {("node", each["id"]): each for each in data["nodes"]}
    named |= {("link", each["source"], each["relation"], each["target"]): each for each in data["links"]}
    return named | {("hyperedge", each["id"]): each for each in data["hyperedges"]}


def merged_away(made: Export) -> set[str]:
    return {entry.key for entry in made.manifest if entry.object == "node" and entry.kind == "removed"}


def our_pairs(made: Export) -> set[tuple[str, str]]:
    texts = [parsed(entry.disk) for entry in made.manifest if entry.object == "link" and entry.disk]
    return {pair_of(each["source"], each["target"]) for each in texts}


@few
@given(histories())
def test_a_step_on_the_export_less_our_echo_is_the_step_on_the_base(history: tuple[Export, Step]) -> None:
    made, step = history
    wanted = parsed(by_graphify(step(parsed(made.base))))
    result = made.unecho(by_graphify(step(made.data)))
    ours, theirs = objects(base_of(result)), objects(wanted)
    old = objects(parsed(made.base))
    for lost in theirs.keys() - ours.keys():
        assert lost[0] == "link"
        assert lost not in old, lost
        ends = {lost[1], lost[3]}
        assert ends & merged_away(made) or pair_of(lost[1], lost[3]) in our_pairs(made), lost
    kept = {name for each in result.unconfirmed for name in _names(each.object, json.loads(each.raw))}
    unsure = {name[1] for name in kept if name[0] == "node"}
    for extra in ours.keys() - theirs.keys() - kept:
        assert _leans_on(ours[extra], unsure), extra
    for name in ours.keys() & theirs.keys() - kept:
        assert ours[name] == theirs[name] or (name[0] == "hyperedge" and _leans_on(ours[name], unsure))


def _leans_on(each: Json, unsure: set[str]) -> bool:
    """Tell whether a link or hyperedge names a node that the base keeps, unconfirmed: it goes when that goes."""
    return bool(unsure & {each.get("source"), each.get("target"), *each.get("nodes", ())})


def _names(kind: str, each: Json) -> Iterable[tuple[Any, ...]]:
    return objects({"nodes": [], "links": [], "hyperedges": [], f"{kind}s": [each]})
