// Give every CALLED relationship from Trace to LLMCall.
// columns: from_key STRING, to_key STRING
MATCH (a:Trace)-[r:CALLED]->(b:LLMCall)
RETURN a.id AS from_key, b.id AS to_key
