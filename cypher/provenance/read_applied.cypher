// Give every APPLIED relationship from Refinement to Action.
// columns: from_key STRING, to_key STRING
MATCH (a:Refinement)-[r:APPLIED]->(b:Action)
RETURN a.id AS from_key, b.id AS to_key
