// Record what an action did, that its refinement applied it, and the two entities that it touched.
// params: id STRING NOT NULL, caption STRING NOT NULL, ts STRING NOT NULL, action_id STRING NOT NULL, refinement_id STRING NOT NULL, outcome STRING NOT NULL, note STRING NOT NULL, witness STRING, before STRING NOT NULL, after STRING NOT NULL, bound STRING NOT NULL, changes STRING NOT NULL, first STRING NOT NULL, first_how STRING NOT NULL, second STRING NOT NULL, second_how STRING NOT NULL
MATCH
  (a:Action {id: $action_id}),
  (r:Refinement {id: $refinement_id}),
  (first:Entity {id: $first}),
  (second:Entity {id: $second})
CREATE
  (:Effect {
    id: $id, caption: $caption, ts: $ts, action_id: $action_id, refinement_id: $refinement_id,
    outcome: $outcome, note: $note, witness: $witness, before: $before, after: $after, bound: $bound,
    changes: $changes
  })-[:OF]->(a),
  (r)-[:APPLIED]->(a),
  (a)-[:TOUCHED {how: $first_how}]->(first),
  (a)-[:TOUCHED {how: $second_how}]->(second)
