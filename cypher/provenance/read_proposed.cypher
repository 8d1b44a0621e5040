// Give every PROPOSED relationship from Trace to Proposal.
// columns: from_key STRING, to_key STRING
MATCH (a:Trace)-[r:PROPOSED]->(b:Proposal)
RETURN a.id AS from_key, b.id AS to_key
