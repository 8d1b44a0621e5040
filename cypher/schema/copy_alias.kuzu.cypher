// Fill the empty table Alias of a new generation.
// params: rows TABLE NOT NULL
COPY Alias (
  norm, ids
) FROM $rows
