// Record a proposal that no trace made.
// params: id STRING, caption STRING, ts STRING, query_id STRING, trace_id STRING, digest STRING, source STRING, text STRING, actions INT64, footprint STRING
CREATE (:Proposal {
  id: $id, caption: $caption, ts: $ts, query_id: $query_id, trace_id: $trace_id, digest: $digest,
  source: $source, text: $text, actions: $actions, footprint: $footprint
})
