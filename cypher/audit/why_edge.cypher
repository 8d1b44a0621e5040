// Why is this edge as it is: where each edge between two entities came from, and what was done to it since.
// subject and object are ids or labels.
// defaults: {"relation": ""}
// params: subject STRING NOT NULL, object STRING NOT NULL, relation STRING NOT NULL
// columns: edge STRING, state STRING, what STRING, action STRING, kind STRING, ts STRING, by STRING, question STRING, label STRING, note STRING
MATCH (a:Entity)-[r:RELATES]->(b:Entity)
WHERE (a.id = $subject OR a.label = $subject) AND (b.id = $object OR b.label = $object)
  AND ($relation = '' OR r.relation = $relation)
UNWIND ['from', 'changed', 'retired'] AS step
WITH
  a, r, b, step,
  CASE step
    WHEN 'from' THEN coalesce(r.added_by, '')
    WHEN 'changed' THEN r.changed_by
    ELSE r.retired_by
  END AS mark
WHERE mark IS NOT NULL
OPTIONAL MATCH (e:Effect)
WHERE e.id = mark
OPTIONAL MATCH (e)-[:OF]->(x:Action)
OPTIONAL MATCH (m:Refinement)
WHERE m.id = e.refinement_id
OPTIONAL MATCH (q:Query)
WHERE q.id = m.query_id
RETURN
  a.label + ' -' + r.relation + '-> ' + b.label AS edge,
  CASE WHEN r.retired_by IS NULL THEN 'live' ELSE coalesce(r.retired_as, 'retired') END AS state,
  CASE
    WHEN mark = '' THEN 'in graph.json'
    WHEN step = 'from' THEN 'added'
    WHEN step = 'changed' THEN 'changed'
    ELSE coalesce(r.retired_as, 'retired')
  END AS what,
  CASE WHEN mark = '' THEN NULL ELSE mark END AS action,
  x.kind AS kind, e.ts AS ts, m.by AS by, q.question AS question, x.label AS label, e.note AS note
ORDER BY edge, r.key, step
