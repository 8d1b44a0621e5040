// Give every REVERTS relationship from Refinement to Refinement.
// columns: from_key STRING, to_key STRING
MATCH (a:Refinement)-[r:REVERTS]->(b:Refinement)
RETURN a.id AS from_key, b.id AS to_key
