// Record a question, once.
// params: id STRING, caption STRING, ts STRING, question STRING, source STRING
MERGE (q:Query {id: $id})
  ON CREATE SET q.caption = $caption, q.ts = $ts, q.question = $question, q.source = $source
