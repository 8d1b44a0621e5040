// Which actions were applied although their review said LOW (or another label).
// defaults: {"label": "LOW"}
// params: label STRING NOT NULL
// columns: action STRING, what STRING, outcome STRING, refinement STRING, by STRING, flags STRING, ts STRING, question STRING
MATCH (m:Refinement)-[:APPLIED]->(a:Action)<-[:OF]-(e:Effect)
WHERE e.refinement_id = m.id AND a.label = $label
OPTIONAL MATCH (q:Query)
WHERE q.id = m.query_id
RETURN
  e.id AS action, a.caption AS what, e.outcome AS outcome, m.id AS refinement, m.by AS by,
  m.flags AS flags, e.ts AS ts, q.question AS question
ORDER BY ts, action
