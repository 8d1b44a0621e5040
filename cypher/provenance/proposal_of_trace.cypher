// Record a proposal below the trace that made it.
// params: owner STRING NOT NULL, id STRING NOT NULL, caption STRING NOT NULL, ts STRING NOT NULL, query_id STRING NOT NULL, trace_id STRING, digest STRING NOT NULL, source STRING NOT NULL, text STRING NOT NULL, actions INT64 NOT NULL, footprint STRING NOT NULL
MATCH (o:Trace {id: $owner})
CREATE (o)-[:PROPOSED]->(:Proposal {
  id: $id, caption: $caption, ts: $ts, query_id: $query_id, trace_id: $trace_id, digest: $digest,
  source: $source, text: $text, actions: $actions, footprint: $footprint
})
