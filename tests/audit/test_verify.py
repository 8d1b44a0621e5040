"""Whatever is edited, taken away or slipped in, in the journal or in the store, is found and named."""

from __future__ import annotations

import pytest

from deeprefine_graphdb.model.write import NewRecord, Record, StoreState
from deeprefine_graphdb.provenance.columns import NODE_COLUMNS, RELATIONS
from deeprefine_graphdb.provenance.project import project_all
from deeprefine_graphdb.provenance.remains import left_behind
from deeprefine_graphdb.provenance.verify import verify, verify_chain
from deeprefine_graphdb.stores import fold, generations, load_generation
from deeprefine_graphdb.stores.embedded import EmbeddedStore
from deeprefine_graphdb.stores.engine import engine_module
from deeprefine_graphdb.stores.journal import Journal
from deeprefine_graphdb.stores.protocol import Generation, Touched
from deeprefine_graphdb.stores.urls import parse_url
from deeprefine_loaders.graphfile import parse_graph
from tests.audit.scene import ENGINE, Scene, graph_bytes

pytestmark = pytest.mark.engine


def tamper(scene: Scene, *texts: str) -> None:
    """Change the database behind the program's back."""
    directory = parse_url(scene.url).directory
    pointer = generations.read_pointer(directory)
    assert pointer is not None
    module = engine_module(ENGINE)
    database = module.Database(str(pointer.database(directory)), max_db_size=1 << 33, auto_checkpoint=False)
    connection = module.Connection(database)
    connection.execute("CALL force_checkpoint_on_close=false")
    for text in texts:
        connection.execute(text).close()
    connection.close()
    database.close()


def faults(scene: Scene) -> list[str]:
    with scene.open("read") as store:
        return [fault.line() for fault in verify(scene.journal(), store)]


def test_an_untouched_history_has_no_faults(scene: Scene, store: EmbeddedStore) -> None:
    assert verify(scene.journal(), store) == []


def test_the_history_holds_a_row_of_every_table_and_relationship_but_one(scene: Scene) -> None:
    """Otherwise the test above would say little."""
    rows = project_all(scene.journal())
    assert {node.table for node in rows.nodes} == NODE_COLUMNS.keys()
    kinds = {row.type for row in rows.relations} | {node.owner[0] for node in rows.nodes if node.owner}
    assert {kind for kind, _, _ in RELATIONS} - kinds == {"REVERTS"}


def test_a_folded_store_has_the_same_rows(own_scene: Scene) -> None:
    fold(own_scene.url, log_dir=own_scene.log_dir)
    assert faults(own_scene) == []


@pytest.mark.parametrize("table", sorted(NODE_COLUMNS))
def test_an_edited_column_is_named_in_every_table(scene: Scene, own_scene: Scene, table: str) -> None:
    key = next(node.key for node in project_all(scene.journal()).nodes if node.table == table)
    tamper(own_scene, f"MATCH (n:{table} {{id: '{key}'}}) SET n.caption = 'forged'")
    found = faults(own_scene)
    assert len(found) == 1
    assert found[0].startswith(f"store: {table} {key} was edited: caption is 'forged' instead of ")


@pytest.mark.parametrize(
    ("edit", "told"),
    [
        ("MATCH (n:Effect {id: 'r1.1'}) SET n.after = '{}'", "Effect r1.1 was edited: after is '{}'"),
        ("MATCH (n:Action {id: 'p1.4'}) SET n.label = 'HIGH'", "Action p1.4 was edited: label is 'HIGH'"),
        ("MATCH (n:Trace {id: 't1'}) SET n.answerable = true", "Trace t1 was edited: answerable is True"),
        ("MATCH (n:LLMCall {id: 't1.c1'}) SET n.tokens_in = 1", "LLMCall t1.c1 was edited: tokens_in is 1"),
        ("CREATE (:Event {id: 'e9', caption: 'x', ts: 'x', kind: 'approved'})", "Event e9 is in no record"),
        (
            "MATCH (a:Action {id: 'p1.1'})-[r:TOUCHED]->(n:Entity {id: 'dulce'}) SET r.how = 'object'",
            'TOUCHED from Action p1.1 to Entity dulce {"how":"subject"} is missing',
        ),
        (
            "MATCH (a:Action {id: 'p4.1'}), (m:Refinement {id: 'r1'}) CREATE (m)-[:APPLIED]->(a)",
            "APPLIED from Refinement r1 to Action p4.1 is in no record",
        ),
        (
            "MATCH (v:Event {id: 'e3'})-[r:OF]->(p:Proposal) DELETE r",
            "OF from Event e3 to Proposal p4 is missing",
        ),
        (
            "MATCH (p:Proposal {id: 'p4'}) DETACH DELETE p",
            "Proposal p4 is missing",
        ),
        (
            "MATCH (:Entity {id: 'dulce'})-[r:RELATES]->(:Entity {id: 'argentina'}) SET r.retired_by = NULL",
            "is not as its last action left it",
        ),
        (
            "MATCH (n:Entity {id: 'toffee'}) SET n.label = 'candy'",
            "Entity toffee was edited: label is 'candy' instead of 'english toffee'",
        ),
        (
            "MATCH (n:Entity {id: 'milk'}) SET n.retired_by = 'r1.1'",
            "Entity milk differs from the base by no action of the log",
        ),
        ("MATCH (n:Alias {norm: 'toffee'}) SET n.ids = ['milk']", "Alias toffee was edited: ids is ['milk']"),
    ],
)
def test_an_edit_of_a_row_a_relationship_or_the_graph_is_told_in_words(
    own_scene: Scene, edit: str, told: str
) -> None:
    tamper(own_scene, edit)
    assert any(told in fault for fault in faults(own_scene)), faults(own_scene)


def edited(records: list[Record], index: int, **update: object) -> list[Record]:
    changed = list(records)
    changed[index] = changed[index].model_copy(update=update)
    return changed


@pytest.mark.parametrize("index", [0, 3, -1])
def test_an_edited_body_breaks_its_hash(scene: Scene, index: int) -> None:
    records = scene.journal()
    body = {**records[index].body, "note": "forged"}
    found = verify_chain(edited(records, index, body=body))
    assert [fault.says for fault in found] == ["was edited: its hash is not that of its content"]
    assert found[0].what.startswith(f"record {records[index].seq} ({records[index].kind} ")


def test_an_edited_time_or_kind_breaks_the_hash_too(scene: Scene) -> None:
    records = scene.journal()
    assert verify_chain(edited(records, 2, ts="2020-01-01T00:00:00.000000Z"))
    assert verify_chain(edited(records, 2, kind="query"))


def test_a_record_taken_out_leaves_a_gap(scene: Scene) -> None:
    records = scene.journal()
    found = verify_chain(records[:2] + records[3:])
    assert any("gap" in fault.says for fault in found)
    assert any("does not continue" in fault.says for fault in found)


def test_a_log_cut_short_at_its_end_is_found_by_the_store(scene: Scene, store: EmbeddedStore) -> None:
    found = [fault.line() for fault in verify(scene.journal()[:-1], store)]
    assert found[0].startswith("journal: the log ends at record")
    assert "store: Snapshot x1 is in no record of the log" in found


def test_effects_are_compared_although_no_hash_covers_them(scene: Scene, store: EmbeddedStore) -> None:
    records = scene.journal()
    index = next(n for n, record in enumerate(records) if record.kind == "refinement")
    effects = [{**effect, "note": "forged"} for effect in records[index].effects]
    found = verify(edited(records, index, effects=effects), store)
    assert {fault.what for fault in found} == {"Effect r1.1", "Effect r1.2", "Effect r1.3", "Effect r1.4"}


def test_a_record_of_an_unknown_kind_is_told_and_stops_nothing(scene: Scene, store: EmbeddedStore) -> None:
    found = verify(edited(scene.journal(), 1, kind="poem"), store)
    assert any("kind 'poem' is unknown" in fault.says for fault in found)


def test_a_generation_rebuilt_from_the_journal_alone_has_the_rows_that_were_written_live(
    own_scene: Scene,
) -> None:
    records = own_scene.journal()
    with own_scene.open("read") as store:
        touched, state = store.touched(), store.state()
        aliases = [store.alias(str(norm)) for norm, *_ in store.read("graph/aliases")]
    rows = project_all(records)
    generation = Generation(
        base=parse_graph(graph_bytes()),
        state=state,
        touched=touched,
        aliases=aliases,
        nodes=rows.nodes,
        relations=rows.relations,
    )
    load_generation(own_scene.url, generation, (), log_dir=own_scene.log_dir)
    assert faults(own_scene) == []


def test_a_new_graph_without_entities_that_the_history_names_keeps_them_retired(own_scene: Scene) -> None:
    """The history stays whole when graph.json has nothing left of what it speaks of."""
    kept = [record for record in own_scene.journal() if record.kind in {"sync", "trace"}]
    trace_only = [NewRecord(kind=record.kind, ts=record.ts, body=record.body) for record in kept]
    graph = parse_graph(b'{"nodes": [{"id": "milk", "label": "milk"}], "links": []}')
    rows = project_all(trace_only)
    generation = Generation(
        base=graph,
        state=StoreState(store_id="s2", revision=2),
        touched=Touched(entities=left_behind(trace_only, set(graph.nodes.id), 2)),
        nodes=rows.nodes,
        relations=rows.relations,
    )
    again = Scene(own_scene.url.replace("store", "other"), own_scene.log_dir)
    load_generation(again.url, generation, trace_only, log_dir=again.log_dir)
    with again.open("read") as store:
        journal = Journal.of(again.log_dir, "s2").read()
        assert verify(journal, store) == []
        gone = store.entity("dulce")
    assert gone is not None
    assert (gone.label, gone.live, gone.retired_by) == ("dulce", False, "sync:2")
