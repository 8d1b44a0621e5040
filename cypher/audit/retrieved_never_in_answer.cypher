// Which entities were shown to the model, but never in a step that could answer its question.
// defaults: {"limit": 50}
// params: limit INT64 NOT NULL
// columns: id STRING, label STRING, file STRING, steps INT64
MATCH (s:Step)-[:RETRIEVED]->(n:Entity)
WITH
  n, count(s.id) AS steps,
  sum(CASE WHEN s.answerable = true THEN 1 ELSE 0 END) AS answers
WHERE answers = 0
RETURN n.id AS id, n.label AS label, n.source_file AS file, steps
ORDER BY steps DESC, id
LIMIT $limit
