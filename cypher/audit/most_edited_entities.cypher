// Which entities were edited most: the number of applied actions that touched each.
// defaults: {"limit": 20}
// params: limit INT64 NOT NULL
// columns: id STRING, label STRING, file STRING, actions INT64, refinements INT64, last STRING
MATCH (e:Effect)-[:OF]->(a:Action)-[:TOUCHED]->(n:Entity)
WHERE e.outcome IN ['applied', 'reapplied']
WITH DISTINCT
  n.id AS id, n.label AS label, n.source_file AS file, e.id AS effect, e.refinement_id AS refinement,
  e.ts AS ts
WITH id, label, file, refinement, count(effect) AS some, max(ts) AS latest
RETURN id, label, file, sum(some) AS actions, count(refinement) AS refinements, max(latest) AS last
ORDER BY actions DESC, id
LIMIT $limit
