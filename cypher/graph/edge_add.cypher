// Add an edge between two entities that are there.
// params: key STRING NOT NULL, origin_key STRING NOT NULL, src STRING NOT NULL, tgt STRING NOT NULL, relation STRING NOT NULL, confidence STRING, raw STRING, added_by STRING, changed_by STRING, retired_by STRING, retired_as STRING, successor STRING, seq INT64
MATCH (a:Entity {id: $src})
MATCH (b:Entity {id: $tgt})
CREATE (a)-[:RELATES {
  key: $key, origin_key: $origin_key, src: $src, tgt: $tgt, relation: $relation,
  confidence: $confidence, raw: $raw, added_by: $added_by, changed_by: $changed_by,
  retired_by: $retired_by, retired_as: $retired_as, successor: $successor, seq: $seq
}]->(b)
