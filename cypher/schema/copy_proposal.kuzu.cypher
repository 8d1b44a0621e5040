// Fill the empty table Proposal of a new generation.
// params: rows TABLE NOT NULL
COPY Proposal (
  id, caption, ts, query_id, trace_id, digest, source, text, actions, footprint
) FROM $rows
