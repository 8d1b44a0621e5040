"""A review as text: Markdown for its file, lines for a terminal, JSON-ready data for programs."""

from __future__ import annotations

from typing import Any

from deeprefine_graphdb.grammar.actions import format_action
from deeprefine_graphdb.review.models import LABELS, ActionReview, Review


def as_record(review: Review, **about: Any) -> dict[str, Any]:
    """Give a review as plain JSON data, with counts by label and with what it is about (question, proposal…)."""
    counts = {label: len(review.numbers(label)) for label in LABELS}
    return {
        **about,
        "counts": counts,
        "not_executable": list(review.blocked),
        "actions": [
            {**each.model_dump(mode="json"), "text": format_action(each.action)} for each in review.actions
        ],
    }


def as_markdown(
    review: Review, title: str = "Review of proposed refinement actions", question: str = ""
) -> str:
    """Give a review as a Markdown document."""
    lines = [f"# {_inline(title)}", ""]
    if question:
        lines += [f"Question: {_inline(question)}", ""]
    lines += [summary(review), ""]
    for each in review.actions:
        lines += [f"## {each.number}. {_state(each)}", "", _code(format_action(each.action)), ""]
        for found in each.evidence:
            where = f" ({_code(found.where)})" if found.where else ""
            lines.append(f"- {found.kind}: {_inline(found.text)}{where}")
        lines += [f"- **{finding.guard}**: {_inline(finding.text)}" for finding in each.warnings]
        if each.suggestion is not None:
            lines.append(f"- suggested instead: {_code(format_action(each.suggestion))}")
        lines.append("")
    return "\n".join(lines).rstrip() + "\n"


def as_lines(review: Review, width: int = 100) -> list[str]:
    """Give a review as plain lines for a terminal of a given width (in characters)."""
    lines = []
    for each in review.actions:
        lines.append(_cut(f"{each.number:>2}  {_state(each):<22}  {format_action(each.action)}", width))
        for found in each.evidence:
            lines.append(
                _cut(f"      + {_flat(found.text)}{f' [{found.where}]' if found.where else ''}", width)
            )
        lines += [_cut(f"      - {finding.guard}: {_flat(finding.text)}", width) for finding in each.warnings]
        if each.suggestion is not None:
            lines.append(_cut(f"      > {format_action(each.suggestion)}", width))
    return [*lines, summary(review)]


def summary(review: Review) -> str:
    """Say in one line how many actions have which label."""
    if not review.actions:
        return "No action is proposed."
    counts = ", ".join(f"{len(review.numbers(label))} {label}" for label in LABELS)
    blocked = review.blocked
    numbers = ", ".join(str(number) for number in blocked)
    return f"{counts}" + (f"; not executable: {numbers}" if blocked else "") + "."


def _state(each: ActionReview) -> str:
    extra = ", not executable" if not each.executable else ", no change" if each.no_op else ""
    return each.label + extra


def _flat(text: str) -> str:
    return " ".join("".join(ch if ch.isprintable() else " " for ch in text).split())


def _cut(line: str, width: int) -> str:
    flat = "".join(ch if ch.isprintable() else " " for ch in line)
    return flat if len(flat) <= width else flat[: max(1, width - 1)] + "…"


def _inline(text: str) -> str:
    """Give a text that Markdown shows as it is."""
    return "".join("\\" + ch if ch in "\\`*_[]<>#|" else ch for ch in _flat(text))


def _code(text: str) -> str:
    flat = _flat(text)
    fence = "`"
    while fence in flat:
        fence += "`"
    space = " " if flat.startswith("`") or flat.endswith("`") else ""
    return f"{fence}{space}{flat}{space}{fence}"
