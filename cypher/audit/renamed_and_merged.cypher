// Which entities were renamed, and which were merged into another.
// columns: kind STRING, old STRING, new STRING, outcome STRING, action STRING, ts STRING, question STRING, note STRING
MATCH (e:Effect)-[:OF]->(a:Action)
WHERE a.kind = 'replace'
OPTIONAL MATCH (m:Refinement)
WHERE m.id = e.refinement_id
OPTIONAL MATCH (q:Query)
WHERE q.id = m.query_id
RETURN
  CASE WHEN e.changes CONTAINS '"how":"merged"' THEN 'merge' ELSE 'rename' END AS kind,
  a.subject AS old, a.object AS new, e.outcome AS outcome, e.id AS action, e.ts AS ts,
  q.question AS question, e.note AS note
ORDER BY ts, action
