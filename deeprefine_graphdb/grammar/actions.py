"""Reads a ``<refinement>`` answer as actions, and writes actions as one."""

from __future__ import annotations

import re
from collections.abc import Iterable

from deeprefine_graphdb.grammar.arguments import CLOSERS, is_blank, quote, read_argument
from deeprefine_graphdb.grammar.tagged import shown
from deeprefine_graphdb.grammar.thinking import mask_thinking
from deeprefine_graphdb.model.actions import MAX_ACTIONS, Action, DeleteEdge, InsertEdge, ReplaceNode
from deeprefine_graphdb.model.errors import GrammarError

_OPEN = re.compile(r"<\s*refinement\s*>", re.IGNORECASE)
_CLOSE = re.compile(r"<\s*/\s*refinement\s*>", re.IGNORECASE)
# Between actions: separators, bullets, numbering, emphasis and code fences, none of which says anything.
_FILLER = re.compile(
    r"(?:```[\w-]*(?=\s)|[\s|,;•*+\-–—>`]|(?:(?:action|step)\s*)?[(\[]?\d{1,3}[.):\]]{1,2})*", re.IGNORECASE
)
_CALL = re.compile(r"([A-Za-z_]\w*)\s*\(")
_KEYWORD = re.compile(rf"([A-Za-z_]\w*)\s*[=:]\s*(?=[{''.join(CLOSERS)}])")
_BLANK = re.compile(r"\s*")

_PARAMETERS: dict[str, tuple[tuple[str, ...], ...]] = {
    "insert_edge": (("subject",), ("relation",), ("object",)),
    "delete_edge": (("subject",), ("relation",), ("object",), ("edge_key",)),
    "replace_node": (("old_entity", "old"), ("new_entity", "new")),
}


def parse_answer(text: str) -> tuple[Action, ...]:
    """Read the actions of a model's answer, in order, equal ones once.

    The last ``<refinement>`` tag outside the model's thoughts decides; earlier blocks are drafts. Between its
    tags there may be nothing but actions with quoted arguments, separators, bullets, numbering and code
    fences; an empty block is the answer that nothing should change. A text stands in straight, single or
    curly quotes, in which a backslash escapes; where that does not read, bare quotes inside a text are taken
    as part of it if the block reads in this way.

    Raises :class:`GrammarError`, with the character offset and a reason that names the text, when anything in
    the block cannot be read, an argument is empty, an action is unknown or has another number of arguments,
    or there are more than ten actions. Nothing is guessed and nothing is left out.
    """
    answer = mask_thinking(text)
    opening = _OPEN.search(answer)
    if opening is None:
        raise GrammarError("There is no <refinement>…</refinement> block.", 0)
    while True:
        try:
            actions, pos = _read_block(answer, opening)
            fault = None
        except GrammarError as error:
            actions, pos, fault = (), opening.end(), error
        following = _OPEN.search(answer, pos)
        if following is None:
            break
        opening = following
    if fault is not None:
        raise fault
    return actions


def format_actions(actions: Iterable[Action]) -> str:
    """Write actions as the tagged line that :func:`parse_answer` reads back and an action file holds."""
    return f"<refinement>{'|'.join(format_action(action) for action in actions)}</refinement>"


def format_action(action: Action) -> str:
    """Write one action as a call with quoted arguments."""
    match action:
        case InsertEdge():
            arguments = [action.subject, action.relation, action.object]
        case DeleteEdge():
            key = [action.edge_key] if action.edge_key is not None else []
            arguments = [action.subject, action.relation, action.object, *key]
        case ReplaceNode():
            arguments = [action.old, action.new]
    return f"{action.action}({', '.join(quote(argument) for argument in arguments)})"


def _read_block(answer: str, opening: re.Match[str]) -> tuple[tuple[Action, ...], int]:
    if not _CLOSE.search(answer, opening.end()):
        raise GrammarError("The <refinement> tag is not closed; the answer may be cut off.", opening.start())
    try:
        return _read_actions(answer, opening.end(), bare_quotes=False)
    except GrammarError as fault:
        try:
            return _read_actions(answer, opening.end(), bare_quotes=True)
        except GrammarError:
            raise fault from None


def _read_actions(answer: str, pos: int, *, bare_quotes: bool) -> tuple[tuple[Action, ...], int]:
    actions: dict[Action, None] = {}
    number = 0
    while True:
        pos = _skip(_FILLER, answer, pos)
        closing = _CLOSE.match(answer, pos)
        if closing:
            return tuple(actions), closing.end()
        number += 1
        call = _CALL.match(answer, pos)
        if call is None:
            raise GrammarError(f"{shown(answer[pos : _line_end(answer, pos)])} is not an action.", pos)
        name = call[1].lower()
        if name not in _PARAMETERS:
            raise GrammarError(
                f"Action {number}, {shown(call[1])}, is not one of {', '.join(_PARAMETERS)}.", pos
            )
        arguments, end = _read_arguments(answer, call.end(), f"action {number} ({name})", name, bare_quotes)
        action = _action(name, arguments, number, pos, bare_quotes)
        actions[action] = None
        if len(actions) > MAX_ACTIONS:
            raise GrammarError(
                f"The block has more than {MAX_ACTIONS} actions; {shown(answer[pos:end])} is one too many.",
                pos,
            )
        pos = end


def _read_arguments(answer: str, pos: int, where: str, name: str, bare_quotes: bool) -> tuple[list[str], int]:
    arguments: list[str] = []
    while True:
        pos = _skip(_BLANK, answer, pos)
        if answer.startswith(")", pos):
            return arguments, pos + 1
        keyword = _KEYWORD.match(answer, pos)
        if keyword:
            _check_keyword(keyword, where, name, len(arguments))
            pos = keyword.end()
        if answer[pos : pos + 1] not in CLOSERS:
            text = shown(answer[pos : _line_end(answer, pos)], 40)
            raise GrammarError(f"Argument {len(arguments) + 1} of {where} is not quoted: {text}.", pos)
        argument, end = read_argument(answer, pos, bare_quotes=bare_quotes)
        if is_blank(argument):
            raise GrammarError(f"Argument {len(arguments) + 1} of {where} is empty.", pos)
        arguments.append(argument)
        pos = _skip(_BLANK, answer, end)
        if answer.startswith(",", pos):
            pos += 1
        elif not answer.startswith(")", pos):
            text = shown(answer[pos : _line_end(answer, pos)], 40)
            raise GrammarError(
                f"In {where} a comma or ) was expected behind argument {len(arguments)}: {text}.", pos
            )


def _check_keyword(keyword: re.Match[str], where: str, name: str, index: int) -> None:
    allowed = _PARAMETERS[name][index] if index < len(_PARAMETERS[name]) else ()
    if keyword[1].lower() not in allowed:
        raise GrammarError(
            f"Argument {index + 1} of {where} is not called {shown(keyword[1])}.", keyword.start()
        )


def _action(name: str, arguments: list[str], number: int, place: int, bare_quotes: bool) -> Action:
    if arguments and all(argument.strip() in {"...", "…"} for argument in arguments):
        raise GrammarError(f"Action {number} ({name}) is the placeholder of the prompt.", place)
    match name, arguments:
        case "insert_edge", [subject, relation, target]:
            return InsertEdge(subject=subject, relation=relation, object=target)
        case "delete_edge", [subject, relation, target]:
            return DeleteEdge(subject=subject, relation=relation, object=target)
        # Where quotes are bare, a fourth argument may just as well be a piece of the third.
        case "delete_edge", [subject, relation, target, key] if not bare_quotes:
            return DeleteEdge(subject=subject, relation=relation, object=target, edge_key=key)
        case "replace_node", [old, new]:
            return ReplaceNode(old=old, new=new)
    wanted = {"replace_node": "2", "insert_edge": "3"}.get(name, "3 or 4")
    has = "1 argument" if len(arguments) == 1 else f"{len(arguments)} arguments"
    raise GrammarError(f"Action {number} ({name}) has {has} and not {wanted}.", place)


def _skip(pattern: re.Pattern[str], answer: str, pos: int) -> int:
    found = pattern.match(answer, pos)
    return found.end() if found else pos


def _line_end(answer: str, pos: int) -> int:
    end = answer.find("\n", pos)
    return len(answer) if end < 0 else end
