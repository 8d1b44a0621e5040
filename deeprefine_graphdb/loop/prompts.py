"""The six prompts of the protocol, and the texts that fill them."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from functools import cache
from importlib import resources
from typing import Literal

from deeprefine_graphdb.loop.trace import Step, TraceTriple

Stage = Literal["judgement", "abduction", "refinement"]
Role = Literal["system", "user"]

_PLACEHOLDER = re.compile(r"\{(\w+)\}")


@cache
def prompt(stage: Stage, role: Role) -> str:
    """Give a prompt to the letter; the final newline of its file is not part of it."""
    folder = resources.files("deeprefine_graphdb.loop") / "prompts"
    return (folder / f"{stage}.{role}.txt").read_text(encoding="utf-8").removesuffix("\n")


def fill(template: str, values: Mapping[str, str]) -> str:
    """Put values in place of ``{name}`` in one pass; braces in a value or of another name stay."""
    return _PLACEHOLDER.sub(lambda found: values.get(found[1], found[0]), template)


def judgement_user(question: str, triples: Iterable[TraceTriple]) -> str:
    """Ask whether the triples answer the question."""
    return fill(
        prompt("judgement", "user"), {"question": question, "triples_string": triples_string(triples)}
    )


def abduction_user(steps: Sequence[Step], horizon: int) -> str:
    """Ask why the steps did not answer the question; only the last ``horizon`` are told."""
    return fill(prompt("abduction", "user"), {"interaction_history": interaction_history(steps, horizon)})


def refinement_user(question: str, triples: Iterable[TraceTriple], reasons: str, original_text: str) -> str:
    """Ask for the actions that make the graph answer the question."""
    values = {
        "original_text": original_text,
        "triples_string": triples_string(triples),
        "question": question,
        "error_reasons": reasons,
    }
    return fill(prompt("refinement", "user"), values)


def triples_string(triples: Iterable[TraceTriple]) -> str:
    """Give one triple per line, ``subject | relation | object``."""
    return "\n".join(f"{triple.subject} | {triple.relation} | {triple.object}" for triple in triples)


def interaction_history(steps: Sequence[Step], horizon: int) -> str:
    """Quote the last ``horizon`` steps as the models know it: numbered from 1, lists as Python's ``str``."""
    return "\n".join(_told(number, step) for number, step in enumerate(steps[-horizon:], start=1))


def correction(reason: str) -> str:
    """Ask again after an answer that could not be read."""
    return f"Your answer could not be read: {reason} Output your result again in the specified format."


def _told(number: int, step: Step) -> str:
    content = [
        {"subject": triple.subject, "relation": triple.relation, "object": triple.object}
        for triple in step.retrieved_subgraph
    ]
    return (
        f"Step{number}:\n['Query': {step.query}, 'Subgraph_hop': {step.num_hops}, "
        f"'Subgraph_content': {content}, 'Answerable': {step.answerable}]\n"
    )
