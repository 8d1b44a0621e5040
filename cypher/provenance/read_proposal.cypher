// Give every Proposal row.
// columns: id STRING, caption STRING, ts STRING, query_id STRING, trace_id STRING, digest STRING, source STRING, text STRING, actions INT64, footprint STRING
MATCH (n:Proposal)
RETURN n.id AS id, n.caption AS caption, n.ts AS ts, n.query_id AS query_id, n.trace_id AS trace_id,
  n.digest AS digest, n.source AS source, n.text AS text, n.actions AS actions,
  n.footprint AS footprint
