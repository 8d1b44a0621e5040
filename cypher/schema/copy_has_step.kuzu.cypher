// Fill the empty table HAS_STEP of a new generation.
// params: rows TABLE NOT NULL
COPY HAS_STEP FROM $rows
