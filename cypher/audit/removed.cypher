// What was removed: entities and edges that are not in the graph any more, and which action took them out.
// defaults: {"limit": 100}
// params: limit INT64 NOT NULL
// columns: kind STRING, what STRING, how STRING, action STRING, ts STRING, question STRING, file STRING
MATCH (n:Entity)
WHERE n.retired_by IS NOT NULL
OPTIONAL MATCH (e:Effect)
WHERE e.id = n.retired_by
OPTIONAL MATCH (m:Refinement)
WHERE m.id = e.refinement_id
OPTIONAL MATCH (q:Query)
WHERE q.id = m.query_id
RETURN
  'entity' AS kind, n.label AS what, n.retired_as AS how, n.retired_by AS action, e.ts AS ts,
  q.question AS question, n.source_file AS file
ORDER BY ts, what
LIMIT $limit
UNION ALL
MATCH (a:Entity)-[r:RELATES]->(b:Entity)
WHERE r.retired_by IS NOT NULL
OPTIONAL MATCH (e:Effect)
WHERE e.id = r.retired_by
OPTIONAL MATCH (m:Refinement)
WHERE m.id = e.refinement_id
OPTIONAL MATCH (q:Query)
WHERE q.id = m.query_id
RETURN
  'edge' AS kind, a.label + ' -' + r.relation + '-> ' + b.label AS what, r.retired_as AS how,
  r.retired_by AS action, e.ts AS ts, q.question AS question, a.source_file AS file
ORDER BY ts, what
LIMIT $limit
