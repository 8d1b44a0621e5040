// Give every OF relationship from Conflict to Effect.
// columns: from_key STRING, to_key STRING
MATCH (a:Conflict)-[r:OF]->(b:Effect)
RETURN a.id AS from_key, b.id AS to_key
