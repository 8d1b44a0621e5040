// Record what an action did, that its refinement applied it, and the two entities that it touched.
// params: id STRING, caption STRING, ts STRING, action_id STRING, refinement_id STRING, outcome STRING, note STRING, witness STRING, before STRING, after STRING, bound STRING, changes STRING, first STRING, first_how STRING, second STRING, second_how STRING
MATCH (a:Action {id: $action_id})
MATCH (r:Refinement {id: $refinement_id})
MATCH (first:Entity {id: $first})
MATCH (second:Entity {id: $second})
CREATE (e:Effect {
  id: $id, caption: $caption, ts: $ts, action_id: $action_id, refinement_id: $refinement_id,
  outcome: $outcome, note: $note, witness: $witness, before: $before, after: $after, bound: $bound,
  changes: $changes
})-[:OF]->(a)
CREATE (r)-[:APPLIED]->(a)
CREATE (a)-[:TOUCHED {how: $first_how}]->(first)
CREATE (a)-[:TOUCHED {how: $second_how}]->(second)
