// Tell the 128 lowest keys of the live edges that reach an entity, self loops too, as neighbours_in does; slower than
// taking any.
// params: id STRING NOT NULL
// columns: key STRING, raw STRING
MATCH (:Entity {id: $id})<-[r:RELATES]-(:Entity)
WHERE r.retired_by IS NULL
RETURN r.key AS key, r.raw AS raw
ORDER BY key
LIMIT 128
