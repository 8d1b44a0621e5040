// Give every OF relationship from Event to Proposal.
// columns: from_key STRING, to_key STRING
MATCH (a:Event)-[r:OF]->(b:Proposal)
RETURN a.id AS from_key, b.id AS to_key
