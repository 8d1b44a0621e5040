// Tell the keys of up to 129 live edges that leave an entity, self loops too: all, or any when there are more; and of
// each the text that one that is as in the base does not have: twice as fast as reading the edges.
// The bound is written out because a parameter there takes ten times as long on Ladybug.
// params: id STRING NOT NULL
// columns: key STRING, raw STRING
MATCH (:Entity {id: $id})-[r:RELATES]->(:Entity)
WHERE r.retired_by IS NULL
RETURN r.key AS key, r.raw AS raw
LIMIT 129
