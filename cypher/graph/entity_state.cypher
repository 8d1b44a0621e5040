// Tell of an entity what an entity that is as in the base does not have: several times faster than reading it.
// params: id STRING NOT NULL
// columns: raw STRING, retired_by STRING
MATCH (e:Entity {id: $id})
RETURN e.raw AS raw, e.retired_by AS retired_by
