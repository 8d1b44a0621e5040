// Fill the empty table Action of a new generation.
// params: rows TABLE NOT NULL
COPY Action (
  id, caption, ts, proposal_id, number, kind, subject, relation, object, reference, label,
  executable
) FROM $rows
