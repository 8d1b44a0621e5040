// Give every live edge with the labels of its ends.
// columns: key STRING, source_id STRING, source_label STRING, relation STRING, target_label STRING, target_id STRING
MATCH (a:Entity)-[r:RELATES]->(b:Entity)
WHERE r.retired_by IS NULL
RETURN
  r.key AS key, a.id AS source_id, a.label AS source_label, r.relation AS relation,
  b.label AS target_label, b.id AS target_id
