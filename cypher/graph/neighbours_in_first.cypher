// Give the 128 live edges of lowest key that reach an entity, self loops too; slower than taking any.
// params: id STRING NOT NULL
// columns: key STRING, origin_key STRING, src STRING, tgt STRING, relation STRING, confidence STRING, raw STRING, added_by STRING, changed_by STRING, seq INT64
MATCH (:Entity {id: $id})<-[r:RELATES]-(:Entity)
WHERE r.retired_by IS NULL
RETURN
  r.key AS key, r.origin_key AS origin_key, r.src AS src, r.tgt AS tgt,
  r.relation AS relation, r.confidence AS confidence, r.raw AS raw, r.added_by AS added_by,
  r.changed_by AS changed_by, r.seq AS seq
ORDER BY key
LIMIT 128
