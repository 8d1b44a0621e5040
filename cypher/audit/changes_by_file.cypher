// How many applied actions touched entities of each source file.
// defaults: {"limit": 50}
// params: limit INT64 NOT NULL
// columns: file STRING, actions INT64, refinements INT64, last STRING
MATCH (e:Effect)-[:OF]->(a:Action)-[:TOUCHED]->(n:Entity)
WHERE e.outcome IN ['applied', 'reapplied']
WITH DISTINCT
  coalesce(n.source_file, '') AS file, e.id AS effect, e.refinement_id AS refinement, e.ts AS ts
WITH file, refinement, count(effect) AS some, max(ts) AS latest
RETURN file, sum(some) AS actions, count(refinement) AS refinements, max(latest) AS last
ORDER BY actions DESC, file
LIMIT $limit
