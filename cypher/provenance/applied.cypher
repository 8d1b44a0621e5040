// Record that a refinement applied an action.
// params: refinement STRING NOT NULL, action STRING NOT NULL
MATCH (r:Refinement {id: $refinement})
MATCH (a:Action {id: $action})
CREATE (r)-[:APPLIED]->(a)
