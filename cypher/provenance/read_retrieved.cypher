// Give every RETRIEVED relationship from Step to Entity.
// columns: from_key STRING, to_key STRING, rank INT64
MATCH (a:Step)-[r:RETRIEVED]->(b:Entity)
RETURN a.id AS from_key, b.id AS to_key, r.rank AS rank
