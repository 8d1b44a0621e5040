// Which questions no run of the loop could answer from the graph, and what was tried.
// columns: id STRING, question STRING, runs INT64, last STRING, diagnosis STRING, proposals INT64
MATCH (q:Query)
WHERE NOT EXISTS { MATCH (q)-[:HAS_TRACE]->(y:Trace) WHERE y.answerable = true }
OPTIONAL MATCH (q)-[:HAS_TRACE]->(t:Trace)
WITH q, count(t.id) AS runs, max(t.ts) AS last
OPTIONAL MATCH (q)-[:HAS_TRACE]->(l:Trace)
WHERE l.ts = last
OPTIONAL MATCH (q)-[:HAS_TRACE]->(:Trace)-[:PROPOSED]->(p:Proposal)
RETURN
  q.id AS id, q.question AS question, runs, last, l.abduction AS diagnosis, count(p.id) AS proposals
ORDER BY runs DESC, id
