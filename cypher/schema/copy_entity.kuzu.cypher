// Fill the empty table Entity of a new generation.
// params: rows TABLE NOT NULL
COPY Entity (
  id, label, norm_label, file_type, source_file, source_location, community, origin, raw, added_by,
  changed_by, retired_by, retired_as, successor, seq
) FROM $rows
