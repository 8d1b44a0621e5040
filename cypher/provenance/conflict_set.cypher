// Say how a conflict ended.
// params: id STRING NOT NULL, resolved STRING NOT NULL
MATCH (c:Conflict {id: $id})
SET c.resolved = $resolved
