// Record a refinement.
// params: id STRING NOT NULL, caption STRING NOT NULL, ts STRING NOT NULL, proposal_id STRING NOT NULL, query_id STRING NOT NULL, by STRING NOT NULL, revision INT64 NOT NULL, footprint STRING NOT NULL, note STRING NOT NULL, flags STRING NOT NULL
CREATE (:Refinement {
  id: $id, caption: $caption, ts: $ts, proposal_id: $proposal_id, query_id: $query_id, by: $by,
  revision: $revision, footprint: $footprint, note: $note, flags: $flags
})
