// Add, at another entity, the edges that reach an entity and were moved: all that they say but for text and place is
// taken from them. Keys, texts and places run in parallel.
// Set-wise: it may only run while no edge of its transaction touches the entity that they were moved from.
// params: id STRING NOT NULL, survivor STRING NOT NULL, added_by STRING NOT NULL, keys STRING[] NOT NULL, raws STRING[] NOT NULL, seqs INT64[] NOT NULL
MATCH (survivor:Entity {id: $survivor}), (:Entity {id: $id})<-[r:RELATES]-(other:Entity)
WITH survivor, other, r, list_position($keys, r.key) AS place
WHERE place > 0
CREATE
  (other)-[:RELATES {
    key: r.key + '@' + $added_by, origin_key: coalesce(r.origin_key, r.key), src: r.src, tgt: $survivor,
    relation: r.relation, confidence: r.confidence, raw: list_element($raws, place),
    added_by: $added_by, seq: list_element($seqs, place)
  }]->(survivor)
