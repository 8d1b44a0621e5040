// Fill the empty table TOUCHED of a new generation.
// params: rows TABLE NOT NULL
COPY TOUCHED (
  how
) FROM $rows
