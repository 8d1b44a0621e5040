// Record that a refinement takes another one back.
// params: refinement STRING NOT NULL, reverted STRING NOT NULL
MATCH (r:Refinement {id: $refinement})
MATCH (o:Refinement {id: $reverted})
CREATE (r)-[:REVERTS]->(o)
