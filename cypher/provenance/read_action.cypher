// Give every Action row.
// columns: id STRING, caption STRING, ts STRING, proposal_id STRING, number INT64, kind STRING, subject STRING, relation STRING, object STRING, reference STRING, label STRING, executable BOOL
MATCH (n:Action)
RETURN n.id AS id, n.caption AS caption, n.ts AS ts, n.proposal_id AS proposal_id,
  n.number AS number, n.kind AS kind, n.subject AS subject, n.relation AS relation,
  n.object AS object, n.reference AS reference, n.label AS label, n.executable AS executable
