// Record what an action did, and that its refinement applied it.
// params: id STRING, caption STRING, ts STRING, action_id STRING, refinement_id STRING, outcome STRING, note STRING, witness STRING, before STRING, after STRING, bound STRING, changes STRING
MATCH (a:Action {id: $action_id})
MATCH (r:Refinement {id: $refinement_id})
CREATE (e:Effect {
  id: $id, caption: $caption, ts: $ts, action_id: $action_id, refinement_id: $refinement_id,
  outcome: $outcome, note: $note, witness: $witness, before: $before, after: $after, bound: $bound,
  changes: $changes
})-[:OF]->(a)
CREATE (r)-[:APPLIED]->(a)
