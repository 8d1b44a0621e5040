// Record a question, once.
// params: id STRING NOT NULL, caption STRING NOT NULL, ts STRING NOT NULL, question STRING NOT NULL, source STRING NOT NULL
MERGE (q:Query {id: $id})
  ON CREATE SET q.caption = $caption, q.ts = $ts, q.question = $question, q.source = $source
