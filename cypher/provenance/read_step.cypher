// Give every Step row.
// columns: id STRING, caption STRING, ts STRING, number INT64, method STRING, answerable BOOL, triples STRING, evidence STRING
MATCH (n:Step)
RETURN n.id AS id, n.caption AS caption, n.ts AS ts, n.number AS number, n.method AS method,
  n.answerable AS answerable, n.triples AS triples, n.evidence AS evidence
