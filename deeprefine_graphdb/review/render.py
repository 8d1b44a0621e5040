"""A review as text: Markdown for its file, lines for a terminal, JSON-ready data for programs."""

from __future__ import annotations

from typing import Any

from deeprefine_graphdb.grammar.actions import format_action
from deeprefine_graphdb.model.graph import Triple
from deeprefine_graphdb.review.models import LABELS, ActionReview, Review, WhatIf

_MARKS = {"+": "new: ", " ": "", "-": "not any more: "}


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
        "what_if": review.what_if.model_dump(mode="json") if review.what_if is not None else None,
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
    if review.what_if is not None:
        lines += ["## What if", "", _inline(what_if_summary(review.what_if)), ""]
        lines += [_inline(_first_hop(review.what_if)), ""] if review.what_if.hops_after else []
        lines += [f"- {_MARKS[mark]}{_code(triple.line())}" for mark, triple in _marked(review.what_if)]
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
    lines.append(summary(review))
    if review.what_if is not None:
        lines += what_if_lines(review.what_if, width)
    return lines


def what_if_lines(what_if: WhatIf, width: int = 100) -> list[str]:
    """Give a what-if as plain lines: what it found, and the first hop with ``+`` and ``-`` for what differs."""
    lines = [_cut(what_if_summary(what_if), width)]
    if what_if.hops_after:
        lines.append(_cut(f"   {_first_hop(what_if)}", width))
    return [*lines, *(_cut(f"   {mark} {_flat(triple.line())}", width) for mark, triple in _marked(what_if))]


def what_if_summary(what_if: WhatIf) -> str:
    """Say in one line whether the question could be answered before, and can be as the graph would be."""
    if what_if.missing:
        return f"What if: not known. {what_if.missing}"
    after = f"answerable {_at(what_if.after, what_if.hops_after)}"
    before = _at(what_if.before, what_if.hops_before)
    return f"What if it were applied: {after}, before {before}. {_verdict(what_if)}"


def _verdict(what_if: WhatIf) -> str:
    if what_if.helped:
        return "It helps."
    worse = what_if.before is not None and (what_if.after is None or what_if.after > what_if.before)
    return "It makes the answer harder to find." if worse else "It does not help."


def _at(hop: int | None, hops: int) -> str:
    return f"at hop {hop}" if hop is not None else f"at none of {hops} hop{'s' if hops != 1 else ''}"


def _first_hop(what_if: WhatIf) -> str:
    return f"The first hop would retrieve ({what_if.evidence}):"


def _marked(what_if: WhatIf) -> list[tuple[str, Triple]]:
    new = set(what_if.new)
    return [("+" if each.key in new else " ", each) for each in what_if.first] + [
        ("-", each) for each in what_if.gone
    ]


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
