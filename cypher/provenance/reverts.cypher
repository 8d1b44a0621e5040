// Record that a refinement takes another one back.
// params: refinement STRING, reverted STRING
MATCH (r:Refinement {id: $refinement})
MATCH (o:Refinement {id: $reverted})
CREATE (r)-[:REVERTS]->(o)
