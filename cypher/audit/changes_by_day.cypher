// How many actions of each kind were applied on each day (UTC).
// columns: day STRING, refinements INT64, actions INT64, inserts INT64, deletes INT64, replaces INT64
MATCH (e:Effect)-[:OF]->(a:Action)
WHERE e.outcome IN ['applied', 'reapplied']
WITH
  left(e.ts, 10) AS day, e.refinement_id AS refinement, count(e.id) AS some,
  sum(CASE a.kind WHEN 'insert' THEN 1 ELSE 0 END) AS i,
  sum(CASE a.kind WHEN 'delete' THEN 1 ELSE 0 END) AS d,
  sum(CASE a.kind WHEN 'replace' THEN 1 ELSE 0 END) AS r
RETURN
  day, count(refinement) AS refinements, sum(some) AS actions, sum(i) AS inserts, sum(d) AS deletes,
  sum(r) AS replaces
ORDER BY day
