"""Un-echoing links: what is added, removed, re-pointed or folded by us, and what went because of it."""

from __future__ import annotations

from functools import cached_property

from deeprefine_graphdb.graph.unecho_case import Case, Known
from deeprefine_graphdb.graph.unecho_found import Mark, Pair, pair_of
from deeprefine_graphdb.graph.unecho_match import STEM, Matches
from deeprefine_graphdb.graph.unecho_model import Echo, Kept, Restored
from deeprefine_graphdb.graph.unecho_stubs import is_lost_stub, keep_stub
from deeprefine_graphdb.graph.unecho_text import ends_of, is_ast, link_identity, restored, stripped, unbled
from deeprefine_loaders.header import Header
from deeprefine_loaders.identity import edge_key
from deeprefine_loaders.objects import read_object


def unecho_links(case: Case) -> Matches:
    """Find the links that differ between the file and the new base. The nodes must be known.

    Gives what link of the file is what link of the former base.
    """
    rules = _Links(case)
    rules.stamped()
    rules.entries()
    rules.untouched()
    return rules.matches


class _Links:
    def __init__(self, case: Case) -> None:
        self.case = case
        self.echoes: list[tuple[Mark, Known]] = []
        self.changed: list[tuple[Mark, Known]] = []
        self.moved: dict[str, list[tuple[Mark, Known]]] = {}
        ours: set[int] = set()
        for mark in case.marks("link"):
            whose, known = case.image(mark)
            if known is None:
                if whose == "stray":
                    self._strip(mark)
                else:
                    case.foreign(mark, whose)
                continue
            ours.add(case.found.number(mark.place))
            if known.entry.base is None:
                self.echoes.append((mark, known))
            elif known.moves:
                self.moved.setdefault(known.entry.key, []).append((mark, known))
            else:
                self.changed.append((mark, known))
        self.settled = {known.entry.key for _, known in self.changed}
        self.of_key = {known.entry.key: known for known in case.entries["link"]}
        touched = set(self.of_key)
        self.matches = Matches(case.base, case.found, touched, self.settled, ours)

    def stamped(self) -> None:
        """Settle links by the stamps that they carry."""
        for mark, known in self.echoes:
            self._cut(mark, known.entry.key, added=True)
        done: set[str] = set()
        for mark, known in self.changed:
            if known.entry.key in done:
                self._cut(mark, mark.key)
            else:
                self._restore(mark, known)
            done.add(known.entry.key)
        for key, forms in self.moved.items():
            if key in self.settled:
                for mark, _ in forms:
                    self._cut(mark, mark.key)
            else:
                self._moved(forms)

    def entries(self) -> None:
        """Settle what the manifest says by rule 5b to 5f."""
        for known in self.case.entries["link"]:
            entry = known.entry
            if entry.base is None:
                self._added(known)
            elif entry.key in self.settled or entry.key in self.moved:
                continue
            elif self.matches.number(entry.key) is not None:
                self._returned(known)
            elif self._is_kept(known):
                self._keep(known)
            else:
                self._gone(known, "graphify does not find it any more")

    def untouched(self) -> None:
        """Keep what we never touched and yet caused to go, by rule 5g."""
        case = self.case
        if not case.our_pairs and not case.merged and not case.renamed:
            return
        if not any(case.entries.values()):
            return
        stems: dict[str, None] = {}
        for gone in case.gone_links:
            source, relation, target = link_identity(gone.members)
            if self._cause(source, target, gone.members):
                stems[edge_key(source, relation, target)[:STEM]] = None
        for stem in stems:
            for key, number in self.matches.of(stem).items():
                if number is None and key not in self.of_key:
                    self._untouched(key)

    def _added(self, known: Known) -> None:
        entry, case = known.entry, self.case
        key = edge_key(*known.disk_identity)
        number = case.found.link_at.get(key)
        mark = case.found.mark_at.get(case.found.place("link", number)) if number is not None else None
        if number is not None and (mark is None or not mark.valid):
            text = f"The link {_shown(known.disk)} that {entry.by} added is in the file without our stamp"
            case.draft.note("adopted", "link", entry.key, entry.by, f"{text}: the base owns it now.")

    def _moved(self, forms: list[tuple[Mark, Known]]) -> None:
        """Settle a link that stands in the file with the end that a merge gave it."""
        first, known = forms[0]
        entry, case = known.entry, self.case
        if self.matches.number(entry.key) is not None:
            self._returned(known)
            for mark, _ in forms:
                self._cut(mark, mark.key)
            return
        for mark, _ in forms[1:]:
            self._cut(mark, mark.key)
        text = self._text(first, known)
        source, target = ends_of(read_object(text))
        if self._dangles(source, target, entry.by):
            self._cut(first, first.key)
            self._gone(known, "one of its ends is not in the graph any more")
            return
        case.draft.restored.append(
            Restored(
                "link",
                first.place,
                first.by,
                first.raw,
                text,
                moved=True,
                base_place=case.base.place("link", entry.key),
            )
        )

    def _restore(self, mark: Mark, known: Known) -> None:
        self.case.draft.restored.append(
            Restored(
                "link",
                mark.place,
                mark.by,
                mark.raw,
                self._text(mark, known),
                stood=self.case.base.place("link", known.entry.key),
            )
        )

    def _text(self, mark: Mark, known: Known) -> str:
        header: Header = self.case.found.graph.header
        fused = (
            self.case.fused.get(pair_of(*ends_of(mark.members)), ()) if known.entry.key in self.of_key else ()
        )
        return restored(mark.raw, known.before, known.after, header, fused=fused)

    def _is_kept(self, known: Known) -> bool:
        """Tell whether the base keeps a link that it had and the file has in no form."""
        case, entry = self.case, known.entry
        if not is_ast(known.base):
            return True
        if case.file_is_gone(known.base):
            return False
        source, target = ends_of(known.base)
        ends = {source, target}
        if known.moves:
            return self._excused(*ends_of(known.disk), ends)
        if entry.kind == "folded":
            survivor = self._survivor(known)
            if survivor is None or self._is_there(survivor):
                return True
            there = survivor.disk or survivor.base
            if there.get("source_file") != known.base.get("source_file"):
                return True
            source, target = ends_of(there)
            return self._excused(source, target, ends)
        return True

    def _excused(self, source: str, target: str, ends: set[str]) -> bool:
        """Tell whether our own doing may be why graphify left out a link that we wrote between these two."""
        case = self.case
        if source not in case.found.node_at or target not in case.found.node_at:
            return True
        if case.renamed.keys() & (ends | {source, target}) or case.merged.keys() & ends:
            return True
        return bool(self._links_on[pair_of(source, target)])

    @cached_property
    def _links_on(self) -> dict[Pair, list[int]]:
        """The file's links on every pair that a rule asks about."""
        pairs = set(self.case.our_pairs)
        for known in self.of_key.values():
            if known.entry.kind == "folded" and (survivor := self._survivor(known)) is not None:
                pairs.add(pair_of(*ends_of(survivor.disk or survivor.base)))
        return self.case.found.links_on(pairs)

    def _survivor(self, known: Known) -> Known | None:
        key = known.entry.successor or ""
        origin = key.partition("@")[0]
        for other in (self.of_key.get(key), self.of_key.get(origin)):
            if other is not None and other.entry.disk is not None:
                return other
        text = self.case.base.slice("link", key)
        if text is None:
            return None
        return Known(known.entry.model_copy(update={"key": key, "base": text, "disk": None}))

    def _is_there(self, survivor: Known) -> bool:
        key = survivor.entry.key
        if key in self.moved or key in self.settled or any(known is survivor for _, known in self.echoes):
            return True
        if survivor.entry.disk is None:
            return self.matches.number(survivor.entry.key) is not None
        return edge_key(*survivor.disk_identity) in self.case.found.link_at

    def _cause(self, source: str, target: str, members: dict[str, object]) -> str | None:
        """Give the action of ours for which an untouched link may have gone, ``None`` when there is none."""
        case = self.case
        pair = pair_of(source, target)
        if pair in case.our_pairs and (not is_ast(members) or self._links_on[pair]):
            return case.our_pairs[pair]
        for end in (source, target):
            if end in case.merged:
                return case.merged[end]
            if end in case.renamed and is_ast(members):
                return case.renamed[end]
        return None

    def _untouched(self, key: str) -> None:
        case = self.case
        text, place = case.base.slice("link", key), case.base.place("link", key)
        if text is None or place is None:
            return
        members = read_object(text)
        source, target = ends_of(members)
        by = self._cause(source, target, members)
        if by is not None and not self._dangles(source, target, by):
            why = f"graphify may have left it out because of {by}"
            case.draft.kept.append(Kept("link", key, by, text, place, why))

    def _keep(self, known: Known) -> None:
        entry, case = known.entry, self.case
        source, target = ends_of(known.base)
        if self._dangles(source, target, entry.by):
            self._gone(known, "one of its ends is not in the graph any more")
        elif entry.base is not None and entry.place is not None:
            did = {"removed": "removed", "folded": "folded", "moved": "re-pointed"}.get(entry.kind, "changed")
            why = f"it was {did} in the file that we wrote"
            case.draft.kept.append(Kept("link", entry.key, entry.by, entry.base, entry.place, why))

    def _dangles(self, source: str, target: str, by: str) -> bool:
        """Tell whether a link would lose an end that the former base had."""
        case = self.case
        missing = [end for end in dict.fromkeys((source, target)) if end not in case.node_ids]
        lost = [end for end in missing if case.base.place("node", end) is not None]
        if not all(is_lost_stub(case, end) for end in lost):
            return True
        for end in lost:
            keep_stub(case, end, by)
        return False

    def _cut(self, mark: Mark, key: str, *, added: bool = False) -> None:
        self.case.draft.echoes.append(Echo("link", mark.place, key, mark.by, mark.raw, added))

    def _strip(self, mark: Mark) -> None:
        draft = self.case.draft
        known, before = self.case.source_of(mark), self.case.base.slice("link", mark.key)
        text = stripped(mark.raw)
        exact = self.case.exact_links.get(mark.raw)
        if exact is not None:
            text = exact
        elif known is not None and before is not None:
            text = unbled(mark.raw, before, known.disk, self.case.found.graph.header)
        draft.restored.append(Restored("link", mark.place, mark.by, mark.raw, text))
        text = f"The stamp on the link {_shown(mark.members)} was made for another object and is taken off."
        draft.note("stripped", "link", mark.key, mark.by, text)

    def _returned(self, known: Known) -> None:
        entry, number = known.entry, self.matches.number(known.entry.key)
        if number is not None and self.case.found.raw(self.case.found.place("link", number)) == entry.disk:
            return
        text = f"The link {_shown(known.base)} that {entry.by} {_DID[entry.kind]} is in the file again."
        self.case.draft.note("returned", "link", entry.key, entry.by, text)

    def _gone(self, known: Known, why: str) -> None:
        entry = known.entry
        text = f"The link {_shown(known.base)} that {entry.by} {_DID[entry.kind]} is gone: {why}."
        self.case.draft.note("gone", "link", entry.key, entry.by, text)


_DID = {
    "added": "added",
    "changed": "changed",
    "removed": "removed",
    "moved": "re-pointed",
    "folded": "folded into another",
}


def _shown(members: dict[str, object]) -> str:
    source, relation, target = link_identity(members)
    return f"{source} -{relation}-> {target}"
