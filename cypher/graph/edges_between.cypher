// Give all edges from one entity to another, live and retired.
// params: source STRING NOT NULL, target STRING NOT NULL
// columns: key STRING, origin_key STRING, src STRING, tgt STRING, relation STRING, confidence STRING, raw STRING, added_by STRING, changed_by STRING, retired_by STRING, retired_as STRING, successor STRING, seq INT64
MATCH (:Entity {id: $source})-[r:RELATES]->(:Entity {id: $target})
RETURN
  r.key AS key, coalesce(r.origin_key, r.key) AS origin_key, r.src AS src, r.tgt AS tgt,
  r.relation AS relation, r.confidence AS confidence, r.raw AS raw, r.added_by AS added_by,
  r.changed_by AS changed_by, r.retired_by AS retired_by, r.retired_as AS retired_as,
  r.successor AS successor, r.seq AS seq
ORDER BY key
