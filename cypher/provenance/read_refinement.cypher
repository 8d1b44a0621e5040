// Give every Refinement row.
// columns: id STRING, caption STRING, ts STRING, proposal_id STRING, query_id STRING, by STRING, revision INT64, footprint STRING, note STRING, flags STRING
MATCH (n:Refinement)
RETURN n.id AS id, n.caption AS caption, n.ts AS ts, n.proposal_id AS proposal_id,
  n.query_id AS query_id, n.by AS by, n.revision AS revision, n.footprint AS footprint,
  n.note AS note, n.flags AS flags
