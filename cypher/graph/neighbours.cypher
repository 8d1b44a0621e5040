// Tell the keys of up to 513 live edges of an entity, both ways, a self loop once or twice: all, or any when there are
// more; whether each leaves the entity; and the text that one that is as in the base does not have. One statement for
// both ways, and few columns: planning a statement takes longer than reading some dozens of edges.
// The bound is written out because a parameter there takes ten times as long on Ladybug.
// params: id STRING NOT NULL
// columns: key STRING, raw STRING, leaves BOOL
MATCH (:Entity {id: $id})-[r:RELATES]-(:Entity)
WHERE r.retired_by IS NULL
RETURN r.key AS key, r.raw AS raw, r.src = $id AS leaves
LIMIT 513
