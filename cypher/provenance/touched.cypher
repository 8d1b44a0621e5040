// Record that an action touched an entity.
// params: action STRING, entity STRING, how STRING
MATCH (a:Action {id: $action})
MATCH (e:Entity {id: $entity})
CREATE (a)-[:TOUCHED {how: $how}]->(e)
