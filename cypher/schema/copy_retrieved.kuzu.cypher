// Fill the empty table RETRIEVED of a new generation.
// params: rows TABLE NOT NULL
COPY RETRIEVED (
  rank
) FROM $rows
