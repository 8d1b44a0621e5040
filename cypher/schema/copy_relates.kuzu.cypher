// Fill the empty table RELATES of a new generation.
// params: rows TABLE NOT NULL
COPY RELATES (
  key, origin_key, src, tgt, relation, confidence, raw, added_by, changed_by, retired_by,
  retired_as, successor, seq
) FROM $rows
