// Record a proposal that no trace made.
// params: id STRING NOT NULL, caption STRING NOT NULL, ts STRING NOT NULL, query_id STRING NOT NULL, trace_id STRING, digest STRING NOT NULL, source STRING NOT NULL, text STRING NOT NULL, actions INT64 NOT NULL, footprint STRING NOT NULL
CREATE (:Proposal {
  id: $id, caption: $caption, ts: $ts, query_id: $query_id, trace_id: $trace_id, digest: $digest,
  source: $source, text: $text, actions: $actions, footprint: $footprint
})
