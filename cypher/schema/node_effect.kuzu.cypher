// What an action did to the graph.
CREATE NODE TABLE Effect (
  id STRING, caption STRING, ts STRING, action_id STRING, refinement_id STRING, outcome STRING,
  note STRING, witness STRING, before STRING, after STRING, bound STRING, changes STRING,
  PRIMARY KEY (id)
)
