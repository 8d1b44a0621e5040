// Record that a step showed an entity to the model.
// params: step STRING NOT NULL, entity STRING NOT NULL, rank INT64 NOT NULL
MATCH (s:Step {id: $step})
MATCH (e:Entity {id: $entity})
CREATE (s)-[:RETRIEVED {rank: $rank}]->(e)
