// Record a run of the loop below its question.
// params: owner STRING NOT NULL, id STRING NOT NULL, caption STRING NOT NULL, ts STRING NOT NULL, query_id STRING NOT NULL, mode STRING NOT NULL, driver STRING NOT NULL, outcome STRING NOT NULL, early_exit BOOL NOT NULL, hops INT64 NOT NULL, answerable BOOL, abduction STRING NOT NULL, body STRING NOT NULL
MATCH (o:Query {id: $owner})
CREATE (o)-[:HAS_TRACE]->(:Trace {
  id: $id, caption: $caption, ts: $ts, query_id: $query_id, mode: $mode, driver: $driver,
  outcome: $outcome, early_exit: $early_exit, hops: $hops, answerable: $answerable,
  abduction: $abduction, body: $body
})
