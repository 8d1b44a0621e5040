// Write the whole state of an edge that is there, with both of its ends bound.
// params: key STRING NOT NULL, origin_key STRING NOT NULL, src STRING NOT NULL, tgt STRING NOT NULL, relation STRING NOT NULL, confidence STRING, raw STRING, added_by STRING, changed_by STRING, retired_by STRING, retired_as STRING, successor STRING, seq INT64
MATCH (:Entity {id: $src})-[r:RELATES]->(:Entity {id: $tgt})
WHERE r.key = $key
SET
  r.origin_key = $origin_key, r.relation = $relation, r.confidence = $confidence, r.raw = $raw,
  r.added_by = $added_by, r.changed_by = $changed_by, r.retired_by = $retired_by,
  r.retired_as = $retired_as, r.successor = $successor, r.seq = $seq
