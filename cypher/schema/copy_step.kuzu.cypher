// Fill the empty table Step of a new generation.
// params: rows TABLE NOT NULL
COPY Step (
  id, caption, ts, number, method, answerable, triples, evidence
) FROM $rows
