// Give every OF relationship from Event to Refinement.
// columns: from_key STRING, to_key STRING
MATCH (a:Event)-[r:OF]->(b:Refinement)
RETURN a.id AS from_key, b.id AS to_key
