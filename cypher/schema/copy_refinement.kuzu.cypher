// Fill the empty table Refinement of a new generation.
// params: rows TABLE NOT NULL
COPY Refinement (
  id, caption, ts, proposal_id, query_id, by, revision, footprint, note, flags
) FROM $rows
