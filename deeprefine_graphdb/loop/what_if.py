"""The loop's judgements once more, on the graph as it would be: at which hop it answers the question."""

from __future__ import annotations

from deeprefine_graphdb.loop.budget import Budget
from deeprefine_graphdb.loop.driver import Save, Say, ask, take
from deeprefine_graphdb.loop.llm import ChatModel
from deeprefine_graphdb.loop.machine import Ask, Machine, RetrieveExpanded, RetrieveFirst
from deeprefine_graphdb.loop.trace import WHAT_IF, Constants, LoopTrace, new_trace
from deeprefine_graphdb.model.errors import ModelError
from deeprefine_graphdb.retrieval.protocol import Retriever


def new_what_if(question: str, constants: Constants) -> LoopTrace:
    """Begin the trace of a what-if."""
    return new_trace(question, driver=WHAT_IF, constants=constants)


def judge_again(
    trace: LoopTrace, retriever: Retriever, model: ChatModel, save: Save, say: Say, budget: Budget
) -> None:
    """Judge hop by hop, from where the trace stands, until the answer is Yes or the hops are over.

    At most ``max_hops`` calls are made, those for answers that could not be read among them. The trace is changed in
    place and saved after everything that it learns. Raises what :func:`run_question` raises.
    """
    machine = Machine(trace)
    most = trace.constants.max_hops
    while True:
        need = machine.next()
        match need:
            case RetrieveFirst():
                budget.check()
                say("[What if, step: 1]")
                take(machine, retriever.first(need.question, need.limit), say)
            case RetrieveExpanded():
                say(f"[What if, step: {need.step}]")
                found = retriever.expand(need.question, need.entities, need.hops, need.limit)
                take(machine, found, say)
            case Ask(stage="judgement"):
                if len(trace.calls) >= most:
                    raise ModelError(
                        f"The {most} calls of the what-if are used up, some by unreadable answers."
                    )
                ask(machine, need, model, save, say, budget, most)
                say(trace.interaction_history[-1].judgement_raw)
            case _:
                return
        save(trace)
