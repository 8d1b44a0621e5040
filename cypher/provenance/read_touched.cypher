// Give every TOUCHED relationship from Action to Entity.
// columns: from_key STRING, to_key STRING, how STRING
MATCH (a:Action)-[r:TOUCHED]->(b:Entity)
RETURN a.id AS from_key, b.id AS to_key, r.how AS how
