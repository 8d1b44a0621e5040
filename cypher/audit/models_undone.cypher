// Which model proposed what was undone later.
// columns: model STRING, refinement STRING, question STRING, actions INT64, undone STRING, by STRING, note STRING
MATCH (v:Event)-[:OF]->(m:Refinement)-[:APPLIED]->(a:Action)<-[:CONTAINS]-(p:Proposal)
WHERE v.kind = 'undone'
MATCH (p)<-[:PROPOSED]-(t:Trace)-[:CALLED]->(c:LLMCall)
WHERE c.stage = 'refinement' AND c.error = ''
OPTIONAL MATCH (q:Query)
WHERE q.id = m.query_id
WITH DISTINCT
  c.model AS model, m.id AS refinement, q.question AS question, a.id AS action, v.ts AS undone,
  v.by AS by, v.note AS note
RETURN model, refinement, question, count(action) AS actions, undone, by, note
ORDER BY model, undone
