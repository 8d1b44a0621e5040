// Give every Trace row.
// columns: id STRING, caption STRING, ts STRING, query_id STRING, mode STRING, driver STRING, outcome STRING, early_exit BOOL, hops INT64, answerable BOOL, abduction STRING, body STRING
MATCH (n:Trace)
RETURN n.id AS id, n.caption AS caption, n.ts AS ts, n.query_id AS query_id, n.mode AS mode,
  n.driver AS driver, n.outcome AS outcome, n.early_exit AS early_exit, n.hops AS hops,
  n.answerable AS answerable, n.abduction AS abduction, n.body AS body
