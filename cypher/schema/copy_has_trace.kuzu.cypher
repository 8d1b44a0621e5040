// Fill the empty table HAS_TRACE of a new generation.
// params: rows TABLE NOT NULL
COPY HAS_TRACE FROM $rows
