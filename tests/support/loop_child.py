"""Runs one question in a process of its own, to be killed: ``-m tests.support.loop_child URL TRACE QUESTION``."""

from __future__ import annotations

import sys
from pathlib import Path

from deeprefine_graphdb.loop.driver import Task, run_questions
from deeprefine_graphdb.loop.llm import ChatModel, ModelSettings
from tests.support.chain_retriever import ChainRetriever


def main() -> None:
    """Run it to its end."""
    url, path, question = sys.argv[1:]
    model = ChatModel(ModelSettings(url=url, timeout=30, max_retries=0))
    outcome = run_questions([Task(question, Path(path))], ChainRetriever(), model, print)[0]
    if outcome.error is not None:
        raise outcome.error


if __name__ == "__main__":
    main()
