// Fill the empty table Review of a new generation.
// params: rows TABLE NOT NULL
COPY Review (
  id, caption, ts, proposal_id, reviewer, decision, labels, reasons, body
) FROM $rows
