// What did this question change: the actions that were applied for it, and whether they still hold.
// question is an id or a part of the text; empty means all.
// defaults: {"question": ""}
// params: question STRING NOT NULL
// columns: question STRING, refinement STRING, action STRING, what STRING, outcome STRING, state STRING, ts STRING, note STRING
MATCH (m:Refinement)-[:APPLIED]->(a:Action)<-[:OF]-(e:Effect)
WHERE e.refinement_id = m.id
MATCH (q:Query)
WHERE q.id = m.query_id
  AND ($question = '' OR q.id = $question OR q.question CONTAINS $question)
OPTIONAL MATCH (m)<-[:OF]-(v:Event)
WITH
  q, m, a, e,
  sum(CASE v.kind WHEN 'applied' THEN 1 ELSE 0 END) AS applied,
  sum(CASE v.kind WHEN 'undone' THEN 1 ELSE 0 END) AS undone
RETURN
  q.question AS question, m.id AS refinement, e.id AS action, a.caption AS what, e.outcome AS outcome,
  CASE WHEN applied > undone THEN 'active' ELSE 'undone' END AS state, e.ts AS ts, e.note AS note
ORDER BY ts, refinement, a.number
