// Record that a step showed an entity to the model.
// params: step STRING, entity STRING, rank INT64
MATCH (s:Step {id: $step})
MATCH (e:Entity {id: $entity})
CREATE (s)-[:RETRIEVED {rank: $rank}]->(e)
