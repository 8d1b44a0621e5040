// Which actions do not apply any more, why, and how each was resolved.
// columns: id STRING, kind STRING, detail STRING, resolved STRING, action STRING, what STRING, refinement STRING, ts STRING
MATCH (c:Conflict)-[:OF]->(e:Effect)-[:OF]->(a:Action)
RETURN
  c.id AS id, c.kind AS kind, c.detail AS detail, c.resolved AS resolved, e.id AS action,
  a.caption AS what, e.refinement_id AS refinement, c.ts AS ts
ORDER BY ts, id
