// Fill the empty table REVERTS of a new generation.
// params: rows TABLE NOT NULL
COPY REVERTS FROM $rows
