"""What-ifs of random proposals on a real store: whatever is asked, store, log and index are as they were."""

from __future__ import annotations

import hashlib
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from deeprefine_graphdb.loop.budget import Budget
from deeprefine_graphdb.loop.llm import ChatModel, ModelSettings
from deeprefine_graphdb.loop.trace import Constants
from deeprefine_graphdb.loop.what_if import new_what_if
from deeprefine_graphdb.model.actions import Action, DeleteEdge, InsertEdge, ReplaceNode
from deeprefine_graphdb.project.what_if import Asking, what_if
from deeprefine_graphdb.provenance.records import TraceBody
from deeprefine_graphdb.retrieval.lexical import LexicalIndex
from deeprefine_graphdb.retrieval.retriever import StoreRetriever
from tests.contract.harness import Harness, everything
from tests.support.openai_server import OpenAIServer, by_stage

pytestmark = pytest.mark.engine

NAMES = st.sampled_from(["a", "Bob", "c", "d", "One", "Zoe"])
RELATIONS = st.sampled_from(["calls", "uses", "owns"])
ACTIONS = st.lists(
    st.one_of(
        st.builds(InsertEdge, subject=NAMES, relation=RELATIONS, object=NAMES),
        st.builds(DeleteEdge, subject=NAMES, relation=RELATIONS, object=NAMES),
        st.builds(ReplaceNode, old=NAMES, new=NAMES),
    ),
    min_size=1,
    max_size=5,
)
QUESTION = "Who calls Bob or Zoe?"


def files(folder: Path) -> dict[str, str]:
    return {
        str(path.relative_to(folder)): hashlib.sha256(path.read_bytes()).hexdigest()
        for path in folder.rglob("*")
        if path.is_file()
    }


@settings(max_examples=6, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(actions=ACTIONS)
def test_a_what_if_never_changes_anything(loaded: Harness, tmp_path: Path, actions: list[Action]) -> None:
    index = LexicalIndex(tmp_path / "index")
    retriever = StoreRetriever(lambda: loaded.open("read"), index, tmp_path)
    retriever.first(QUESTION, 5)
    with loaded.open("read") as store:
        before = everything(store)
    there, log = files(tmp_path / "index"), files(tmp_path / "log")
    with OpenAIServer(by_stage(["<judge>No</judge>"])) as server:
        asking = Asking(retriever, ChatModel(ModelSettings(url=server.url)), Budget())
        again = new_what_if(QUESTION, Constants(max_hops=2))
        run = TraceBody(id="t1", query_id=again.query_id, question=QUESTION)
        found = what_if(run, actions, asking, again, lambda _: None, lambda _: None)
    with loaded.open("read") as store:
        assert everything(store) == before
    assert files(tmp_path / "index") == there
    assert files(tmp_path / "log") == log
    assert bool(found.missing) is (len(server.chats) == 0)
    assert len(server.chats) == found.hops_after <= 2
