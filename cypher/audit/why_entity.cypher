// Why is this entity as it is: every action that touched it, oldest first.
// entity is an id or a label; an entity without an action is as in graph.json.
// params: entity STRING NOT NULL
// columns: id STRING, label STRING, state STRING, how STRING, action STRING, what STRING, outcome STRING, ts STRING, by STRING, question STRING, review STRING, note STRING
MATCH (n:Entity)
WHERE n.id = $entity OR n.label = $entity
OPTIONAL MATCH (n)<-[t:TOUCHED]-(a:Action)<-[:OF]-(e:Effect)
OPTIONAL MATCH (m:Refinement)
WHERE m.id = e.refinement_id
OPTIONAL MATCH (q:Query)
WHERE q.id = m.query_id
RETURN
  n.id AS id, n.label AS label,
  CASE WHEN n.retired_by IS NULL THEN 'live' ELSE coalesce(n.retired_as, 'retired') END AS state,
  t.how AS how, e.id AS action, a.caption AS what, e.outcome AS outcome, e.ts AS ts, m.by AS by,
  q.question AS question, a.label AS review, e.note AS note
ORDER BY id, ts, action
