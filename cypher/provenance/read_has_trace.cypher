// Give every HAS_TRACE relationship from Query to Trace.
// columns: from_key STRING, to_key STRING
MATCH (a:Query)-[r:HAS_TRACE]->(b:Trace)
RETURN a.id AS from_key, b.id AS to_key
