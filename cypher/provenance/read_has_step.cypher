// Give every HAS_STEP relationship from Trace to Step.
// columns: from_key STRING, to_key STRING
MATCH (a:Trace)-[r:HAS_STEP]->(b:Step)
RETURN a.id AS from_key, b.id AS to_key
