// Retire the live edges that reach an entity.
// Set-wise: it may only run before the first statement of its transaction that creates anything.
// params: id STRING NOT NULL, retired_by STRING NOT NULL, retired_as STRING
MATCH (:Entity {id: $id})<-[r:RELATES]-(:Entity)
WHERE r.retired_by IS NULL
SET r.retired_by = $retired_by, r.retired_as = $retired_as
