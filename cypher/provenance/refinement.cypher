// Record a refinement.
// params: id STRING, caption STRING, ts STRING, proposal_id STRING, query_id STRING, by STRING, revision INT64, footprint STRING, note STRING, flags STRING
CREATE (:Refinement {
  id: $id, caption: $caption, ts: $ts, proposal_id: $proposal_id, query_id: $query_id, by: $by,
  revision: $revision, footprint: $footprint, note: $note, flags: $flags
})
