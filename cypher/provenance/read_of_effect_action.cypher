// Give every OF relationship from Effect to Action.
// columns: from_key STRING, to_key STRING
MATCH (a:Effect)-[r:OF]->(b:Action)
RETURN a.id AS from_key, b.id AS to_key
