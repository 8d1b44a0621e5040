// Fill the empty table Event of a new generation.
// params: rows TABLE NOT NULL
COPY Event (
  id, caption, ts, kind, of, by, note
) FROM $rows
