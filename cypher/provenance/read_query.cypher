// Give every Query row.
// columns: id STRING, caption STRING, ts STRING, question STRING, source STRING
MATCH (n:Query)
RETURN n.id AS id, n.caption AS caption, n.ts AS ts, n.question AS question, n.source AS source
