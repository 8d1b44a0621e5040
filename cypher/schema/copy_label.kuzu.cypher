// Fill the empty table Label of a new generation.
// params: rows TABLE NOT NULL
COPY Label (
  norm, ids, labels, files
) FROM $rows
