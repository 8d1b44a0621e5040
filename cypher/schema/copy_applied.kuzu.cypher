// Fill the empty table APPLIED of a new generation.
// params: rows TABLE NOT NULL
COPY APPLIED FROM $rows
