"""The file of one run of the loop, ``loop_trace_<query_id>.json``: what the skill and its validator know."""

from __future__ import annotations

import hashlib
import json
from pathlib import Path
from typing import Annotated, Any

from pydantic import BaseModel, BeforeValidator, ConfigDict, Field, ValidationError

from deeprefine_graphdb.model.actions import Frozen
from deeprefine_graphdb.model.counts import counted
from deeprefine_graphdb.model.errors import DeepRefineError, UsageError
from deeprefine_graphdb.model.graph import Triple
from deeprefine_loaders.atomic import write_durable
from deeprefine_loaders.identity import has_surrogate

# A number that no store takes, which an endpoint may give and a saved trace then has, counts as none.
Count = Annotated[int, BeforeValidator(counted)]
ASIDE = "Correct it, or move it away."
MOST_HOPS = 1_000_000
WHAT_IF = "what_if"
"""Who drives the trace of a what-if, and the stage of its calls."""


class Open(BaseModel):
    """A part of the file: keys that it does not know are kept as they are."""

    model_config = ConfigDict(extra="allow", validate_assignment=True)


class Constants(Open):
    """How far the loop goes. A schedule shorter than ``max_hops`` repeats its last value."""

    max_hops: int = Field(default=4, ge=1)
    increment_hop: int = Field(default=1, ge=1)
    base_top_k: int = Field(default=10, ge=1)
    max_triple_num_by_step: list[int] = Field(default=[5, 10, 15, 20], min_length=1)
    history_horizon_size: int = Field(default=4, ge=1)

    def cap(self, step: int) -> int:
        """Give how many triples step number ``step`` (from 1) may show."""
        schedule = self.max_triple_num_by_step
        cap = schedule[min(step, len(schedule)) - 1]
        return min(self.base_top_k, cap) if step == 1 else cap


class TraceTriple(Open):
    """One retrieved triple; ``key`` and the ids are ours and missing in a trace written by hand."""

    subject: str
    relation: str
    object: str
    key: str = ""
    subject_id: str = ""
    object_id: str = ""

    @classmethod
    def of(cls, triple: Triple) -> TraceTriple:
        """Take a triple over from a retrieval."""
        return cls(**triple.model_dump())

    def triple(self) -> Triple:
        """Give it as the graph's layers know it."""
        return Triple(**{name: getattr(self, name) for name in Triple.model_fields})


class Retrieval(Open):
    """How a step's triples were found, in one of the method names that the validator knows, and in words."""

    method: str
    evidence: str


class PendingStep(Open):
    """A step whose triples are there and whose judgement is not."""

    step: int = Field(ge=1, le=MOST_HOPS)
    num_hops: int = Field(ge=0, le=MOST_HOPS)
    base_top_k: int
    query: str
    retrieval: Retrieval
    retrieved_subgraph: list[TraceTriple]


class Step(PendingStep):
    """A judged step. ``answer`` holds the model's whole text where ``judgement_raw`` is not all of it."""

    answerable: bool
    judgement_raw: str
    answer: str | None = None
    ts: str = ""


class CallRecord(Frozen):
    """One request to a model that was answered, or failed for good.

    ``prompt_digest`` is the SHA-256 of the messages, ``seconds`` wall time with waiting, ``retries`` how
    often it was sent again, tokens what the endpoint counted (0 when it does not count), ``ts`` UTC when it
    ended.
    """

    stage: str
    model: str
    prompt_digest: str
    tokens_in: Count = 0
    tokens_out: Count = 0
    seconds: float = 0.0
    retries: Count = 0
    error: str = ""
    ts: str = ""


class Unread(Frozen):
    """An answer to the present prompt that could not be read, and why."""

    text: str
    reason: str


class LoopTrace(Open):
    """All that is known of one question's run; it is also the whole state of the loop.

    The keys from ``driver`` on are this project's own: who drove the loop, the step in progress, the source
    text that was shown, the accepted refinement (as the model wrote it), answers to the present prompt that
    could not be read, every paid call, and the trace of the what-if: the question judged again on the graph as the
    proposal would make it.
    """

    schema_version: int = 1
    mode: str = "agent-loop"
    query: str
    query_id: str = ""
    constants: Constants = Field(default_factory=Constants)
    interaction_history: list[Step] = Field(default_factory=list)
    error_abduction_reason: str | None = None
    error_abduction_raw: str | None = None
    refinement_action_file: str | None = None
    early_exit: bool | None = None
    driver: str = ""
    pending_step: PendingStep | None = None
    original_text: str | None = None
    refinement_raw: str | None = None
    unread: list[Unread] = Field(default_factory=list)
    calls: list[CallRecord] = Field(default_factory=list)
    what_if: LoopTrace | None = None

    def all_calls(self) -> tuple[CallRecord, ...]:
        """Give every paid call in order, those of the what-if last and by a stage of their own."""
        again = self.what_if.calls if self.what_if is not None else ()
        return (*self.calls, *(call.model_copy(update={"stage": WHAT_IF}) for call in again))

    def answerable_at(self) -> int | None:
        """Give the number (from 1) of the first step that answers the question, ``None`` where none does."""
        return next((step.step for step in self.interaction_history if step.answerable), None)

    def text(self) -> str:
        """Give the file's text. A key that a file written by hand does not have is not added to it."""
        record = self.model_dump(mode="json", exclude_unset=True)
        text = json.dumps(record, ensure_ascii=False, indent=2)
        return (json.dumps(record, indent=2) if has_surrogate(text) else text) + "\n"


def query_id(question: str) -> str:
    """Give the id of a question: 16 hex digits of the SHA-256 of its stripped text.

    Raises :class:`UsageError` for a text that is not valid Unicode.
    """
    try:
        return hashlib.sha256(question.strip().encode("utf-8")).hexdigest()[:16]
    except UnicodeEncodeError:
        raise UsageError("The question is not valid Unicode text.", "Type it again.") from None


def trace_file_name(query_id: str) -> str:
    """Give the name of a question's trace file."""
    return f"loop_trace_{query_id}.json"


def new_trace(question: str, driver: str = "refine", constants: Constants | None = None) -> LoopTrace:
    """Begin a trace. Raises :class:`UsageError` for an empty question."""
    text = question.strip()
    if not text:
        raise UsageError("The question is empty.", "Give it with --query.")
    values = (constants or Constants()).model_dump()
    return LoopTrace(
        schema_version=1,
        mode="agent-loop",
        query=text,
        query_id=query_id(text),
        constants=Constants(**values),
        interaction_history=[],
        error_abduction_reason=None,
        error_abduction_raw=None,
        refinement_action_file=None,
        early_exit=None,
        driver=driver,
    )


def read_trace(path: Path) -> dict[str, Any]:
    """Give a trace file's JSON object as it stands, for :func:`trace_faults`.

    Raises :class:`DeepRefineError` when the file cannot be read or holds something else.
    """
    try:
        data = json.loads(path.read_text(encoding="utf-8-sig"))
    except FileNotFoundError:
        raise DeepRefineError(f"There is no loop trace {path}.") from None
    except RecursionError:
        raise DeepRefineError(f"The loop trace {path} is nested too deep.", ASIDE) from None
    except (OSError, ValueError) as error:
        raise DeepRefineError(f"The loop trace {path} cannot be read: {error}.", ASIDE) from None
    if not isinstance(data, dict):
        raise DeepRefineError(f"The loop trace {path} is not a JSON object.", ASIDE)
    return data


def load_trace(path: Path) -> LoopTrace:
    """Read a trace file, finished or not. Raises :class:`DeepRefineError` when it is not one."""
    try:
        trace = LoopTrace.model_validate(read_trace(path))
    except ValidationError as error:
        first = error.errors(include_url=False, include_input=False)[0]
        place = ".".join(str(part) for part in first["loc"])
        raise DeepRefineError(
            f"The loop trace {path} does not fit at {place}: {first['msg']}.", ASIDE
        ) from None
    if not trace.query_id:
        trace.query_id = query_id(trace.query)
    return trace


def save_trace(path: Path, trace: LoopTrace) -> None:
    """Write a trace file so that a crash leaves the old one or the new one, whole."""
    path.parent.mkdir(parents=True, exist_ok=True)
    write_durable(path, trace.text().encode("utf-8"))
