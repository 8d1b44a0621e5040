// Tell the 128 lowest keys of the live edges that leave an entity, self loops too, and of each the text that one that
// is as in the base does not have: for an entity with so many that neighbours does not tell all.
// params: id STRING NOT NULL
// columns: key STRING, raw STRING
MATCH (:Entity {id: $id})-[r:RELATES]->(:Entity)
WHERE r.retired_by IS NULL
RETURN r.key AS key, r.raw AS raw
ORDER BY key
LIMIT 128
