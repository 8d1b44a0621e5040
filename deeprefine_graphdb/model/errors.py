"""Every error a user can meet: one sentence, an exit code, and the command to try next."""

from __future__ import annotations


class DeepRefineError(Exception):
    """Base of all errors that are shown as one sentence instead of a traceback."""

    exit_code = 1

    def __init__(self, message: str, hint: str = "") -> None:
        super().__init__(message)
        self.message = message
        self.hint = hint

    def __str__(self) -> str:
        return f"{self.message} {self.hint}".strip()


class UsageError(DeepRefineError):
    """A flag or an argument does not make sense."""

    exit_code = 2


class NothingToDo(DeepRefineError):
    """The command was right and there was nothing for it to do."""

    exit_code = 3


class NeedsDecision(DeepRefineError):
    """A conflict, something stale, or something that a person has to review first."""

    exit_code = 4


class ActionRefused(NeedsDecision):
    """An action of a refinement cannot be carried out as it is written."""


class AmbiguousName(ActionRefused):
    """A name stands for several entities; ``candidates`` holds names that resolve."""

    def __init__(self, message: str, candidates: tuple[str, ...] = (), hint: str = "") -> None:
        super().__init__(message, hint)
        self.candidates = candidates


class StaleProposal(NeedsDecision):
    """What a proposal was planned on has changed since."""


class RebaseConflict(NeedsDecision):
    """A refinement does not apply to the new base."""


class GraphChanged(NeedsDecision):
    """graph.json is not a state that the store knows, so it is not overwritten."""


class RevisionMoved(NeedsDecision):
    """The graph was changed between planning and writing; the caller plans again."""


class GrammarError(NeedsDecision):
    """A model's text cannot be read as actions; ``place`` is the character offset in it."""

    def __init__(self, message: str, place: int = 0, hint: str = "") -> None:
        super().__init__(message, hint)
        self.place = place


class StoreLocked(DeepRefineError):
    """Another process has the store open."""

    exit_code = 5


class StoreDamaged(DeepRefineError):
    """The store cannot be opened or contradicts its own records."""


class StoreMissing(DeepRefineError):
    """There is no store at this place yet."""


class StoreTooNew(DeepRefineError):
    """The store was written by a later version of this program."""


class StatementError(DeepRefineError):
    """A Cypher statement or its parameters are not what its file declares; nothing was sent to the engine."""


class WriteFailed(DeepRefineError):
    """The engine refused a write; the store is as it was before."""


class IndexStale(DeepRefineError):
    """The retrieval index does not belong to the graph or the model that is asked for."""


class ModelError(DeepRefineError):
    """The language model or the embedding endpoint failed, or a limit on its use was reached."""

    exit_code = 6


class LimitReached(ModelError):
    """``--max-calls`` or ``--max-tokens`` was reached, or the run was stopped, before a request was made."""


class GraphFormatError(DeepRefineError):
    """graph.json cannot be read as a graph."""

    exit_code = 7
