// Fill the empty table Conflict of a new generation.
// params: rows TABLE NOT NULL
COPY Conflict (
  id, caption, ts, effect_id, kind, detail, resolved
) FROM $rows
