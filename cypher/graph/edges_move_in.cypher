// Retire the live edges that reach an entity, but for the others, as moved to their successors.
// Set-wise: it may only run before the first statement of its transaction that creates anything.
// params: id STRING NOT NULL, retired_by STRING NOT NULL, others STRING[] NOT NULL
MATCH (:Entity {id: $id})<-[r:RELATES]-(:Entity)
WHERE r.retired_by IS NULL AND NOT r.key IN $others
SET
  r.retired_by = $retired_by, r.retired_as = 'moved', r.successor = coalesce(r.key, '') + '@' + coalesce($retired_by, '')
