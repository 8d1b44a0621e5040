// Record that an action touched an entity.
// params: action STRING NOT NULL, entity STRING NOT NULL, how STRING NOT NULL
MATCH (a:Action {id: $action})
MATCH (e:Entity {id: $entity})
CREATE (a)-[:TOUCHED {how: $how}]->(e)
