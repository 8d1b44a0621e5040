// Fill the empty table PROPOSED of a new generation.
// params: rows TABLE NOT NULL
COPY PROPOSED FROM $rows
