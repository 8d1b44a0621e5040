// Give every CONTAINS relationship from Proposal to Action.
// columns: from_key STRING, to_key STRING
MATCH (a:Proposal)-[r:CONTAINS]->(b:Action)
RETURN a.id AS from_key, b.id AS to_key
