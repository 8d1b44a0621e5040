// Fill the empty table Query of a new generation.
// params: rows TABLE NOT NULL
COPY Query (
  id, caption, ts, question, source
) FROM $rows
