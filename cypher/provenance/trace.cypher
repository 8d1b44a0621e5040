// Record a run of the loop below its question.
// params: owner STRING, id STRING, caption STRING, ts STRING, query_id STRING, mode STRING, driver STRING, outcome STRING, early_exit BOOL, hops INT64, answerable BOOL, abduction STRING, body STRING
MATCH (o:Query {id: $owner})
CREATE (o)-[:HAS_TRACE]->(:Trace {
  id: $id, caption: $caption, ts: $ts, query_id: $query_id, mode: $mode, driver: $driver,
  outcome: $outcome, early_exit: $early_exit, hops: $hops, answerable: $answerable,
  abduction: $abduction, body: $body
})
