// Fill the empty table Trace of a new generation.
// params: rows TABLE NOT NULL
COPY Trace (
  id, caption, ts, query_id, mode, driver, outcome, early_exit, hops, answerable, abduction, body
) FROM $rows
