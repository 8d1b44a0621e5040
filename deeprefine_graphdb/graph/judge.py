"""Judging a recorded action on the present graph: carried out again, nothing to do, left out, or in conflict."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence, Set
from dataclasses import dataclass
from hashlib import sha256

from deeprefine_graphdb.graph import outcomes
from deeprefine_graphdb.graph.bind import free_id
from deeprefine_graphdb.graph.evidence import stronger
from deeprefine_graphdb.graph.opposed import Said, Sides
from deeprefine_graphdb.graph.perform import (
    EchoTexts,
    End,
    Ends,
    NextSeq,
    already,
    create,
    delete,
    equal_edges,
    insert,
    label_to_create,
    merge_into,
    rename,
)
from deeprefine_graphdb.graph.questions import said, state
from deeprefine_graphdb.graph.rebind import (
    ActiveMerges,
    Another,
    Found,
    Gone,
    Located,
    locate,
    ours,
    pick_edges,
)
from deeprefine_graphdb.graph.view import GraphView
from deeprefine_graphdb.model.actions import BoundAction, Effect, Reference, Resolution
from deeprefine_graphdb.model.graph import Edge
from deeprefine_loaders.identity import column_text, norm_label

NAMED = 5


@dataclass(frozen=True)
class Surroundings:
    """What judging an action depends on besides the graph; ``suspended`` grows as refinements are carried out."""

    merges: ActiveMerges
    sides: Sides
    resolutions: Mapping[str, Sequence[Resolution]]
    echoes: EchoTexts
    undone_outside: Set[str]
    suspended: Set[str]


class _Stuck(Exception):
    """An action is in conflict."""

    def __init__(self, kind: str, note: str, ground: str, cause: str) -> None:
        super().__init__(note)
        self.kind, self.note, self.ground, self.cause = kind, note, ground, cause


class _LeftOut(Exception):
    """A person's word leaves an action out."""


class Judge:
    """Judges the actions of one refinement, in order; what an action does is laid over the view at once."""

    def __init__(
        self,
        view: GraphView,
        around: Surroundings,
        refinement_id: str,
        next_seq: NextSeq,
        said: Callable[[BoundAction], Said],
    ) -> None:
        self._view = view
        self._around = around
        self._refinement = refinement_id
        self._next_seq = next_seq
        self._said = said
        self._stuck: set[str] = set()
        self._read: set[str] = set()
        self._notes: list[str] = []

    def judge(self, bound: BoundAction) -> Effect:
        """Carry an action out, or tell why not."""
        self._notes, self._view.asked = [], set()
        effect = self._judged(bound)
        reads = self._view.asked - self._read
        self._read |= reads
        notes = [*self._notes, effect.note]
        if bound.id in self._around.undone_outside and not outcomes.is_conflict(effect.outcome):
            notes.append(f"The file had it undone; `deeprefine-db undo {self._refinement}` would keep it so.")
        done = effect.outcome == outcomes.APPLIED
        return effect.model_copy(
            update={
                "outcome": outcomes.REAPPLIED if done else effect.outcome,
                "note": " ".join(dict.fromkeys(note for note in notes if note)),
                "reads": tuple(sorted(reads)),
            }
        )

    def _judged(self, bound: BoundAction) -> Effect:
        kinds = {"insert": self._insert, "delete": self._delete, "rename": self._rename, "merge": self._merge}
        try:
            words = self._around.resolutions.get(bound.id, ())
            if words and words[-1].keep == "drop":
                raise _LeftOut("Left out for good by a person's decision.")
            return kinds[bound.intent.kind](bound)
        except _LeftOut as left_out:
            return _nothing(bound, outcomes.DROPPED, str(left_out))
        except _Stuck as stuck:
            self._stuck.add(bound.id)
            return _nothing(bound, stuck.kind, stuck.note, stuck.ground, stuck.cause)

    def _insert(self, bound: BoundAction) -> Effect:
        subject = self._end(bound, bound.subject)
        target = subject if bound.object == bound.subject else self._end(bound, bound.object, beside=subject)
        if subject.id == target.id and bound.subject.id != bound.object.id:
            note = f"{bound.subject.label!r} and {bound.object.label!r} are one entity now."
            self._conflict(bound, outcomes.COLLAPSED, note, [("node", subject.id)])
        self._stop_where_opposed(bound, subject.id, target.id)
        return insert(self._view, bound, Ends(subject, target), self._next_seq, self._around.echoes)

    def _end(self, bound: BoundAction, reference: Reference, beside: End | None = None) -> End:
        """Find an end of an insert, or give one to create."""
        label = label_to_create(bound, reference)
        found = self._settle(bound, reference, locate(self._view, reference, label))
        if found is None and not self._goes_on_without(bound, reference) and not ours(reference):
            found = self._survivor(bound, reference)
            if found is None:
                self._conflict(bound, outcomes.TARGET_MISSING, _missing(reference), [("node", reference.id)])
        if isinstance(found, Found):
            return End(found.entity.id)
        taken = beside.id if beside is not None and beside.creates else ""
        return End(free_id(self._view, reference.id, taken), label, creates=True)

    def _delete(self, bound: BoundAction) -> Effect:
        view = self._view
        located = [(end, locate(view, end, end.label)) for end in (bound.subject, bound.object)]
        for end, at in located:
            if isinstance(at, Gone):
                self._goes_on_without(bound, end)
                return already(
                    bound, _as_bound(bound), None, f"{end.label!r} has gone, and the edge with it."
                )
        ends = [self._settle(bound, end, at) for end, at in located]
        found = [each.entity.id for each in ends if isinstance(each, Found)]
        if len(found) < len(ends):
            return already(bound, _as_bound(bound), None, "Its end has gone, by a person's decision.")
        source, target = found
        if source == target and bound.subject.id != bound.object.id:
            return already(bound, Ends(End(source), End(target)), source, "Both ends are one entity now.")
        self._stop_where_opposed(bound, source, target)
        edges = equal_edges(view, source, column_text(bound.intent.relation) or "", target)
        if edges and bound.scope == "occurrence":
            edges = self._one_of(bound, edges)
        note = stronger(view, bound.fingerprint, edges) if bound.fingerprint is not None else ""
        return delete(view, bound, Ends(End(source), End(target)), edges, note)

    def _one_of(self, bound: BoundAction, equal: list[Edge]) -> list[Edge]:
        """Find the one of several equal edges that a delete means."""
        picked = (
            pick_edges(self._view, equal, bound.fingerprint, bound.edge_key)
            if bound.fingerprint is not None
            else None
        )
        if picked is not None:
            return picked
        note = (
            f"Which of the {len(equal)} equal edges is meant cannot be told: {_listed(e.key for e in equal)}."
        )
        about = [("link", edge.key) for edge in equal]
        choice = self._conflict(bound, outcomes.EDGE_AMBIGUOUS, note, about).choice
        return [edge for edge in equal if choice is None or edge.key == choice]

    def _rename(self, bound: BoundAction) -> Effect:
        view, reference = self._view, bound.subject
        label = bound.intent.object
        shown = column_text(label) or ""
        found = self._settle(bound, reference, locate(view, reference, reference.label, new_label=shown))
        if found is None and not self._goes_on_without(bound, reference):
            taken_by = self._taken_by(bound, shown)
            if taken_by is not None:
                return taken_by
            self._conflict(bound, outcomes.TARGET_MISSING, _missing(reference), [("node", reference.id)])
        if isinstance(found, Found):
            entity = found.entity
            ends = Ends(End(entity.id), End(entity.id))
            if found.merged:
                return already(
                    bound, ends, entity.id, f"{reference.label!r} was merged into {entity.label!r}."
                )
            if entity.label == shown:
                return rename(view, bound, entity)
            if found.relabelled:
                note = f"{reference.label!r} is called {entity.label!r} now, and was to be called {shown!r}."
                self._conflict(bound, outcomes.LABEL_CHANGED, note, [("node", entity.id)])
        here = found.entity.id if isinstance(found, Found) else ""
        others = [i for i in view.names(norm_label(shown)).ids if i != here and i not in bound.object.rivals]
        if others:
            note = f"The name {shown!r} stands for {_listed(others)} now."
            self._conflict(bound, outcomes.NAME_TAKEN, note, [("node", i) for i in (here, *others)])
        if isinstance(found, Found):
            return rename(view, bound, found.entity)
        end = End(free_id(view, reference.id), reference.label, creates=True)
        entity, created = create(view, bound, end, end.id, self._next_seq)
        effect = rename(view, bound, entity)
        return effect.model_copy(update={"changes": (created, *effect.changes)})

    def _taken_by(self, bound: BoundAction, shown: str) -> Effect | None:
        """Find what has the new name already where the entity to rename is gone."""
        survivor = self._survivor(bound, bound.subject)
        if isinstance(survivor, Found):
            return already(bound, _as_bound(bound), survivor.entity.id, "")
        rows = self._view.names(norm_label(shown))
        known = {*bound.subject.rivals, *bound.object.rivals}
        new = [i for i, label in zip(rows.ids, rows.labels, strict=True) if label == shown and i not in known]
        if len(new) != 1:
            return None
        ends = Ends(End(new[0]), End(new[0]))
        return already(bound, ends, new[0], f"{bound.subject.label!r} has gone, and {new[0]} has the name.")

    def _merge(self, bound: BoundAction) -> Effect:
        view = self._view
        old = self._settle(bound, bound.subject, locate(view, bound.subject, bound.subject.label))
        if not isinstance(old, Found):
            if old is None:
                self._goes_on_without(bound, bound.subject)
            return already(bound, _as_bound(bound), None, f"{bound.subject.label!r} has gone already.")
        new = self._settle(bound, bound.object, locate(view, bound.object, bound.object.label))
        if new is None and not self._goes_on_without(bound, bound.object):
            new = self._survivor(bound, bound.object)
            if new is None:
                self._conflict(
                    bound, outcomes.TARGET_MISSING, _missing(bound.object), [("node", bound.object.id)]
                )
        if isinstance(new, Found):
            if new.entity.id == old.entity.id:
                ends = Ends(End(old.entity.id), End(new.entity.id))
                return already(bound, ends, new.entity.id, "They are one entity already.")
            return merge_into(view, bound, old.entity, new.entity, self._next_seq)
        end = End(free_id(view, bound.object.id), bound.object.label, creates=True)
        entity, created = create(view, bound, end, old.entity.id, self._next_seq)
        effect = merge_into(view, bound, old.entity, entity, self._next_seq)
        return effect.model_copy(update={"changes": (created, *effect.changes)})

    def _settle(self, bound: BoundAction, reference: Reference, located: Located) -> Found | End | None:
        """Stop where it is not clear what an end is; give what it is, one that a person wants created, or nothing."""
        if isinstance(located, Gone):
            return None
        if isinstance(located, Found):
            self._notes.append(located.note)
            return located
        if isinstance(located, Another):
            now = located.entity
            note = f"The id {reference.id!r} stood for {reference.label!r} and stands for {now.label!r} now."
            self._conflict(bound, outcomes.IDENTITY_CHANGED, note, [("node", reference.id)])
            return Found(now, "")
        note = f"{reference.label!r} ({reference.id}) may now be any of {_listed(located.ids)}."
        about = [("node", i) for i in (reference.id, *located.ids)]
        choice = self._conflict(bound, outcomes.TARGET_AMBIGUOUS, note, about).choice
        chosen = self._view.entity(choice) if choice in located.ids and choice is not None else None
        return Found(chosen) if chosen is not None else End(reference.id, reference.label, creates=True)

    def _survivor(self, bound: BoundAction, reference: Reference) -> Found | End | None:
        """Find what an active merge made of an end that is gone."""
        located = self._around.merges.survivor(self._view, reference)
        found = self._settle(bound, reference, located)
        if isinstance(found, Found):
            self._notes.append(f"{reference.label!r} has gone; it was merged into {found.entity.label!r}.")
        return found

    def _goes_on_without(self, bound: BoundAction, reference: Reference) -> bool:
        """Stop where an end is missing since a suspended refinement creates it, unless a person has said to go on."""
        creator = reference.created_by
        if creator is None:
            return False
        refinement_id = creator.rpartition(".")[0]
        self._view.asked.add(state(refinement_id))
        if refinement_id in self._around.suspended:
            cause, who = refinement_id, f"the suspended refinement {refinement_id}"
        elif creator in self._stuck and bound.intent.kind != "insert":
            cause, who = creator, f"action {creator} of the same refinement"
        else:
            return False
        self._conflict(
            bound, outcomes.DEPENDS_ON, f"It needs {reference.label!r}, which {who} creates.", (), cause
        )
        return True

    def _stop_where_opposed(self, bound: BoundAction, source: str, target: str) -> None:
        if not self._around.sides.differ:
            return
        triple = (source, column_text(bound.intent.relation) or "", target)
        self._view.asked.add(said(*triple))
        other = self._around.sides.opposing(triple, self._said(bound))
        if other is not None:
            did = "deletes" if other.kind == "delete" else "inserts"
            note = (
                f"Refinement {other.refinement} of another store {did} this edge; neither knew of the other."
            )
            self._conflict(bound, outcomes.OPPOSED, note, (), other.action)

    def _conflict(
        self, bound: BoundAction, kind: str, note: str, about: Iterable[tuple[str, str]], cause: str = ""
    ) -> Resolution:
        """Stop at a conflict, unless a person has said to go on.

        ``about`` are the base objects in question, kind and key; the word holds while these keep their text.
        """
        ground = self._ground(about, cause)
        answers = [each for each in self._around.resolutions.get(bound.id, ()) if each.kind == kind]
        for answer in reversed(answers):
            if answer.ground == ground:
                if answer.keep == "ours":
                    self._notes.append(f"Carried out by a person's decision. {note}")
                    return answer
                raise _LeftOut(f"Left out by a person's decision. {note}")
        if answers:
            note = f"{note} An earlier decision holds no longer, since what it was about has changed."
        raise _Stuck(kind, note, ground, cause)

    def _ground(self, about: Iterable[tuple[str, str]], cause: str) -> str:
        digest = sha256(cause.encode("utf-8", "surrogatepass"))
        for kind, key in about:
            raw = self._view.base.raw_hash(kind, key) or "not there"
            digest.update(f"\n{kind} {len(key)}:{key} {raw}".encode("utf-8", "surrogatepass"))
        return digest.hexdigest()[:32]


def _nothing(bound: BoundAction, outcome: str, note: str, ground: str = "", cause: str = "") -> Effect:
    return Effect(
        id=bound.id,
        action=bound.id,
        outcome=outcome,
        note=note,
        bound={"subject": bound.subject.id, "object": bound.object.id},
        ground=ground,
        cause=cause,
    )


def _as_bound(bound: BoundAction) -> Ends:
    return Ends(End(bound.subject.id), End(bound.object.id))


def _missing(reference: Reference) -> str:
    return f"{reference.label!r} ({reference.id}) is not in the graph any more."


def _listed(items: Iterable[str]) -> str:
    every = list(items)
    more = f" and {len(every) - NAMED} more" if len(every) > NAMED else ""
    return f"{', '.join(every[:NAMED])}{more}"
