// Fill the empty table CONTAINS of a new generation.
// params: rows TABLE NOT NULL
COPY CONTAINS FROM $rows
