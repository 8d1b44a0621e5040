// What an applied action cost in tokens, for each question; no number where nothing was applied.
// columns: question STRING, calls INT64, tokens_in INT64, tokens_out INT64, seconds DOUBLE, applied INT64, tokens_per_action INT64
MATCH (q:Query)-[:HAS_TRACE]->(t:Trace)-[:CALLED]->(c:LLMCall)
WITH
  q, count(c.id) AS calls, sum(c.tokens_in) AS tokens_in, sum(c.tokens_out) AS tokens_out,
  sum(c.seconds) AS seconds
OPTIONAL MATCH (q)-[:HAS_TRACE]->(:Trace)-[:PROPOSED]->(p:Proposal)-[:CONTAINS]->(a:Action)<-[:OF]-(e:Effect)
WHERE e.outcome IN ['applied', 'reapplied']
WITH q, calls, tokens_in, tokens_out, seconds, count(e.id) AS applied
RETURN
  q.question AS question, calls, tokens_in, tokens_out, seconds, applied,
  CASE
    WHEN applied = 0 THEN NULL
    ELSE (tokens_in + tokens_out) / (CASE WHEN applied = 0 THEN 1 ELSE applied END)
  END AS tokens_per_action
ORDER BY tokens_in DESC, question
