// Give some live edges that reach an entity from another one: any, when there are more than the limit.
// params: id STRING NOT NULL, limit INT64 NOT NULL
// columns: key STRING, origin_key STRING, src STRING, tgt STRING, relation STRING, confidence STRING, raw STRING, added_by STRING, changed_by STRING, retired_by STRING, retired_as STRING, successor STRING, seq INT64
MATCH (:Entity {id: $id})<-[r:RELATES]-(:Entity)
WHERE r.retired_by IS NULL AND r.src <> $id
RETURN
  r.key AS key, coalesce(r.origin_key, r.key) AS origin_key, r.src AS src, r.tgt AS tgt,
  r.relation AS relation, r.confidence AS confidence, r.raw AS raw, r.added_by AS added_by,
  r.changed_by AS changed_by, r.retired_by AS retired_by, r.retired_as AS retired_as,
  r.successor AS successor, r.seq AS seq
LIMIT $limit
