// Retire an edge that is there, with both of its ends bound, or make it live again; what else it says stays.
// params: key STRING NOT NULL, src STRING NOT NULL, tgt STRING NOT NULL, retired_by STRING, retired_as STRING, successor STRING
MATCH (:Entity {id: $src})-[r:RELATES]->(:Entity {id: $tgt})
WHERE r.key = $key
SET r.retired_by = $retired_by, r.retired_as = $retired_as, r.successor = $successor
