// Give every OF relationship from Review to Proposal.
// columns: from_key STRING, to_key STRING
MATCH (a:Review)-[r:OF]->(b:Proposal)
RETURN a.id AS from_key, b.id AS to_key
