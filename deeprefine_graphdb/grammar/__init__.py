"""Text to actions and back: what a model answers to the three prompts of the loop."""

from deeprefine_graphdb.grammar.actions import format_action, format_actions, parse_answer
from deeprefine_graphdb.grammar.tagged import parse_abduction, parse_judgement
from deeprefine_graphdb.grammar.thinking import strip_thinking

__all__ = [
    "format_action",
    "format_actions",
    "parse_abduction",
    "parse_answer",
    "parse_judgement",
    "strip_thinking",
]
