// Record that a refinement applied an action.
// params: refinement STRING, action STRING
MATCH (r:Refinement {id: $refinement})
MATCH (a:Action {id: $action})
CREATE (r)-[:APPLIED]->(a)
