// Retire an entity that is there, or make it live again; what else it says stays.
// params: id STRING NOT NULL, retired_by STRING, retired_as STRING, successor STRING
MATCH (e:Entity {id: $id})
SET e.retired_by = $retired_by, e.retired_as = $retired_as, e.successor = $successor
