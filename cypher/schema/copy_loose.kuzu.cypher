// Fill the empty table Loose of a new generation.
// params: rows TABLE NOT NULL
COPY Loose (
  key, kind, members, raw, added_by, changed_by, retired_by, retired_as, successor, seq
) FROM $rows
