// Fill the empty table CALLED of a new generation.
// params: rows TABLE NOT NULL
COPY CALLED FROM $rows
