// Give every Review row.
// columns: id STRING, caption STRING, ts STRING, proposal_id STRING, reviewer STRING, decision STRING, labels STRING, reasons STRING, body STRING
MATCH (n:Review)
RETURN n.id AS id, n.caption AS caption, n.ts AS ts, n.proposal_id AS proposal_id,
  n.reviewer AS reviewer, n.decision AS decision, n.labels AS labels, n.reasons AS reasons,
  n.body AS body
