// Give every Effect row.
// columns: id STRING, caption STRING, ts STRING, action_id STRING, refinement_id STRING, outcome STRING, note STRING, witness STRING, before STRING, after STRING, bound STRING, changes STRING
MATCH (n:Effect)
RETURN n.id AS id, n.caption AS caption, n.ts AS ts, n.action_id AS action_id,
  n.refinement_id AS refinement_id, n.outcome AS outcome, n.note AS note, n.witness AS witness,
  n.before AS before, n.after AS after, n.bound AS bound, n.changes AS changes
